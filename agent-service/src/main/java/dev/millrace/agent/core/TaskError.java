package dev.millrace.agent.core;

/**
 * Why a task failed.
 *
 * @param code a stable word for programs, lower snake case; the closed list is in {@code docs/events.md}
 * @param message what was expected and found, for people
 */
public record TaskError(String code, String message) {

    static TaskError iterationLimit(int max) {
        return new TaskError("iteration_limit", "Max cognitive iterations exceeded (" + max + ")");
    }

    static TaskError toolCallLimit(int max, int found) {
        return new TaskError(
                "tool_call_limit", "A step may have at most " + max + " tool calls, the model asked for " + found);
    }

    static TaskError transcriptLimit(long max, long found) {
        return new TaskError(
                "transcript_limit", "The transcript may have at most " + max + " characters, it would have " + found);
    }

    static TaskError tokenLimit(long max, long found) {
        return new TaskError("token_limit", "The task may use at most " + max + " tokens, it has used " + found);
    }
}
