package dev.millrace.reflection.topology;

import dev.millrace.reflection.core.Reflection;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Payload.ModelCallOutcome;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A reflection in the store; the row goes when it ends.
 *
 * @param request REFLECTION_REQUESTED, without its payload
 * @param reflection what has come of it so far
 * @param awaiting the model call whose reply it waits for
 * @param inputTokens what its model calls have read so far
 * @param outputTokens what they have written so far
 * @param costMicros what they have cost so far, in millionths of a US dollar; {@code null} = not known
 * @param modelCalls what each of them has used, as {@code modelCalls} of REFLECTION_COMPLETE tells it
 */
public record ReflectionRow(
        Event request,
        Reflection reflection,
        String awaiting,
        long inputTokens,
        long outputTokens,
        @Nullable Long costMicros,
        List<Payload.ModelCall> modelCalls) {

    public ReflectionRow {
        modelCalls = List.copyOf(modelCalls);
    }

    /** One that has just begun. */
    static ReflectionRow begin(Event request, Reflection reflection, String callId) {
        return new ReflectionRow(request, reflection, callId, 0, 0, null, List.of());
    }

    /** The same, which waits for this call. */
    ReflectionRow with(Reflection next, String callId) {
        return new ReflectionRow(request, next, callId, inputTokens, outputTokens, costMicros, modelCalls);
    }

    /**
     * The same after the call that it waited for has ended like this; one for which no model was asked used nothing.
     */
    ReflectionRow after(ModelCallOutcome reply, Instant repliedAt) {
        Payload.Usage usage = reply.usage();
        if (usage == null) {
            return this;
        }
        List<Payload.ModelCall> all = new ArrayList<>(modelCalls);
        all.add(new Payload.ModelCall(
                awaiting,
                repliedAt.toEpochMilli(),
                reply instanceof Payload.ModelCallFailed failed ? failed.code() : null,
                reply.model(),
                usage,
                reply.failedAttempts(),
                reply.agent()));
        Long cost = usage.costMicros();
        return new ReflectionRow(
                request,
                reflection,
                awaiting,
                inputTokens + usage.inputTokens(),
                outputTokens + usage.outputTokens(),
                cost == null ? costMicros : Long.valueOf(cost + (costMicros == null ? 0 : costMicros)),
                all);
    }
}
