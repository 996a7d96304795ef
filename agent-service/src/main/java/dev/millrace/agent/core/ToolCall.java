package dev.millrace.agent.core;

import org.jspecify.annotations.Nullable;

/**
 * A tool call that a model asked for, with what the catalogue says of it.
 *
 * @param toolCallId the provider's id, which the tool result must repeat
 * @param toolName the name as the model wrote it
 * @param arguments a JSON object as text
 * @param route where it goes
 */
public record ToolCall(String toolCallId, String toolName, String arguments, Route route) {

    /** Where a call goes. */
    public sealed interface Route permits Run, Spawn, Resume, Stop, Refuse {}

    /**
     * It runs.
     *
     * @param toolset whose request topic gets it
     * @param timeoutMs how long it may take, in milliseconds, 1 or more
     * @param approval who has to agree first; {@code null} = nobody
     */
    public record Run(
            String toolset, long timeoutMs, @Nullable Approval approval) implements Route {}

    /**
     * The machine starts a task of its own for it, a child of this one.
     *
     * @param taskType the agent that is to work on it
     * @param input what it is to do
     * @param background whether this task goes on meanwhile and is told later; else the child's answer is the result
     * @param errand how it works apart; {@code null} = as a part of this one
     */
    public record Spawn(
            String taskType,
            String input,
            boolean background,
            @Nullable Errand errand) implements Route {

        /** A part of the work. */
        public Spawn(String taskType, String input, boolean background) {
            this(taskType, input, background, null);
        }
    }

    /**
     * How a child works that has a conversation of its own, with the id of the child.
     *
     * @param description what it is about, for people
     * @param timeoutMs how long it may take, in milliseconds; {@link TaskLimits#NONE} = no shorter than any child
     * @param forgotten whether everything of it is forgotten when it has ended
     */
    public record Errand(String description, long timeoutMs, boolean forgotten) {}

    /**
     * A child that has completed goes on with something new; its answer is the result.
     *
     * @param taskId the child, as the model names it
     * @param input what it is to do
     */
    public record Resume(String taskId, String input) implements Route {}

    /**
     * A child that works in the background is to end.
     *
     * @param taskId the child, as the model names it
     */
    public record Stop(String taskId) implements Route {}

    /**
     * A person has to agree before the call runs.
     *
     * @param expiryMs how long the person has, in milliseconds, 1 or more
     * @param approveOnExpiry whether the call runs when nobody has decided by then; else it is rejected
     * @param reason why the person is asked, in words; {@code null} = every such call needs it
     */
    public record Approval(
            long expiryMs,
            boolean approveOnExpiry,
            @Nullable String reason) {

        /** That every such call needs. */
        public Approval(long expiryMs, boolean approveOnExpiry) {
            this(expiryMs, approveOnExpiry, null);
        }

        /** What satisfies both. */
        public Approval and(Approval other) {
            return new Approval(
                    Math.min(expiryMs, other.expiryMs),
                    approveOnExpiry && other.approveOnExpiry,
                    both(reason, other.reason));
        }

        private static @Nullable String both(@Nullable String one, @Nullable String other) {
            if (one == null || one.equals(other)) {
                return other;
            }
            return other == null ? one : one + "; " + other;
        }
    }

    /**
     * It does not run; the model gets the error as the result.
     *
     * @param code lower snake case, such as {@code tool_not_found}
     * @param message what the model is told
     */
    public record Refuse(String code, String message) implements Route {}

    /** The size that it adds to the transcript, in characters. */
    long chars() {
        return (long) toolName.length() + arguments.length();
    }

    static long chars(@Nullable String text) {
        return text == null ? 0 : text.length();
    }
}
