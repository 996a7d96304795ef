package dev.millrace.engine;

import dev.millrace.llm.ModelCharge;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Payload.ModelCallOutcome;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a model call used, as events tell it, so that nothing that was paid for is in no sum.
 *
 * @param usage of all attempts together; {@code null} = no model was asked
 * @param failedAttempts those that were charged for nothing
 */
public record ModelUsage(Payload.@Nullable Usage usage, List<Payload.FailedAttempt> failedAttempts) {

    private static final long MAX_COUNT = (1L << 53) - 1;

    public ModelUsage {
        failedAttempts = List.copyOf(failedAttempts);
    }

    /**
     * Of what came of a call.
     *
     * @param takeovers how many instances had the call before and are gone
     */
    public static ModelUsage of(int takeovers, ModelOutcome outcome) {
        List<ModelCharge> charges = outcome.charges();
        ModelReply.Usage used =
                charges.stream().map(ModelCharge::usage).reduce(ModelReply.Usage.NONE, ModelReply.Usage::plus);
        int counted = charges.size();
        if (outcome instanceof ModelOutcome.Replied replied) {
            used = replied.reply().usage().plus(used);
            counted++;
        }
        // whether those that had the call before had come to ask, nobody knows
        int attempts = takeovers + outcome.attempts();
        return new ModelUsage(
                attempts > 0 ? usage(used, attempts, attempts - counted) : null,
                charges.stream()
                        .map(charge -> new Payload.FailedAttempt(
                                ReplyLimits.modelName(charge.model()), usage(charge.usage(), 1, 0)))
                        .toList());
    }

    /**
     * MODEL_CALL_ABANDONED, in place of a reply that came when nobody waited for it any more: it was paid for like any
     * other. A call that is made twice, since an instance was believed dead, has two replies of the same id; the time
     * at which each was given tells them apart.
     *
     * @param code why nobody waited for it, lower snake case
     * @return empty if the event is no reply, or says nothing about what it used
     */
    public static Optional<Event> abandoned(Event reply, String code) {
        if (!(reply.payload() instanceof ModelCallOutcome paid) || paid.usage() == null) {
            return Optional.empty();
        }
        long repliedAt = reply.timestamp().toEpochMilli();
        String id = Ids.hash(Event.qualified(reply.namespace(), reply.id()) + '\n' + repliedAt)
                .substring(0, 32);
        return Optional.of(Event.root(id, KnownEventType.MODEL_CALL_ABANDONED, reply.timestamp())
                .taskId(reply.taskId())
                .sessionId(reply.sessionId())
                .namespace(reply.namespace())
                .correlationId(reply.correlationId())
                .parentEventId(reply.parentEventId())
                .traceparent(reply.traceparent())
                .source(reply.source())
                .payload(new Payload.ModelCallAbandoned(
                        paid.callId(),
                        code,
                        repliedAt,
                        paid.model(),
                        paid.usage(),
                        paid.failedAttempts(),
                        paid.agent()))
                .build());
    }

    private static Payload.Usage usage(ModelReply.Usage used, int attempts, int uncounted) {
        return new Payload.Usage(
                count(used.inputTokens()),
                count(used.outputTokens()),
                used.cachedInputTokens() > 0 ? (Long) count(used.cachedInputTokens()) : null,
                used.reasoningTokens() > 0 ? (Long) count(used.reasoningTokens()) : null,
                used.costMicros() == null ? null : (Long) count(used.costMicros()),
                attempts > 1 ? (Long) (long) attempts : null,
                uncounted > 0 ? (Long) (long) uncounted : null);
    }

    /** Providers count in numbers of any size; an event takes those that every reader of JSON holds exactly. */
    private static long count(long said) {
        return Math.clamp(said, 0, MAX_COUNT);
    }
}
