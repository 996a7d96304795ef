package dev.millrace.gateway.rest.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.query.RecentTasks;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.mcp.McpMessage.Status;
import dev.millrace.gateway.rest.rpc.RpcFault;
import dev.millrace.gateway.rest.streams.TaskPast;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.gateway.rest.turns.TurnEnd;
import dev.millrace.gateway.rest.turns.TurnInputs;
import dev.millrace.gateway.rest.turns.TurnStates;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Calls that are tasks to their client: it gets the task at once, and asks any gateway how that stands. */
@Singleton
class McpTasks {
    private static final String TASK = "task";
    private static final long POLL_MS = 1_000;
    /** How long a client waits at most until what it has said is to be seen. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    /** How long until a task is known that another gateway has told of. */
    private static final Duration UNTIL_KNOWN = Duration.ofSeconds(1);

    private final Tasks tasks;
    private final TurnStates states;
    private final McpCalls calls;
    private final TaskIntake intake;
    private final Access access;

    @Inject
    McpTasks(Tasks tasks, TurnStates states, McpCalls calls, TaskIntake intake, Access access) {
        this.tasks = tasks;
        this.states = states;
        this.calls = calls;
        this.intake = intake;
        this.access = access;
    }

    /** What a call is answered whose task this event begins. */
    static McpMessage.TaskState created(Event begin) {
        String taskId = begin.id();
        String now = Instant.now().toString();
        return new McpMessage.TaskState(
                TASK, taskId, Status.working, null, now, now, null, POLL_MS, null, null, McpEnds.meta(taskId));
    }

    /** What this method answers; {@code null} = there is no such method here. */
    McpMessage.@Nullable Result answer(McpRequest request, String namespace)
            throws QueryUnavailableException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        if (!request.stateless()) {
            return null;
        }
        return switch (request.method()) {
            case "tasks/get" -> told(asked(request, namespace), request);
            case "tasks/update" -> updated(asked(request, namespace), request);
            case "tasks/cancel" -> cancelled(asked(request, namespace));
            default -> null;
        };
    }

    /** The task that a client asks for. */
    private Task asked(McpRequest request, String namespace) throws QueryUnavailableException, InterruptedException {
        request.requireTasks();
        access.require(namespace, Permission.READ);
        String taskId = request.text(McpCalls.TASK_ID);
        if (taskId == null || taskId.length() > Ids.MAX_LENGTH) {
            throw RpcFault.params("taskId: expected the id of a task, found "
                    + (taskId == null ? "none" : taskId.length() + " characters"));
        }
        long end = System.nanoTime() + UNTIL_KNOWN.toNanos();
        for (int looked = 1; ; looked++) {
            Task found = found(namespace, taskId);
            if (found != null) {
                return found;
            }
            if (System.nanoTime() - end > 0) {
                throw RpcFault.params("There is no task " + taskId + " in the namespace " + namespace + ".");
            }
            Thread.sleep(TaskPast.UNTIL_TOLD.after(looked, null));
        }
    }

    private @Nullable Task found(String namespace, String taskId)
            throws QueryUnavailableException, InterruptedException {
        return switch (tasks.task(namespace, taskId, null).orElse(null)) {
            case Found.Known known -> known.answer().as(Task.class);
            case Found.Accepted(Event event) -> RecentTasks.view(event, 0).task();
            case null -> null;
        };
    }

    private McpMessage.TaskState told(Task task, McpRequest request)
            throws QueryUnavailableException, InterruptedException {
        TurnEnd end = states.end(task).orElse(null);
        Map<String, McpMessage.InputRequest> requests = requests(task, end, request);
        McpMessage.Called result = end instanceof TurnEnd.Answered || end instanceof TurnEnd.Failed
                ? McpEnds.called(end, task.taskId(), request)
                : null;
        Status status = result != null
                ? Status.completed
                : end instanceof TurnEnd.Cancelled
                        ? Status.cancelled
                        : requests.isEmpty() ? Status.working : Status.input_required;
        return new McpMessage.TaskState(
                McpDoor.COMPLETE,
                task.taskId(),
                status,
                end == null || result != null || !requests.isEmpty() ? null : McpEnds.words(end, task.taskId()),
                Instant.ofEpochMilli(task.createdAt()).toString(),
                Instant.ofEpochMilli(task.updatedAt()).toString(),
                null,
                POLL_MS,
                result,
                requests.isEmpty() ? null : requests,
                null);
    }

    private Map<String, McpMessage.InputRequest> requests(Task task, @Nullable TurnEnd end, McpRequest request) {
        return end == null
                ? Map.of()
                : McpEnds.requests(end, request, access.may(task.namespace(), Permission.APPROVE));
    }

    /** Takes what the client's user has said to what was asked and is asked still; all else is not looked at. */
    private McpMessage.Result updated(Task task, McpRequest request)
            throws QueryUnavailableException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        if (!(request.params().path("inputResponses") instanceof ObjectNode given)) {
            throw RpcFault.params("inputResponses: expected an object, found something else");
        }
        Map<String, McpMessage.InputRequest> open =
                requests(task, states.end(task).orElse(null), request);
        ObjectNode responses = Json.MAPPER.createObjectNode();
        given.properties().stream()
                .filter(one -> open.containsKey(one.getKey()))
                .forEach(one -> responses.set(one.getKey(), one.getValue()));
        if (!responses.isEmpty()) {
            intake.accept(calls.sequel(task.taskId(), responses, task.namespace()));
            // so that who asks next is not asked the same again
            long end = System.nanoTime() + PATIENCE.toNanos();
            for (int looked = 1; System.nanoTime() - end < 0; looked++) {
                Task now = found(task.namespace(), task.taskId());
                Optional<TurnEnd> stands = now == null ? Optional.empty() : states.end(now);
                if (now == null
                        || requests(now, stands.orElse(null), request).entrySet().stream()
                                .noneMatch(one -> responses.has(one.getKey())
                                        && one.getValue().equals(open.get(one.getKey())))) {
                    break;
                }
                Thread.sleep(TaskPast.UNTIL_TOLD.after(looked, null));
            }
        }
        return new McpMessage.Done(McpDoor.COMPLETE, null);
    }

    private McpMessage.Result cancelled(Task task)
            throws QueryUnavailableException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        if (!ended(task)) {
            intake.accept(List.of(access.stamped(TurnInputs.root(KnownEventType.TASK_CANCEL_REQUESTED, task.namespace())
                    .taskId(task.taskId())
                    .sessionId(task.sessionId())
                    .payload(new Payload.TaskCancelRequested("its client has cancelled it"))
                    .build())));
        }
        return new McpMessage.Done(McpDoor.COMPLETE, null);
    }

    private static boolean ended(Task task) {
        return TurnStates.told(task)
                .filter(end -> !(end instanceof TurnEnd.Asked))
                .isPresent();
    }
}
