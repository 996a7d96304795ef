package dev.millrace.gateway.rest.turns;

import dev.millrace.api.Approval;
import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Problem;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes the events by which a task goes on that there is: with words, or with decisions. */
@Singleton
public class TurnInputs {
    private final Tasks tasks;
    private final Access access;

    @Inject
    TurnInputs(Tasks tasks, Access access) {
        this.tasks = tasks;
        this.access = access;
    }

    /** What somebody decides about a tool call. */
    public record Decision(
            String callId, boolean approve, @Nullable String reason) {}

    /**
     * The task.
     *
     * @throws ProblemException if there is none, or it is not known yet
     */
    public Task task(String namespace, String taskId) throws QueryUnavailableException, InterruptedException {
        if (tasks.task(namespace, taskId, null).orElse(null) instanceof Found.Known known) {
            return known.answer().as(Task.class);
        }
        throw ProblemException.unknownTask(namespace, taskId);
    }

    /** Whether the task waits for an answer to its question. */
    public static boolean asks(Task task) {
        return TurnStates.waitsFor(task, "answer");
    }

    /**
     * What has the task go on: the answer to its question, or more to do.
     *
     * @throws ProblemException if it neither asks anything nor has completed
     */
    public Event.Builder goOn(Task task, String text) {
        if (!asks(task) && !task.state().equals("completed")) {
            Task.WaitingFor waits = task.waitingFor();
            throw new ProblemException(new Problem(
                    409,
                    "not_resumable",
                    "The task's state does not allow it",
                    "Task " + task.taskId() + ": expected one that asks something or has completed, found one that is "
                            + task.state() + (waits == null ? "" : " and waits for: " + waits.kind()),
                    Map.of("state", task.state())));
        }
        return root(KnownEventType.TASK_RESUMED, task.namespace())
                .taskId(task.taskId())
                .sessionId(task.sessionId())
                .payload(new Payload.TaskResumed(text, null));
    }

    /**
     * The decisions, in their order.
     *
     * @throws ProblemException if the caller may not decide, or one of the calls does not wait, or they are of several
     *     tasks
     */
    public List<Event.Builder> decided(String namespace, List<Decision> decisions)
            throws QueryUnavailableException, InterruptedException {
        access.require(namespace, Permission.APPROVE);
        List<Event.Builder> events = new ArrayList<>();
        String taskId = null;
        for (Decision decision : decisions) {
            Approval approval = open(namespace, decision.callId());
            if (taskId != null && !taskId.equals(approval.taskId())) {
                throw new ProblemException(Problem.of(
                        400, "several_tasks", "Several tasks", "Expected decisions about one task, found several."));
            }
            taskId = approval.taskId();
            events.add(root(KnownEventType.APPROVAL_DECIDED, namespace)
                    .taskId(taskId)
                    .sessionId(approval.sessionId())
                    .payload(new Payload.ApprovalDecided(
                            decision.callId(),
                            decision.approve() ? "approve" : "reject",
                            null,
                            decision.reason(),
                            access.principal())));
        }
        return events;
    }

    private Approval open(String namespace, String callId) throws QueryUnavailableException, InterruptedException {
        Approval.Details details = tasks.approval(namespace, callId)
                .orElseThrow(() -> new ProblemException(Problem.of(
                        404,
                        "unknown_approval",
                        "Unknown approval",
                        "No approval was asked for a call " + (callId.length() > 200 ? "of that id" : callId)
                                + " in the namespace " + namespace + ".")))
                .as(Approval.Details.class);
        if (!details.open()) {
            throw new ProblemException(new Problem(
                    409,
                    details.decided() == null ? "not_waiting" : "already_decided",
                    "The call does not wait any more",
                    "The call " + callId + " waits no more; its task is " + details.taskState() + ".",
                    Map.of("state", details.taskState())));
        }
        return details.approval();
    }

    /** An event of its own that somebody sends. */
    public static Event.Builder root(KnownEventType type, String namespace) {
        return root(Ids.random(), type, namespace);
    }

    /** The same with this id. */
    public static Event.Builder root(String id, KnownEventType type, String namespace) {
        return Event.root(id, type, Instant.now()).source("user").namespace(namespace);
    }

    /** What cancels the task of the turn that began with this event. */
    public static Event cancel(Event begin, String taskId, String reason) {
        return root(KnownEventType.TASK_CANCEL_REQUESTED, begin.namespace())
                .taskId(taskId)
                .sessionId(begin.sessionId())
                .payload(new Payload.TaskCancelRequested(reason))
                .build();
    }
}
