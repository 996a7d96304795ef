package dev.millrace.llm;

/**
 * A language model that answers one request with one whole reply. Safe for any number of threads; each call blocks its
 * thread, which is meant to be a virtual one.
 */
public interface LanguageModel {

    /**
     * Asks once. There are no retries in here: {@link ModelDispatcher} does them.
     *
     * <p>Interrupting the calling thread aborts the call, closes its HTTP request and ends it with {@link
     * ModelErrorCode#CANCELLED}, promptly.
     *
     * @throws ModelCallException for every failure that is the model's, the network's or the request's
     */
    ModelReply chat(ModelRequest request) throws ModelCallException;

    /** The model that answers a request which names none, as replies and logs call it. */
    String name();

    /** One line for people that says what answers and where it is, without any secret. */
    String description();
}
