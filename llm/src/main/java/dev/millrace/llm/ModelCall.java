package dev.millrace.llm;

import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A model call as {@link ModelDispatcher} queues it: small, since the conversation is fetched only when a permit is
 * free.
 *
 * @param callId unique among the calls that wait or run
 * @param effectivePriority lower goes first
 * @param tenant on whose behalf; of equal priority, tenants take turns
 * @param arrival orders calls of one tenant with equal priority, lower first; any counter or time that grows
 * @param request builds the request; called on the call's own virtual thread, after a permit is free: once, and again
 *     where the call had to give its permit back to wait for its provider
 * @param completion takes the final outcome, at most once: exactly once unless the call is cancelled or the dispatcher
 *     closed; called on a virtual thread, and may block. If it throws, it is called once more, with a failure that has
 *     the same charges, so that no call is left without an answer
 * @param listener takes the reply while it comes; null = nobody does, and the model is asked for a whole reply
 * @param model what the request will name, as far as that is known before it is built; null = the default model.
 *     Decides whose rate limit the call waits for; if it turns out to be another one, it waits for that
 * @param review looks at the reply before it counts
 * @param group what it may be dropped with while it waits, see {@link ModelDispatcher#dropWaiting}
 */
public record ModelCall(
        String callId,
        int effectivePriority,
        String tenant,
        long arrival,
        Callable<ModelRequest> request,
        Consumer<ModelOutcome> completion,
        @Nullable StreamListener listener,
        @Nullable String model,
        ReplyReview review,
        String group) {

    /** The tenant of calls that name none. */
    public static final String NOBODY = "";

    private static final String NO_GROUP = "";

    /** A call to the default model, as far as is known, whose reply is taken as it is. */
    public ModelCall(
            String callId,
            int effectivePriority,
            long arrival,
            Callable<ModelRequest> request,
            Consumer<ModelOutcome> completion,
            @Nullable StreamListener listener) {
        this(
                callId,
                effectivePriority,
                NOBODY,
                arrival,
                request,
                completion,
                listener,
                null,
                ReplyReview.NONE,
                NO_GROUP);
    }

    /** A call whose reply is awaited as a whole. */
    public ModelCall(
            String callId,
            int effectivePriority,
            long arrival,
            Callable<ModelRequest> request,
            Consumer<ModelOutcome> completion) {
        this(callId, effectivePriority, arrival, request, completion, null);
    }

    /** The same call, of which is known that it will ask this model; null = the default one. */
    public ModelCall asking(@Nullable String expected) {
        return new ModelCall(
                callId, effectivePriority, tenant, arrival, request, completion, listener, expected, review, group);
    }

    /** The same call with this review of its reply. */
    public ModelCall reviewedBy(ReplyReview other) {
        return new ModelCall(
                callId, effectivePriority, tenant, arrival, request, completion, listener, model, other, group);
    }

    /** The same call on behalf of somebody. */
    public ModelCall of(String somebody) {
        return new ModelCall(
                callId, effectivePriority, somebody, arrival, request, completion, listener, model, review, group);
    }

    /** The same call in a group. */
    public ModelCall within(String others) {
        return new ModelCall(
                callId, effectivePriority, tenant, arrival, request, completion, listener, model, review, others);
    }
}
