package dev.millrace.gateway.rest.tasks;

import dev.millrace.api.Task;
import dev.millrace.api.TaskBulk;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.TaskFilters;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.HttpHeaders;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Does with many tasks what {@link TaskControlResource} does with one, by the same rules. */
@Singleton
public class BulkControls {

    private final Controls controls;
    private final TaskIntake intake;
    private final Tasks tasks;
    private final AgentClient agentService;

    @Inject
    BulkControls(Controls controls, TaskIntake intake, Tasks tasks, AgentClient agentService) {
        this.controls = controls;
        this.intake = intake;
        this.tasks = tasks;
        this.agentService = agentService;
    }

    /** What is done with each. */
    private enum Action {
        CANCEL("cancel", KnownEventType.TASK_CANCEL_REQUESTED),
        SUSPEND("suspend", KnownEventType.TASK_SUSPENDED),
        RESUME("resume", KnownEventType.TASK_RESUMED);

        private final String word;
        private final KnownEventType type;

        Action(String word, KnownEventType type) {
            this.word = word;
            this.type = type;
        }

        static Action of(@Nullable String word) {
            for (Action action : values()) {
                if (action.word.equals(word)) {
                    return action;
                }
            }
            throw ProblemException.badField("action", "cancel, suspend or resume", word);
        }

        void requirePossible(KnownTask task) {
            switch (this) {
                case CANCEL -> task.requireRunning();
                case SUSPEND -> task.requireSuspendable();
                case RESUME -> task.requireResumable(null);
            }
        }

        Payload payload(@Nullable String reason) {
            return switch (this) {
                case CANCEL -> new Payload.TaskCancelRequested(reason);
                case SUSPEND -> new Payload.TaskSuspended(reason, null);
                case RESUME -> new Payload.TaskResumed(null, null);
            };
        }
    }

    /** One that is meant; {@code task} is {@code null} if nobody knows it. */
    private record Meant(String taskId, @Nullable KnownTask task) {}

    /** Those that are meant now, and where the next ones begin. */
    private record Choice(List<Meant> meant, @Nullable String next) {}

    /** Asks it of all that are meant, and are found in a state that allows it. */
    TaskBulk.Outcome run(String namespace, TaskBulk.Request request, HttpHeaders headers)
            throws QueryUnavailableException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        Action action = Action.of(request.action());
        String reason = BodyReader.text("reason", request.reason(), Task.Request.MAX_TEXT);
        if (reason != null && action == Action.RESUME) {
            throw ProblemException.badField("reason", "none, since what goes on needs none", reason);
        }
        boolean dry = Boolean.TRUE.equals(request.dryRun());
        TaskBulk.Filter filter = request.filter();
        Choice choice = filter == null ? named(namespace, request) : matched(namespace, filter, request);
        Task.Counts matched = !dry ? null : filter == null ? counts(choice.meant()) : counts(namespace, filter);
        List<Event> events = new ArrayList<>();
        List<TaskBulk.Item> items = new ArrayList<>();
        for (Meant one : choice.meant()) {
            items.add(judged(namespace, one, action, dry ? "possible" : "accepted", task -> {
                if (dry) {
                    return null;
                }
                Event event = controls.event(action.type, task.target(), action.payload(reason), headers);
                events.add(event);
                return event.id();
            }));
        }
        if (!events.isEmpty()) {
            intake.accept(events);
        }
        return new TaskBulk.Outcome(action.word, dry, matched, items, choice.next());
    }

    /** Makes what asks for it, and says its id; {@code null} = nothing was to be made. */
    private interface Asking {
        @Nullable
        String ask(KnownTask task);
    }

    private static TaskBulk.Item judged(String namespace, Meant one, Action action, String status, Asking asking) {
        KnownTask task = one.task();
        String state = task == null ? null : task.state();
        try {
            if (task == null) {
                throw ProblemException.unknownTask(namespace, one.taskId());
            }
            action.requirePossible(task);
            return new TaskBulk.Item(one.taskId(), state, status, asking.ask(task), null, null);
        } catch (ProblemException e) {
            return new TaskBulk.Item(
                    one.taskId(),
                    state,
                    "refused",
                    null,
                    e.problem().code(),
                    e.problem().detail());
        }
    }

    private Choice named(String namespace, TaskBulk.Request request)
            throws QueryUnavailableException, InterruptedException {
        List<String> ids = request.ids();
        if (ids == null) {
            throw ProblemException.badField("ids", "ids, or else a filter", null);
        }
        if (request.limit() != null || request.cursor() != null) {
            throw ProblemException.badField(
                    request.limit() != null ? "limit" : "cursor", "none beside ids", request.limit());
        }
        Set<String> distinct = new LinkedHashSet<>(ids);
        if (distinct.isEmpty() || distinct.size() > TaskBulk.MOST) {
            throw ProblemException.badField("ids", "1 to " + TaskBulk.MOST + " of them", distinct.size());
        }
        List<Meant> meant = new ArrayList<>();
        for (String id : distinct) {
            if (id == null || id.isBlank() || id.length() > Ids.MAX_LENGTH) {
                throw ProblemException.badField("ids", "ids of 1 to " + Ids.MAX_LENGTH + " characters", id);
            }
            Optional<Found> found = tasks.taskNow(namespace, id);
            meant.add(new Meant(id, found.isEmpty() ? null : KnownTask.of(namespace, id, found.get())));
        }
        return new Choice(meant, null);
    }

    private Choice matched(String namespace, TaskBulk.Filter filter, TaskBulk.Request request)
            throws QueryUnavailableException, InterruptedException {
        if (request.ids() != null) {
            throw ProblemException.badField("filter", "none beside ids", filter);
        }
        int limit = request.limit() == null ? TaskBulk.MOST : request.limit();
        if (limit < 1 || limit > TaskBulk.MOST) {
            throw ProblemException.badField("limit", "1 to " + TaskBulk.MOST, limit);
        }
        TasksResource.requireOneOf("state", filter.state(), TasksResource.STATES);
        TasksResource.requireOneOf("waitingFor", filter.waitingFor(), TasksResource.WAITS);
        Map<String, @Nullable String> query = TaskFilters.queryOf(filter);
        query.put("namespace", namespace);
        query.put("limit", Integer.toString(limit));
        query.put("before", request.cursor());
        Task.Page page = agentService.get(AgentClient.path("tasks"), query).as(Task.Page.class);
        return new Choice(
                page.tasks().stream()
                        .map(task -> new Meant(task.taskId(), KnownTask.of(namespace, task.taskId(), task)))
                        .toList(),
                page.next());
    }

    private static Task.Counts counts(List<Meant> meant) {
        Map<String, Integer> states = new TreeMap<>();
        for (Meant one : meant) {
            if (one.task() != null) {
                states.merge(one.task().state(), 1, Integer::sum);
            }
        }
        return new Task.Counts(states, true);
    }

    private Task.Counts counts(String namespace, TaskBulk.Filter filter)
            throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> query = TaskFilters.queryOf(filter);
        String state = query.remove("state");
        query.put("namespace", namespace);
        Task.Counts all =
                agentService.get(AgentClient.path("task-counts"), query).as(Task.Counts.class);
        return state == null || state.isBlank()
                ? all
                : new Task.Counts(Map.of(state, all.states().getOrDefault(state, 0)), all.complete());
    }
}
