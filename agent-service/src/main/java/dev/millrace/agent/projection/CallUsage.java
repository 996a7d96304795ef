package dev.millrace.agent.projection;

import dev.millrace.api.UsageSums;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Payload.ModelCallOutcome;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one event of the journal says about what a model call used.
 *
 * @param callId the call
 * @param repliedAt when it ended, in Unix milliseconds; with the call's id it tells apart the endings of a call that
 *     was made twice, and tells that it is the same one that is told twice
 * @param agent whose call it was; empty = not known
 * @param byModel what each model has used for it; an empty name = no model that is known
 */
record CallUsage(String callId, long repliedAt, String agent, Map<String, UsageSums> byModel) {

    /** How a call ended. */
    private enum Ending {
        REPLIED,
        FAILED,
        ABANDONED
    }

    private static final Payload.Usage NOTHING = new Payload.Usage(0, 0, null, null, null, null, null);

    CallUsage {
        byModel = Map.copyOf(byModel);
    }

    /** None if the event is not the end of a model call; several if it is that of a reflection. */
    static List<CallUsage> of(Event event) {
        Instant toldAt = event.timestamp();
        return switch (event.payload()) {
            // a failure that says nothing was declared by the machine, whose patience had ended; the call's own end is
            // told apart
            case Payload.ModelCallFailed failed ->
                failed.usage() == null ? List.of() : List.of(of(failed, toldAt, Ending.FAILED));
            case Payload.ModelCallAbandoned abandoned ->
                List.of(of(
                        abandoned,
                        abandoned.repliedAt() == null ? toldAt : Instant.ofEpochMilli(abandoned.repliedAt()),
                        Ending.ABANDONED));
            case ModelCallOutcome replied -> List.of(of(replied, toldAt, Ending.REPLIED));
            case Payload.ReflectionComplete reflection -> of(reflection.modelCalls(), toldAt);
            case Payload.ReflectionFailed reflection -> of(reflection.modelCalls(), toldAt);
            case Payload.MemoryForgotten forgotten -> of(forgotten.modelCalls(), toldAt);
            default -> List.of();
        };
    }

    private static List<CallUsage> of(List<Payload.ModelCall> calls, Instant toldAt) {
        return calls.stream()
                .map(call -> of(
                        new Payload.ModelCallAbandoned(
                                call.callId(),
                                "",
                                null,
                                call.model(),
                                call.usage(),
                                call.failedAttempts(),
                                call.agent()),
                        call.repliedAt() == null ? toldAt : Instant.ofEpochMilli(call.repliedAt()),
                        call.code() == null ? Ending.REPLIED : Ending.FAILED))
                .toList();
    }

    private static CallUsage of(ModelCallOutcome call, Instant repliedAt, Ending ending) {
        Map<String, UsageSums> byModel = new LinkedHashMap<>();
        UsageSums failed = UsageSums.NONE;
        boolean priced = true;
        for (Payload.FailedAttempt attempt : call.failedAttempts()) {
            UsageSums used = used(1, attempt.usage());
            byModel.merge(attempt.model(), used, UsageSums::plus);
            failed = failed.plus(used);
            priced &= attempt.usage().costMicros() != null;
        }
        Payload.Usage usage = call.usage() == null ? NOTHING : call.usage();
        UsageSums total = used(0, usage);
        boolean free = total.inputTokens() == 0 && total.outputTokens() == 0;
        UsageSums own = new UsageSums(
                0,
                0,
                0,
                Math.max(0, orElse(usage.attempts(), 1) - failed.requests()),
                0,
                Math.max(0, total.inputTokens() - failed.inputTokens()),
                Math.max(0, total.outputTokens() - failed.outputTokens()),
                Math.max(0, total.cachedInputTokens() - failed.cachedInputTokens()),
                Math.max(0, total.reasoningTokens() - failed.reasoningTokens()),
                Math.max(0, total.costMicros() - failed.costMicros()),
                0);
        UsageSums ended = new UsageSums(
                1,
                ending == Ending.FAILED ? 1 : 0,
                ending == Ending.ABANDONED ? 1 : 0,
                0,
                orElse(usage.uncountedAttempts(), 0),
                0,
                0,
                0,
                0,
                0,
                free || (priced && usage.costMicros() != null) ? 0 : 1);
        byModel.merge(orElse(call.model(), ""), own.plus(ended), UsageSums::plus);
        return new CallUsage(call.callId(), Math.max(0, repliedAt.toEpochMilli()), orElse(call.agent(), ""), byModel);
    }

    private static UsageSums used(long requests, Payload.Usage usage) {
        return new UsageSums(
                0,
                0,
                0,
                requests,
                0,
                Math.max(0, usage.inputTokens()),
                Math.max(0, usage.outputTokens()),
                orElse(usage.cachedInputTokens(), 0),
                orElse(usage.reasoningTokens(), 0),
                orElse(usage.costMicros(), 0),
                0);
    }

    private static long orElse(@Nullable Long count, long otherwise) {
        return count == null ? otherwise : Math.max(0, count);
    }

    private static String orElse(@Nullable String text, String otherwise) {
        return text == null ? otherwise : text;
    }
}
