package dev.millrace.gateway.rest.a2a;

import dev.millrace.api.Task;
import dev.millrace.gateway.query.RecentTasks;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.gateway.rest.turns.TurnEnd;
import dev.millrace.gateway.rest.turns.TurnFeed;
import dev.millrace.gateway.rest.turns.TurnStates;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Tells tasks as clients of A2A see them. */
@Singleton
class A2aTasks {
    private static final List<String> WAITS_FOR_PEOPLE = List.of("answer", "approval");
    /** How many tasks a page may have. */
    static final int MAX_PAGE = 100;

    private static final int DEFAULT_PAGE = 50;

    private final Tasks tasks;
    private final AgentClient client;
    private final TurnFeed turns;
    private final TurnStates states;

    @Inject
    A2aTasks(Tasks tasks, AgentClient client, TurnFeed turns, TurnStates states) {
        this.tasks = tasks;
        this.client = client;
        this.turns = turns;
        this.states = states;
    }

    /**
     * A task of the agent.
     *
     * @param accepted whether one will do that was accepted a moment ago
     * @throws A2aFault if there is none
     */
    Task found(A2aDoor.Place place, String taskId, boolean accepted)
            throws QueryUnavailableException, InterruptedException {
        Task task =
                switch (tasks.task(place.namespace(), taskId, null).orElse(null)) {
                    case Found.Known known -> known.answer().as(Task.class);
                    case Found.Accepted(Event event)
                    when accepted -> RecentTasks.view(event, 0).task();
                    case Found.Accepted ignored ->
                        throw new A2aFault(
                                A2aFault.Reason.UNSUPPORTED_OPERATION,
                                "Task " + taskId
                                        + ": expected one that has begun, found one that was accepted a moment ago.");
                    case null -> throw unknown(place, taskId);
                };
        if (!place.agent().equals(task.taskType()) && !place.agent().equals(task.agent())) {
            throw unknown(place, taskId);
        }
        return task;
    }

    private static A2aFault unknown(A2aDoor.Place place, String taskId) {
        String name = taskId.length() > Ids.MAX_LENGTH ? "of that id" : taskId;
        return new A2aFault(
                A2aFault.Reason.TASK_NOT_FOUND,
                "There is no task " + name + " of " + place.agent() + " in the namespace " + place.namespace() + ".");
    }

    /** A task as it stands. */
    A2aTask task(A2aDoor.Place place, String taskId) throws QueryUnavailableException, InterruptedException {
        Task task = found(place, taskId, true);
        return told(task, states.end(task));
    }

    /** The same of what the task itself tells: which of its calls wait for a person is not said. */
    static A2aTask told(Task task) {
        return told(task, TurnStates.told(task));
    }

    private static A2aTask told(Task task, Optional<TurnEnd> end) {
        A2aTask.About about = new A2aTask.About(task.taskId(), contextId(task), Instant.ofEpochMilli(task.updatedAt()));
        String answer = end.orElse(null) instanceof TurnEnd.Answered answered ? answered.text() : "";
        return new A2aTask(
                task.taskId(),
                contextId(task),
                end.map(about::ends).orElseGet(() -> A2aTask.status(state(task), about.at())),
                answer.isEmpty() ? List.of() : List.of(A2aTask.Artifact.answer(answer)));
    }

    static String contextId(Task task) {
        return task.sessionId() == null ? task.taskId() : task.sessionId();
    }

    static A2aTask.State state(Task task) {
        return switch (task.state()) {
            case "accepted", "idle" -> A2aTask.State.TASK_STATE_SUBMITTED;
            case "completed" -> A2aTask.State.TASK_STATE_COMPLETED;
            case "failed" -> A2aTask.State.TASK_STATE_FAILED;
            case "cancelled" -> A2aTask.State.TASK_STATE_CANCELED;
            case "suspended" ->
                WAITS_FOR_PEOPLE.stream().anyMatch(kind -> TurnStates.waitsFor(task, kind))
                        ? A2aTask.State.TASK_STATE_INPUT_REQUIRED
                        : A2aTask.State.TASK_STATE_WORKING;
            default -> A2aTask.State.TASK_STATE_WORKING;
        };
    }

    /**
     * Which tasks a client wants to see.
     *
     * @param contextId {@code null} = of any
     * @param status {@code null} = in any
     * @param pageSize {@code null} = as many as is usual
     * @param pageToken {@code null} = the newest ones
     */
    record Listing(
            @Nullable String contextId,
            A2aTask.@Nullable State status,
            @Nullable Integer pageSize,
            @Nullable String pageToken,
            boolean artifacts) {}

    /** The newest tasks of the agent; a page may have fewer than were asked for, even none, and others follow. */
    A2aTask.Page list(A2aDoor.Place place, Listing listing) throws QueryUnavailableException, InterruptedException {
        Integer size = listing.pageSize();
        if (size != null && (size < 1 || size > MAX_PAGE)) {
            throw A2aFault.params("pageSize", "a whole number from 1 to " + MAX_PAGE, "" + size);
        }
        Map<String, @Nullable String> query = new HashMap<>();
        query.put("namespace", place.namespace());
        query.put("agent", place.agent());
        query.put("sessionId", listing.contextId());
        A2aTask.State wanted = listing.status();
        int total = total(query, wanted);
        query.put("state", ours(wanted));
        query.put("limit", Integer.toString(size == null ? DEFAULT_PAGE : size));
        query.put("before", listing.pageToken());
        Task.Page page = client.get(AgentClient.path("tasks"), query).as(Task.Page.class);
        List<A2aTask> found = page.tasks().stream()
                .filter(task -> wanted == null || state(task) == wanted)
                .map(A2aTasks::told)
                .map(task ->
                        listing.artifacts() ? task : new A2aTask(task.id(), task.contextId(), task.status(), List.of()))
                .toList();
        return new A2aTask.Page(found, page.next() == null ? "" : page.next(), found.size(), total);
    }

    /** The state that tasks have here that are in this one there; {@code null} = there are several. */
    private static @Nullable String ours(A2aTask.@Nullable State state) {
        return switch (state) {
            case TASK_STATE_SUBMITTED -> "idle";
            case TASK_STATE_INPUT_REQUIRED -> "suspended";
            case TASK_STATE_COMPLETED -> "completed";
            case TASK_STATE_FAILED -> "failed";
            case TASK_STATE_CANCELED -> "cancelled";
            case TASK_STATE_WORKING -> null;
            case null -> null;
        };
    }

    private int total(Map<String, @Nullable String> query, A2aTask.@Nullable State wanted)
            throws QueryUnavailableException, InterruptedException {
        Map<String, Integer> all = counts(query, null);
        int asking = 0;
        if (wanted == A2aTask.State.TASK_STATE_INPUT_REQUIRED || wanted == A2aTask.State.TASK_STATE_WORKING) {
            for (String kind : WAITS_FOR_PEOPLE) {
                asking += counts(query, kind).getOrDefault("suspended", 0);
            }
        }
        String state = ours(wanted);
        return switch (wanted) {
            case null -> sum(all);
            case TASK_STATE_INPUT_REQUIRED -> asking;
            case TASK_STATE_WORKING -> sum(all) - asking - ended(all);
            default -> all.getOrDefault(state, 0);
        };
    }

    private static int sum(Map<String, Integer> counts) {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    private static int ended(Map<String, Integer> counts) {
        return List.of("idle", "completed", "failed", "cancelled").stream()
                .mapToInt(state -> counts.getOrDefault(state, 0))
                .sum();
    }

    private Map<String, Integer> counts(Map<String, @Nullable String> query, @Nullable String waitingFor)
            throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> asked = new HashMap<>(query);
        asked.put("waitingFor", waitingFor);
        return client.get(AgentClient.path("task-counts"), asked)
                .as(Task.Counts.class)
                .states();
    }

    /**
     * The event that the turn begins with that a task is at.
     *
     * @throws A2aFault if it has ended
     */
    Event current(A2aDoor.Place place, String taskId) throws QueryUnavailableException, InterruptedException {
        Task task = found(place, taskId, true);
        if (state(task).isTerminal()) {
            throw new A2aFault(
                    A2aFault.Reason.UNSUPPORTED_OPERATION,
                    "Task " + taskId + ": expected one that goes on, found one that is " + task.state()
                            + ". GetTask has what came of it.");
        }
        Optional<Event> begin = turns.last(place.namespace(), taskId);
        return begin.isPresent()
                ? begin.get()
                : turns.event(new TurnFeed.Name(place.namespace(), taskId)).orElseThrow(() -> unknown(place, taskId));
    }
}
