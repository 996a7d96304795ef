package dev.millrace.tools;

import static dev.millrace.tools.JsonSchemas.object;

import dev.millrace.schemas.ToolDefinition;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code sleep{duration}}, in seconds. It holds a permit of the service while it lasts, so it is short. */
public final class Sleep implements Tool {

    static final int MAX_SECONDS = 60;

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "sleep",
                "Waits, for up to a minute.",
                object(
                        Map.of(
                                "duration",
                                Map.of(
                                        "type",
                                        "number",
                                        "description",
                                        "Seconds, up to " + MAX_SECONDS + ".",
                                        "minimum",
                                        0,
                                        "maximum",
                                        MAX_SECONDS)),
                        "duration"),
                "tool",
                (MAX_SECONDS + 5) * 1_000L,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) throws InterruptedException {
        double seconds = params.get("duration") instanceof Number number ? number.doubleValue() : 0;
        Thread.sleep(Duration.ofNanos((long) (seconds * 1e9)));
        return Map.of("sleptSeconds", seconds);
    }
}
