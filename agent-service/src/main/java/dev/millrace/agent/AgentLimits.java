package dev.millrace.agent;

import org.jspecify.annotations.Nullable;

/**
 * What a task of an agent may use, where it differs from what the installation allows any task. {@code null} = no difference.
 *
 * @param iterations model calls, 1 or more
 * @param tokens input and output tokens together, 1 or more
 * @param costMicros millionths of a US dollar, 1 or more
 * @param toolCallsPerStep tool calls in one reply of the model, 1 or more
 * @param lifeTimeMs from start to end in milliseconds, 1 or more
 */
public record AgentLimits(
        @Nullable Integer iterations,
        @Nullable Long tokens,
        @Nullable Long costMicros,
        @Nullable Integer toolCallsPerStep,
        @Nullable Long lifeTimeMs) {

    /** No differences. */
    public static final AgentLimits NONE = new AgentLimits(null, null, null, null, null);
}
