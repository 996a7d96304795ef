package dev.millrace.agent.core;

import java.time.Duration;

/**
 * Why a task failed.
 *
 * @param code a stable word for programs, lower snake case; the closed list is in {@code docs/events.md}
 * @param message what was expected and found, for people
 */
public record TaskError(String code, String message) {

    /** The code of a model's failure that a shorter conversation may mend. */
    static final String CONTEXT_OVERFLOW = "context_overflow";

    /** So much of a tool's error is told, in characters. */
    private static final int MAX_ERROR = 10_000;

    boolean isContextOverflow() {
        return code.equals(CONTEXT_OVERFLOW);
    }

    /** The same, when it was the summary that failed. */
    TaskError ofCompaction() {
        return new TaskError(code, "The conversation could not be summed up: " + message);
    }

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

    static TaskError tokenLimit(long max, long found, long setAside) {
        return new TaskError(
                "token_limit",
                "The task may use at most " + max + " tokens, it has used " + found
                        + (setAside == 0 ? "" : ", and " + setAside + " are set aside for its sub-tasks"));
    }

    static TaskError costLimit(long max, long found, long setAside) {
        return new TaskError(
                "cost_limit",
                "The task may cost at most " + dollars(max) + ", it has cost " + dollars(found)
                        + (setAside == 0 ? "" : ", and " + dollars(setAside) + " are set aside for its sub-tasks"));
    }

    static TaskError sessionTokenLimit(long max, long found) {
        return new TaskError(
                "session_token_limit",
                "The tasks of the session may use at most " + max + " tokens together, they have used " + found);
    }

    static TaskError sessionCostLimit(long max, long found) {
        return new TaskError(
                "session_cost_limit",
                "The tasks of the session may cost at most " + dollars(max) + " together, they have cost "
                        + dollars(found));
    }

    static TaskError causalDepthLimit(int max, int found) {
        return new TaskError(
                "causal_depth_limit",
                "At most " + max + " tasks may lead to a task, each starting the next; to this one " + found + " led");
    }

    static TaskError taskTimeout(long maxMs, long foundMs) {
        return new TaskError(
                "task_timeout",
                "The task may take at most " + seconds(maxMs) + ", it has not ended after " + seconds(foundMs));
    }

    static TaskError toolCallFailed(String toolName, String error) {
        String why = error.length() <= MAX_ERROR ? error : error.substring(0, MAX_ERROR) + "…";
        return new TaskError("tool_call_failed", "The call of " + toolName + " failed: " + why);
    }

    static TaskError expired() {
        return new TaskError("expired", "The task was to start before its expiry time, and its turn did not come");
    }

    private static String dollars(long micros) {
        return micros + " millionths of a US dollar";
    }

    private static String seconds(long ms) {
        Duration time = Duration.ofMillis(ms);
        return time.toMillisPart() == 0 ? time.toSeconds() + " s" : ms + " ms";
    }
}
