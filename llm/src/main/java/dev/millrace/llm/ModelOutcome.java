package dev.millrace.llm;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a dispatched call ended, after its retries. */
public sealed interface ModelOutcome {

    /** How often a model was asked, the fallback included; 0 if the request could not even be built. */
    int attempts();

    /**
     * What attempts used that gave no reply, as far as their providers said; the reply's own usage is not among them.
     */
    List<ModelCharge> charges();

    /**
     * The model answered.
     *
     * @param insteadOf why the model that was to answer did not, and its fallback did; null in the ordinary case
     */
    record Replied(ModelReply reply, int attempts, @Nullable ModelCallException insteadOf, List<ModelCharge> charges)
            implements ModelOutcome {

        public Replied {
            charges = List.copyOf(charges);
        }

        /** The model that was asked first answered, and nothing else was charged. */
        public Replied(ModelReply reply, int attempts) {
            this(reply, attempts, null, List.of());
        }
    }

    /** It did not, and will not be asked again. */
    record Failed(ModelCallException error, int attempts, List<ModelCharge> charges) implements ModelOutcome {

        public Failed {
            charges = List.copyOf(charges);
        }

        /** Nothing was charged. */
        public Failed(ModelCallException error, int attempts) {
            this(error, attempts, List.of());
        }
    }
}
