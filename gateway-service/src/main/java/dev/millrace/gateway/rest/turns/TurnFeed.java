package dev.millrace.gateway.rest.turns;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Task;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.FactListener;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.streams.TaskPast;
import dev.millrace.gateway.rest.tasks.TaskHistory;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds turns by the events that they begin with, and follows them, at any instance. For any thread. */
@Singleton
public class TurnFeed {
    private static final Logger LOGGER = LoggerFactory.getLogger(TurnFeed.class);

    /** After so long without a sign of an event that was accepted, the task is asked whether it still waits for one. */
    private static final Duration UNTAKEN = Duration.ofSeconds(60);
    /** What was accepted is on the journal much sooner, unless its lane is full. */
    private static final Duration LAST_LOOK = Duration.ofSeconds(10);
    /** How long a step waits, so that a client that is gone is noticed soon. */
    private static final Duration TICK = Duration.ofMillis(250);

    private static final Set<EventType> BEGINS = Set.of(
            KnownEventType.MESSAGE_RECEIVED,
            KnownEventType.WEBHOOK_TRIGGERED,
            KnownEventType.SCHEDULE_FIRED,
            KnownEventType.TASK_RESUMED,
            KnownEventType.APPROVAL_DECIDED);

    private final Tasks tasks;
    private final EventStreams streams;
    private final GatewayConfig config;

    @Inject
    TurnFeed(Tasks tasks, EventStreams streams, GatewayConfig config) {
        this.tasks = tasks;
        this.streams = streams;
        this.config = config;
    }

    /** The id of an event in its namespace. */
    public record Name(String namespace, String eventId) {}

    /**
     * The event, as the journal has it: with the task that it went to; before that as it was accepted here.
     *
     * @return empty if nobody knows it
     */
    public Optional<Event> event(Name name) throws QueryUnavailableException, InterruptedException {
        Optional<Event> told = told(name);
        if (told.isPresent()) {
            return told;
        }
        return tasks.task(name.namespace(), name.eventId(), null).orElse(null) instanceof Found.Accepted accepted
                ? Optional.of(accepted.event())
                : Optional.empty();
    }

    private Optional<Event> told(Name name) throws QueryUnavailableException, InterruptedException {
        if (!(tasks.chain(name.namespace(), name.eventId(), 1).orElse(null) instanceof Found.Known known)) {
            return Optional.empty();
        }
        JsonNode event = known.answer().as(JsonNode.class).path("chain").path(0);
        try {
            return event.isObject()
                    ? Optional.of(EventJson.fromJson(Json.readObject(Json.write(event))))
                    : Optional.empty();
        } catch (MalformedEventException e) {
            throw new QueryUnavailableException("agent-service told an event that cannot be read", e);
        }
    }

    /**
     * The event that the last turn of a task begins with.
     *
     * @return empty if the journal does not tell of the task yet
     * @throws ProblemException if nobody knows it
     */
    public Optional<Event> last(String namespace, String taskId)
            throws QueryUnavailableException, InterruptedException {
        AtomicReference<@Nullable Event> begin = new AtomicReference<>();
        history(namespace, taskId).<RuntimeException>readOn(() -> {}, entry -> {
            if (BEGINS.contains(entry.event().type())) {
                begin.set(entry.event());
            }
        });
        return Optional.ofNullable(begin.get());
    }

    /** Takes what there is by now of the turn that begins with this event. */
    public void look(Event begin, TurnFold fold)
            throws QueryUnavailableException, InterruptedException, ClientGoneException {
        history(begin.namespace(), taskOf(begin))
                .<ClientGoneException>readOn(() -> {}, entry -> fold.take(entry.event(), false));
    }

    /**
     * Follows the turn that begins with this event, which was accepted somewhere, with live text, until it is over. An
     * answer or a decision that the task does not take, since somebody else's was first, ends as {@link
     * TurnEnd.NotTaken}; and one of which there is no sign for a minute, although the task works on nothing.
     *
     * @param waiting is asked again and again whether to go on
     */
    public void follow(Event accepted, TurnFold fold, TaskPast.Waiting waiting)
            throws InterruptedException, ClientGoneException, ListenerDroppedException {
        Event begin =
                accepted.taskId() == null && accepted.sessionId() != null ? awaitTold(accepted, waiting) : accepted;
        String taskId = taskOf(begin);
        TaskPast past = new TaskPast(history(begin.namespace(), taskId), streams, config.produceTimeout());
        past.read(waiting, entry -> fold.take(entry.event(), false));
        if (fold.over()) {
            return;
        }
        fold.caughtUp();
        long lookedAt = System.nanoTime();
        JournalCursor next = past.next();
        Places from = past.withLiveText(Places.ofFacts(Map.of(next.partition(), next.offset())), waiting);
        try (FactListener listener =
                streams.listen(from, JournalFilter.task(begin.namespace(), taskId), past.settled())) {
            while (!fold.over()) {
                waiting.ready();
                FactListener.Heard heard = listener.next(TICK);
                if (heard == null) {
                    waiting.heartbeat();
                    if (fold.mayBeLate() && System.nanoTime() - lookedAt > UNTAKEN.toNanos()) {
                        lookedAt = System.nanoTime();
                        if (isAtRest(begin.namespace(), taskId)) {
                            fold.giveUp();
                        }
                    }
                } else {
                    fold.take(heard.event(), heard.live());
                }
            }
        }
    }

    /** Looks for some seconds more whether a turn begins whose client has gone. */
    void awaitBeginning(Event begin, TurnFold fold) throws InterruptedException {
        long end = System.nanoTime() + LAST_LOOK.toNanos();
        TaskPast.Waiting untilBegun = new TaskPast.Waiting() {
            @Override
            public void ready() {
                if (!fold.mayBeLate() || System.nanoTime() - end > 0) {
                    throw new TurnPatience.OverException();
                }
            }

            @Override
            public void heartbeat() {
                ready();
            }
        };
        try {
            follow(begin, fold, untilBegun);
        } catch (TurnPatience.OverException | ClientGoneException | ListenerDroppedException e) {
            LOGGER.trace("A turn is not followed any more");
        }
    }

    /** Whether the task works on nothing, as far as agent-service says. */
    private boolean isAtRest(String namespace, String taskId) throws InterruptedException {
        try {
            return tasks.task(namespace, taskId, null).orElse(null) instanceof Found.Known known
                    && TurnStates.isAtRest(known.answer().as(Task.class));
        } catch (QueryUnavailableException e) {
            return false;
        }
    }

    /** Waits until the journal says which task a message has gone to: a new one, or one that waited for an answer. */
    private Event awaitTold(Event accepted, TaskPast.Waiting waiting) throws InterruptedException, ClientGoneException {
        for (int misses = 1; ; misses++) {
            Duration atLeast = null;
            try {
                Event told = told(new Name(accepted.namespace(), accepted.id())).orElse(null);
                if (told != null) {
                    return told;
                }
            } catch (QueryUnavailableException e) {
                atLeast = TaskPast.LONGEST_PAUSE;
            }
            Thread.sleep(TaskPast.UNTIL_TOLD.after(misses, atLeast));
            waiting.heartbeat();
        }
    }

    private TaskHistory history(String namespace, String taskId) {
        return new TaskHistory(tasks, namespace, taskId);
    }

    /** The task that this event belongs to, or starts. */
    public static String taskOf(Event event) {
        return event.taskId() == null ? event.id() : event.taskId();
    }
}
