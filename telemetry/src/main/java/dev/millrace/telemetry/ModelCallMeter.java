package dev.millrace.telemetry;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The metrics of the convention for requests to models. Safe for any thread. */
public interface ModelCallMeter {

    /** Counts nothing. */
    ModelCallMeter NONE = new ModelCallMeter() {
        @Override
        public void began() {}

        @Override
        public void ended(Request request) {}
    };

    /** A request is on its way. */
    void began();

    /** It is over. */
    void ended(Request request);

    /**
     * One request to a model.
     *
     * @param responseModel null = it did not answer
     * @param errorType why it failed; null = it did not
     * @param firstChunk from the request to the first piece of a stream; null = there was none
     */
    record Request(
            String provider,
            @Nullable String requestModel,
            @Nullable String responseModel,
            @Nullable String errorType,
            Duration duration,
            @Nullable Duration firstChunk,
            long inputTokens,
            long outputTokens) {}
}
