package dev.millrace.reflection.topology;

import dev.millrace.reflection.core.Reflection;
import dev.millrace.schemas.Event;
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
 */
public record ReflectionRow(
        Event request,
        Reflection reflection,
        String awaiting,
        long inputTokens,
        long outputTokens,
        @Nullable Long costMicros) {

    /** The same, which waits for this call. */
    ReflectionRow with(Reflection next, String callId) {
        return new ReflectionRow(request, next, callId, inputTokens, outputTokens, costMicros);
    }

    /** The same after a model call that used this. */
    ReflectionRow using(long input, long output, @Nullable Long cost) {
        Long sum = cost == null ? costMicros : Long.valueOf(cost + (costMicros == null ? 0 : costMicros));
        return new ReflectionRow(request, reflection, awaiting, inputTokens + input, outputTokens + output, sum);
    }
}
