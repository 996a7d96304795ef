package dev.millrace.llm;

/** How a dispatched call ended, after its retries. */
public sealed interface ModelOutcome {

    /** How often the model was asked; 0 if the request could not even be built. */
    int attempts();

    /** The model answered. */
    record Replied(ModelReply reply, int attempts) implements ModelOutcome {}

    /** It did not, and will not be asked again. */
    record Failed(ModelCallException error, int attempts) implements ModelOutcome {}
}
