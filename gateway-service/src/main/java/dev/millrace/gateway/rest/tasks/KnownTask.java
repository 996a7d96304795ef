package dev.millrace.gateway.rest.tasks;

import dev.millrace.api.Task;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.tasks.Controls.Target;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Problem;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A task as the query side knows it, which may be some milliseconds old, and what its state allows.
 *
 * @param waitsFor as in {@link Task.WaitingFor#kind}; empty = for nothing
 */
record KnownTask(Target target, String state, String waitsFor) {

    private static final Set<String> ENDED = Set.of("completed", "failed", "cancelled");
    private static final Set<String> SUSPENDABLE = Set.of("reasoning", "acting");

    /** One that was looked for and found. */
    static KnownTask of(String namespace, String taskId, Found found) throws QueryUnavailableException {
        return switch (found) {
            case Found.Accepted accepted ->
                new KnownTask(new Target(namespace, taskId, accepted.event().sessionId()), "accepted", "");
            case Found.Known known -> of(namespace, taskId, known.answer().as(Task.class));
        };
    }

    /** One out of a list of this namespace. */
    static KnownTask of(String namespace, String taskId, Task view) {
        Task.WaitingFor waitingFor = view.waitingFor();
        return new KnownTask(
                new Target(namespace, taskId, view.sessionId()),
                view.state(),
                waitingFor == null ? "" : waitingFor.kind());
    }

    boolean hasEnded() {
        return ENDED.contains(state);
    }

    /**
     * Returns if it can be suspended.
     *
     * @throws ProblemException if not
     */
    void requireSuspendable() {
        if (!SUSPENDABLE.contains(state)) {
            throw conflict("not_suspendable", "can only suspend REASONING and ACTING tasks");
        }
    }

    /**
     * Returns if it can go on with this.
     *
     * @param newInput {@code null} = with nothing new
     * @throws ProblemException if not
     */
    void requireResumable(@Nullable String newInput) {
        switch (state) {
            case "completed" -> {
                if (newInput == null) {
                    throw new ProblemException(new Problem(
                            400,
                            "missing_input",
                            "The new input is missing",
                            "newInput: expected 1 to " + Task.Request.MAX_TEXT
                                    + " characters, since the task has completed, found none",
                            Map.of("field", "newInput")));
                }
            }
            case "suspended" -> {
                if (newInput == null && waitsFor.equals("answer")) {
                    throw conflict("answer_open", "and waits for an answer to its question: give it as newInput");
                }
                if (newInput == null && waitsFor.equals("approval")) {
                    throw conflict(
                            "approval_open",
                            "and waits for a decision: POST /v1/approvals/{callId}; GET /v1/approvals lists what is open");
                }
            }
            default -> throw conflict("not_resumable", "can only resume COMPLETED tasks, and SUSPENDED ones go on");
        }
    }

    /**
     * Returns if there is anything left to cancel; to cancel one task that has ended is no mistake, and does nothing.
     *
     * @throws ProblemException if not
     */
    void requireRunning() {
        if (hasEnded()) {
            throw conflict("task_ended", "and stays so");
        }
    }

    private ProblemException conflict(String code, String rule) {
        return new ProblemException(new Problem(
                409,
                code,
                "The task's state does not allow it",
                "Task " + target.taskId() + " is in state " + state.toUpperCase(Locale.ROOT) + ", " + rule,
                Map.of("state", state)));
    }
}
