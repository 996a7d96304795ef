package dev.millrace.reflection.topology;

import dev.millrace.engine.ModelUsage;
import dev.millrace.reflection.core.Reflection;
import dev.millrace.schemas.Event;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
        List<Map<String, @Nullable Object>> modelCalls) {

    // what was stored before calls were told apart has none
    public ReflectionRow(
            Event request,
            Reflection reflection,
            String awaiting,
            long inputTokens,
            long outputTokens,
            @Nullable Long costMicros,
            @Nullable List<Map<String, @Nullable Object>> modelCalls) {
        this.request = request;
        this.reflection = reflection;
        this.awaiting = awaiting;
        this.inputTokens = inputTokens;
        this.outputTokens = outputTokens;
        this.costMicros = costMicros;
        this.modelCalls = modelCalls == null ? List.of() : List.copyOf(modelCalls);
    }

    /** One that has just begun. */
    static ReflectionRow begin(Event request, Reflection reflection, String callId) {
        return new ReflectionRow(request, reflection, callId, 0, 0, null, List.of());
    }

    /** The same, which waits for this call. */
    ReflectionRow with(Reflection next, String callId) {
        return new ReflectionRow(request, next, callId, inputTokens, outputTokens, costMicros, modelCalls);
    }

    /** The same after the call that it waited for has ended like this; one for which no model was asked used nothing. */
    ReflectionRow after(Event reply) {
        if (!(reply.payload().get("usage") instanceof Map<?, ?> usage)) {
            return this;
        }
        Map<String, @Nullable Object> call = new LinkedHashMap<>();
        call.put("callId", awaiting);
        call.put("repliedAt", reply.timestamp().toEpochMilli());
        String code = reply.text("code");
        if (code != null) {
            call.put("code", code);
        }
        call.putAll(ModelUsage.of(reply));
        List<Map<String, @Nullable Object>> all = new ArrayList<>(modelCalls);
        all.add(call);
        Long sum = usage.get("costMicros") instanceof Number micros
                ? Long.valueOf(micros.longValue() + (costMicros == null ? 0 : costMicros))
                : costMicros;
        return new ReflectionRow(
                request,
                reflection,
                awaiting,
                inputTokens + number(usage, "inputTokens"),
                outputTokens + number(usage, "outputTokens"),
                sum,
                all);
    }

    private static long number(Map<?, ?> json, String name) {
        return json.get(name) instanceof Number number ? number.longValue() : 0;
    }
}
