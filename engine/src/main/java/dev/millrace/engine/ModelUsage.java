package dev.millrace.engine;

import dev.millrace.llm.ModelCharge;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How events tell what model calls used, so that nothing that was paid for is in no sum. */
public final class ModelUsage {

    private static final List<String> KEPT = List.of("model", "usage", "failedAttempts", "agent");

    private static final long MAX_COUNT = (1L << 53) - 1;

    private ModelUsage() {}

    /**
     * Puts into the payload of what came of a call how often a model was asked and what all of it used: {@code usage}, and
     * {@code failedAttempts} if some were charged for nothing. Neither is there if no model was asked.
     *
     * @param takeovers how many instances had the call before and are gone
     */
    public static void put(Map<String, @Nullable Object> payload, int takeovers, ModelOutcome outcome) {
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
        if (attempts > 0) {
            Map<String, Object> usage = toJson(used);
            if (attempts > 1) {
                usage.put("attempts", attempts);
            }
            if (attempts > counted) {
                usage.put("uncountedAttempts", attempts - counted);
            }
            payload.put("usage", usage);
        }
        if (!charges.isEmpty()) {
            payload.put(
                    "failedAttempts",
                    charges.stream()
                            .map(charge -> Map.of(
                                    "model", ReplyLimits.modelName(charge.model()), "usage", toJson(charge.usage())))
                            .toList());
        }
    }

    /** What of a reply's payload says what was used: the model, the agent, and what {@link #put} put there. */
    public static Map<String, @Nullable Object> of(Event reply) {
        Map<String, @Nullable Object> kept = new LinkedHashMap<>();
        KEPT.forEach(field -> {
            Object value = reply.payload().get(field);
            if (value != null) {
                kept.put(field, value);
            }
        });
        return kept;
    }

    /**
     * MODEL_CALL_ABANDONED, in place of a reply that came when nobody waited for it any more: it was paid for like any
     * other. A call that is made twice, since an instance was believed dead, has two replies of the same id; the time at
     * which each was given tells them apart.
     *
     * @param code why nobody waited for it, lower snake case
     * @return empty if the reply says nothing about what it used
     */
    public static Optional<Event> abandoned(Event reply, String code) {
        String callId = reply.text("callId");
        if (callId == null || !(reply.payload().get("usage") instanceof Map<?, ?>)) {
            return Optional.empty();
        }
        long repliedAt = reply.timestamp().toEpochMilli();
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", callId);
        payload.put("code", code);
        payload.put("repliedAt", repliedAt);
        payload.putAll(of(reply));
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
                .payload(payload)
                .build());
    }

    private static Map<String, Object> toJson(ModelReply.Usage usage) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("inputTokens", count(usage.inputTokens()));
        json.put("outputTokens", count(usage.outputTokens()));
        if (usage.cachedInputTokens() > 0) {
            json.put("cachedInputTokens", count(usage.cachedInputTokens()));
        }
        if (usage.reasoningTokens() > 0) {
            json.put("reasoningTokens", count(usage.reasoningTokens()));
        }
        if (usage.costMicros() != null) {
            json.put("costMicros", count(usage.costMicros()));
        }
        return json;
    }

    /** Providers count in numbers of any size; an event takes those that every reader of JSON holds exactly. */
    private static long count(long said) {
        return Math.clamp(said, 0, MAX_COUNT);
    }
}
