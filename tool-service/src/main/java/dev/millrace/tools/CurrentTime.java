package dev.millrace.tools;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code current_time{timezone?}}. */
public final class CurrentTime implements Tool {

    private final Clock clock;

    public CurrentTime(Clock clock) {
        this.clock = clock;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "current_time",
                "Tells the current date and time, in UTC or in a time zone.",
                object(Map.of("timezone", text("IANA time zone such as Europe/Vienna. Absent = UTC.", 64))),
                "tool",
                5_000,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) throws ToolException {
        String name = params.get("timezone") instanceof String timezone ? timezone : "UTC";
        try {
            ZonedDateTime now = clock.instant().atZone(ZoneId.of(name)).truncatedTo(ChronoUnit.SECONDS);
            return Map.of("time", DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(now), "timezone", name);
        } catch (DateTimeException e) {
            throw new ToolException(
                    "unknown_timezone",
                    "timezone: expected an IANA name such as Europe/Vienna, found \"" + name + "\"");
        }
    }
}
