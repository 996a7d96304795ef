package dev.millrace.agent;

import dev.millrace.agent.core.TaskLimits;
import org.jspecify.annotations.Nullable;

/**
 * What a task of an agent may use, where it is less than what the installation allows any task. {@code null} = no less.
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

    /** No less. */
    public static final AgentLimits NONE = new AgentLimits(null, null, null, null, null);

    /** The same for the machine, which takes the smaller of these and the installation's. */
    public TaskLimits asTaskLimits() {
        TaskLimits none = TaskLimits.UNLIMITED;
        return new TaskLimits(
                iterations == null ? none.maxIterations() : iterations,
                toolCallsPerStep == null ? none.maxToolCallsPerStep() : toolCallsPerStep,
                none.maxTranscriptChars(),
                tokens == null ? none.maxTokens() : tokens,
                costMicros == null ? none.maxCostMicros() : costMicros,
                lifeTimeMs == null ? none.maxLifeTimeMs() : lifeTimeMs,
                none.maxCausalDepth());
    }
}
