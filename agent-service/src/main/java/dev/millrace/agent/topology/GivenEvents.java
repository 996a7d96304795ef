package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskError;
import dev.millrace.agent.core.TaskState;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives an event to its agent again, in a session of its own, when a model call has failed for good: as often as the
 * rule says, within what the rule may do in a minute. What an agent was given is kept until its task has ended. For one
 * stream thread.
 */
final class GivenEvents {

    private static final Logger LOGGER = LoggerFactory.getLogger(GivenEvents.class);
    /** So much of an error is quoted, in characters. */
    private static final int MAX_ERROR = 1_900;

    private static final EventType SESSION_CREATED = EventType.of("session.created");

    private final KeyValueStore<String, Event> store;
    private final RuleRates rates;
    /** Whether there may be a row: most installations give nothing again, and then no end of a task looks for one. */
    private boolean any;

    /** With these messages, by the keys of their tasks. */
    GivenEvents(KeyValueStore<String, Event> store, RuleRates rates) {
        this.store = store;
        this.rates = rates;
        try (KeyValueIterator<String, Event> rows = store.all()) {
            any = rows.hasNext();
        }
    }

    /**
     * Takes note of a move.
     *
     * @param cause what moved the task
     * @return what has to go on the lanes for the event to be given again; empty = it is not
     */
    List<Event> take(TaskState from, StoredTask after, Event cause, Instant now) {
        if (Moves.hasEnded(after)) {
            Event given = !any || from instanceof TaskState.Absent ? null : store.get(after.key());
            if (given == null) {
                return List.of();
            }
            store.put(after.key(), null);
            return after.state() instanceof TaskState.Failed failed && isOfAModel(failed.error())
                    ? again(given, failed.error(), now)
                    : List.of();
        }
        if (from instanceof TaskState.Absent && mayComeAgain(cause)) {
            store.put(after.key(), cause);
            any = true;
        }
        return List.of();
    }

    private static boolean mayComeAgain(Event cause) {
        Payload.Observed observed =
                cause.payload() instanceof Payload.MessageReceived message ? message.observed() : null;
        return observed != null && observed.retries() != null && failed(observed) < observed.retries();
    }

    private static long failed(Payload.Observed observed) {
        return observed.failure() == null ? 0 : observed.failure().attempts();
    }

    private static boolean isOfAModel(TaskError error) {
        return Arrays.stream(ErrorCode.values())
                .anyMatch(code -> code.code().equals(error.code())
                        && code.foundIn(ErrorCode.Place.MODEL_CALL)
                        && code.foundIn(ErrorCode.Place.TASK));
    }

    private List<Event> again(Event given, TaskError error, Instant now) {
        if (!(given.payload() instanceof Payload.MessageReceived message) || message.observed() == null) {
            return List.of();
        }
        Payload.Observed observed = message.observed();
        String rule = observed.rule().substring(0, observed.rule().lastIndexOf('@'));
        String sessionId = given.sessionId();
        String conversation = sessionId == null ? null : StoredTask.conversation(given.namespace(), sessionId);
        boolean allowed = rates.take(conversation, rule, now.toEpochMilli());
        LOGGER.atWarn()
                .addKeyValue("eventId", observed.eventId())
                .addKeyValue("rule", observed.rule())
                .addKeyValue("errorCode", error.code())
                .log(
                        allowed
                                ? "An agent failed at an event, so it is given it again in another session"
                                : "An agent failed at an event, and is not given it again: too many in a minute");
        if (!allowed) {
            return List.of();
        }
        long attempts = failed(observed) + 1;
        String id = Ids.derived(given.id(), KnownEventType.MESSAGE_RECEIVED, (int) attempts);
        Event once = given.derive(id, KnownEventType.MESSAGE_RECEIVED, now)
                .taskId(null)
                .sessionId(id)
                .priority(given.effectivePriority())
                .payload(new Payload.MessageReceived(
                        message.text(),
                        message.content(),
                        message.images(),
                        message.history(),
                        message.taskType(),
                        message.metadata(),
                        message.model(),
                        message.callbackUrl(),
                        message.parent(),
                        observed.after(new Payload.Failure(attempts, JsonText.cut(error.message(), MAX_ERROR)))))
                .build();
        return List.of(titled(once, observed.type(), observed.time(), now), once);
    }

    /**
     * Says what a session is called that an event begins.
     *
     * @param first the message that it begins with
     * @param time of the event, as it is to be read
     */
    static Event titled(Event first, String type, @Nullable String time, Instant now) {
        return first.derive(SESSION_CREATED, 0, now)
                .taskId(null)
                .causalDepth(first.causalDepth() + 1)
                .payload(Map.of("title", "[Event] " + type + " - " + time))
                .build();
    }
}
