package dev.millrace.agent.projection;

import dev.millrace.api.UsageSums;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one event of the journal says about what a model call used.
 *
 * @param callId the call
 * @param repliedAt when it ended, in Unix milliseconds; with the call's id it tells apart the endings of a call that was
 *     made twice, and tells that it is the same one that is told twice
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

    CallUsage {
        byModel = Map.copyOf(byModel);
    }

    /** None if the event is not the end of a model call; several if it is that of a reflection. */
    static List<CallUsage> of(Event event) {
        if (!(event.type() instanceof KnownEventType type)) {
            return List.of();
        }
        return switch (type) {
            case REASON_DONE, NEED_MORE_INFO, CONTEXT_COMPACTED -> ofCall(event, Ending.REPLIED);
            // a failure that says nothing was declared by the machine, whose patience had ended; the call's own end is
            // told apart
            case MODEL_CALL_FAILED -> event.fields().containsKey("usage") ? ofCall(event, Ending.FAILED) : List.of();
            case MODEL_CALL_ABANDONED -> ofCall(event, Ending.ABANDONED);
            case REFLECTION_COMPLETE, REFLECTION_FAILED, MEMORY_FORGOTTEN -> ofReflection(event);
            default -> List.of();
        };
    }

    private static List<CallUsage> ofCall(Event event, Ending ending) {
        String callId = event.text("callId");
        return callId == null ? List.of() : List.of(of(callId, event.fields(), event.timestamp(), ending));
    }

    private static List<CallUsage> ofReflection(Event event) {
        List<CallUsage> calls = new ArrayList<>();
        for (Object one : event.fields().get("modelCalls") instanceof List<?> list ? list : List.of()) {
            if (one instanceof Map<?, ?> call && call.get("callId") instanceof String callId) {
                calls.add(
                        of(callId, call, event.timestamp(), call.containsKey("code") ? Ending.FAILED : Ending.REPLIED));
            }
        }
        return calls;
    }

    private static CallUsage of(String callId, Map<?, ?> payload, Instant toldAt, Ending ending) {
        long repliedAt = payload.get("repliedAt") instanceof Number said ? said.longValue() : toldAt.toEpochMilli();
        Map<String, UsageSums> byModel = new LinkedHashMap<>();
        UsageSums failed = UsageSums.NONE;
        boolean priced = true;
        for (Object attempt : payload.get("failedAttempts") instanceof List<?> list ? list : List.of()) {
            if (attempt instanceof Map<?, ?> one) {
                UsageSums used = used(1, one.get("usage"));
                byModel.merge(text(one.get("model")), used, UsageSums::plus);
                failed = failed.plus(used);
                priced &= isPriced(one.get("usage"));
            }
        }
        UsageSums total = used(0, payload.get("usage"));
        Map<?, ?> usage = payload.get("usage") instanceof Map<?, ?> object ? object : Map.of();
        boolean free = total.inputTokens() == 0 && total.outputTokens() == 0;
        UsageSums own = new UsageSums(
                0,
                0,
                0,
                Math.max(0, number(usage.get("attempts"), 1) - failed.requests()),
                0,
                Math.max(0, total.inputTokens() - failed.inputTokens()),
                Math.max(0, total.outputTokens() - failed.outputTokens()),
                Math.max(0, total.cachedInputTokens() - failed.cachedInputTokens()),
                Math.max(0, total.reasoningTokens() - failed.reasoningTokens()),
                Math.max(0, total.costMicros() - failed.costMicros()),
                0);
        UsageSums call = new UsageSums(
                1,
                ending == Ending.FAILED ? 1 : 0,
                ending == Ending.ABANDONED ? 1 : 0,
                0,
                number(usage.get("uncountedAttempts"), 0),
                0,
                0,
                0,
                0,
                0,
                free || (priced && isPriced(usage)) ? 0 : 1);
        byModel.merge(text(payload.get("model")), own.plus(call), UsageSums::plus);
        return new CallUsage(callId, Math.max(0, repliedAt), text(payload.get("agent")), byModel);
    }

    private static UsageSums used(long requests, @Nullable Object usage) {
        Map<?, ?> json = usage instanceof Map<?, ?> object ? object : Map.of();
        return new UsageSums(
                0,
                0,
                0,
                requests,
                0,
                number(json.get("inputTokens"), 0),
                number(json.get("outputTokens"), 0),
                number(json.get("cachedInputTokens"), 0),
                number(json.get("reasoningTokens"), 0),
                number(json.get("costMicros"), 0),
                0);
    }

    private static boolean isPriced(@Nullable Object usage) {
        return usage instanceof Map<?, ?> json && json.get("costMicros") != null;
    }

    private static long number(@Nullable Object value, long otherwise) {
        return value instanceof Number number ? Math.max(0, number.longValue()) : otherwise;
    }

    private static String text(@Nullable Object value) {
        return value instanceof String text ? text : "";
    }
}
