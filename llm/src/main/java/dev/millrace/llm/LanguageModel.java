package dev.millrace.llm;

import org.jspecify.annotations.Nullable;

/**
 * A language model that answers one request with one reply. Safe for any number of threads; each call blocks its
 * thread, which is meant to be a virtual one.
 *
 * <p>There are no retries in here: {@link ModelDispatcher} does them.
 *
 * <p>Interrupting the calling thread aborts a call, closes its HTTP request at once and ends it with {@link
 * ModelErrorCode#CANCELLED}, promptly.
 */
public interface LanguageModel {

    /** What a model is taken to take of which nobody knows it, in tokens. */
    int DEFAULT_CONTEXT_WINDOW = 128_000;

    /**
     * Asks once, for a whole reply.
     *
     * @throws ModelCallException for every failure that is the model's, the network's or the request's
     */
    ModelReply chat(ModelRequest request) throws ModelCallException;

    /**
     * Asks once, and tells what comes while it comes. The reply is the same as that of {@link #chat}. {@link
     * StreamListener} says on which thread, in which order and until when deltas come.
     *
     * <p>A model that cannot stream, which is the default, gives the whole reply in one delta of each kind.
     *
     * @throws ModelCallException as {@link #chat}; also for a stream that ends before its reply does ({@link
     *     ModelErrorCode#MODEL_UNAVAILABLE}), and with {@link ModelErrorCode#INTERNAL_ERROR} if the listener throws
     */
    default ModelReply stream(ModelRequest request, StreamListener listener) throws ModelCallException {
        ModelReply reply = chat(request);
        try {
            WholeReply.deltas(reply).forEach(listener::onDelta);
        } catch (RuntimeException e) {
            throw ModelCallException.brokenListener(e);
        }
        return reply;
    }

    /** The model that answers a request which names none, as replies and logs call it. */
    String name();

    /** For people: what answers and where it is, without any secret; one line for each model. */
    String description();

    /**
     * Which model to ask when this one fails for good with a failure that is not the request's fault.
     *
     * @param model as in {@link ModelRequest#model()}
     * @return what to put there instead; null = there is no other
     */
    default @Nullable String fallbackFor(@Nullable String model) {
        return null;
    }

    /**
     * With which key of a provider a model is asked. Calls with the same key count against the same rate limit, and
     * wait together when the provider has enough of it.
     *
     * @param model as in {@link ModelRequest#model()}
     * @return what the key is called, never the key; null = there is none, and nobody is held back
     */
    default @Nullable String keyFor(@Nullable String model) {
        return null;
    }

    /**
     * How many tokens this model takes, request and reply together, 1 or more.
     *
     * @param model as in {@link ModelRequest#model()}
     */
    default int contextWindow(@Nullable String model) {
        return DEFAULT_CONTEXT_WINDOW;
    }

    /**
     * Who answers, as OpenTelemetry's conventions call it ({@code openai}, {@code anthropic}, {@code gcp.gemini}, …).
     *
     * @param model as in {@link ModelRequest#model()}
     */
    default String providerOf(@Nullable String model) {
        return "_OTHER";
    }
}
