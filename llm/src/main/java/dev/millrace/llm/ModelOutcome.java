package dev.millrace.llm;

import org.jspecify.annotations.Nullable;

/** How a dispatched call ended, after its retries. */
public sealed interface ModelOutcome {

    /** How often a model was asked, the fallback included; 0 if the request could not even be built. */
    int attempts();

    /**
     * The model answered.
     *
     * @param insteadOf why the model that was to answer did not, and its fallback did; null in the ordinary case
     */
    record Replied(ModelReply reply, int attempts, @Nullable ModelCallException insteadOf) implements ModelOutcome {

        /** The model that was asked first answered. */
        public Replied(ModelReply reply, int attempts) {
            this(reply, attempts, null);
        }
    }

    /** It did not, and will not be asked again. */
    record Failed(ModelCallException error, int attempts) implements ModelOutcome {}
}
