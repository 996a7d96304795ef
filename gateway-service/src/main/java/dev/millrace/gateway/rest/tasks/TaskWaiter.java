package dev.millrace.gateway.rest.tasks;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.api.Task;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.JournalListener;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.query.RecentTasks;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Waits until a task has ended, or waits for somebody: for an answer or an approval. */
@Singleton
public class TaskWaiter {
    /** The events that a task ends with. */
    public static final Set<EventType> ENDS =
            Set.of(KnownEventType.TASK_COMPLETED, KnownEventType.TASK_FAILED, KnownEventType.TASK_CANCELLED);

    private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);
    private static final Set<String> AT_REST = Set.of("completed", "failed", "cancelled", "suspended");
    /** What a suspended task waits for that comes although nobody does anything. */
    private static final Set<String> COMES_BY_ITSELF = Set.of("children", "admission");
    /** What a suspended task waits for that is held by hand. */
    private static final String RESUME = "resume";

    private static final Set<String> TYPES = Set.of(
            KnownEventType.TASK_COMPLETED.wireName(),
            KnownEventType.TASK_FAILED.wireName(),
            KnownEventType.TASK_CANCELLED.wireName(),
            KnownEventType.TASK_SUSPENDED.wireName(),
            KnownEventType.APPROVAL_REQUESTED.wireName());

    private final JournalTail tail;
    private final Tasks tasks;

    @Inject
    TaskWaiter(JournalTail tail, Tasks tasks) {
        this.tail = tail;
        this.tasks = tasks;
    }

    /** Whether a task ends with this event. */
    public static boolean ends(EventType type) {
        return ENDS.contains(type);
    }

    /** A task that was accepted and that agent-service does not know yet. */
    Task.Details notYetKnown(Event event) {
        return RecentTasks.view(event, tail.partitionOf(event.sessionKey()));
    }

    /**
     * Begins to listen to what will come of an event that is not yet sent: it starts a task, or is for one. Close it.
     */
    JournalListener listen(Event event, Duration atMost) throws BrokerUnavailableException, InterruptedException {
        int partition = tail.partitionOf(event.sessionKey());
        JournalFilter filter =
                JournalFilter.task(event.namespace(), taskOf(event)).and(JournalFilter.types(TYPES));
        return tail.listen(partition, tail.end(partition, atMost), filter);
    }

    /** The partition on which everything of a task stands. */
    public int partitionOf(Found found) throws QueryUnavailableException {
        return switch (found) {
            case Found.Known known ->
                JournalCursor.parse(known.answer()
                                .as(ObjectNode.class)
                                .path("lastCursor")
                                .asText())
                        .orElseThrow(() -> new IllegalStateException("expected a task with its place, found none"))
                        .partition();
            case Found.Accepted accepted -> tail.partitionOf(accepted.event().sessionKey());
        };
    }

    /**
     * Waits until a task that there is has ended, or waits for a person.
     *
     * @param found as it was a moment ago
     * @return the task as it then is, or as it is when the time is over, also when the brokers have not said in that
     *     time where to listen; empty if agent-service does not tell it
     */
    Optional<ObjectNode> awaitRest(String namespace, String taskId, Found found, Duration atMost)
            throws QueryUnavailableException, InterruptedException {
        JournalFilter filter = JournalFilter.task(namespace, taskId).and(JournalFilter.types(TYPES));
        int partition = partitionOf(found);
        long end = System.nanoTime() + atMost.toNanos();
        Optional<ObjectNode> last = Optional.empty();
        try (JournalListener listener = tail.listen(partition, tail.end(partition, atMost), filter)) {
            JournalCursor at = null;
            while (true) {
                Optional<ObjectNode> view = view(namespace, taskId, at);
                last = view.isPresent() ? view : last;
                long left = end - System.nanoTime();
                if (left <= 0 || view.filter(TaskWaiter::rests).isPresent()) {
                    return last;
                }
                JournalEntry entry = listener.next(Duration.ofNanos(Math.min(left, LOOK_AGAIN.toNanos())));
                at = entry == null ? null : entry.cursor();
            }
        } catch (BrokerUnavailableException e) {
            return view(namespace, taskId, null);
        } catch (ListenerDroppedException e) {
            return last; // this instance stops: the client may ask another one
        }
    }

    /** Whether a task goes on only if a person does something, or not at all. */
    private static boolean rests(ObjectNode view) {
        String state = view.path("state").asText();
        return AT_REST.contains(state) && !(state.equals("suspended") && COMES_BY_ITSELF.contains(waitsFor(view)));
    }

    /** Whether a task has ended, or asks something or needs an approval: what is held by hand does neither. */
    private static boolean asksOrHasEnded(ObjectNode view) {
        return rests(view) && !waitsFor(view).equals(RESUME);
    }

    private static String waitsFor(ObjectNode view) {
        return view.path("waitingFor").path("kind").asText();
    }

    private static String taskOf(Event event) {
        return event.taskId() == null ? event.id() : event.taskId();
    }

    /** A task that somebody has waited for, as JSON with the id of the event that was sent. */
    static Response response(Event event, ObjectNode view) {
        view.put("eventId", event.id()).putPOJO("links", Task.Links.of(event.namespace(), taskOf(event)));
        return Response.ok(Json.writeText(view)).build();
    }

    /** Whether somebody who waits for the task has to do something, or need not wait any more. */
    private static boolean rests(Event event) {
        return ends(event.type())
                || event.type() == KnownEventType.APPROVAL_REQUESTED
                || (event.payload() instanceof Payload.TaskSuspended suspended && suspended.question() != null);
    }

    /**
     * Waits for the end.
     *
     * @param maybeOld whether the task may have been submitted before, so that its end may be in the past
     * @return the task as it then is; empty if it goes on
     */
    Optional<ObjectNode> await(JournalListener listener, Event event, Duration atMost, boolean maybeOld)
            throws InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        try {
            for (long left = atMost.toNanos(); left > 0; left = end - System.nanoTime()) {
                if (maybeOld) {
                    Optional<ObjectNode> view = view(event, null).filter(TaskWaiter::asksOrHasEnded);
                    if (view.isPresent()) {
                        return view;
                    }
                }
                JournalEntry entry =
                        listener.next(Duration.ofNanos(maybeOld ? Math.min(left, LOOK_AGAIN.toNanos()) : left));
                if (entry != null && rests(entry.event())) {
                    return Optional.of(view(event, entry.cursor()).orElseGet(() -> told(event, entry)));
                }
            }
        } catch (ListenerDroppedException e) {
            // this instance stops: the client may ask another one
        }
        return Optional.empty();
    }

    private Optional<ObjectNode> view(Event event, @Nullable JournalCursor at) throws InterruptedException {
        return view(event.namespace(), taskOf(event), at);
    }

    private Optional<ObjectNode> view(String namespace, String taskId, @Nullable JournalCursor at)
            throws InterruptedException {
        try {
            return tasks.task(namespace, taskId, at).orElse(null) instanceof Found.Known known
                    ? Optional.of(known.answer().as(ObjectNode.class))
                    : Optional.empty();
        } catch (QueryUnavailableException e) {
            return Optional.empty(); // the journal has told enough
        }
    }

    /** The task as far as its last event tells. */
    private static ObjectNode told(Event event, JournalEntry last) {
        ObjectNode view = event.taskId() == null
                ? Json.MAPPER.valueToTree(RecentTasks.view(event, last.cursor().partition()))
                : Json.MAPPER.createObjectNode();
        view.put("taskId", taskOf(event));
        view.put("namespace", event.namespace());
        Event end = last.event();
        view.put("updatedAt", end.timestamp().toEpochMilli());
        view.put("lastCursor", last.cursor().toString());
        view.putNull("question");
        switch (end.payload()) {
            case Payload.TaskCompleted completed ->
                view.put("state", "completed")
                        .put("response", completed.result().response());
            case Payload.TaskFailed failed ->
                view.put("state", "failed").put("error", failed.error()).put("errorCode", failed.code());
            case Payload.TaskCancelled cancelled ->
                view.put("state", "cancelled").put("error", cancelled.reason());
            case Payload.TaskSuspended suspended ->
                view.put("state", "suspended").put("error", suspended.reason()).put("question", suspended.question());
            case Payload.ApprovalRequested approval ->
                view.put("state", "suspended").put("error", approval.reason());
            default -> view.put("state", "suspended");
        }
        return view;
    }
}
