package dev.millrace.gateway.rest.streams;

import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.rest.streams.EventStream.Shown;
import dev.millrace.gateway.rest.streams.SsePump.Outlet;
import dev.millrace.gateway.rest.tasks.TaskHistory;
import dev.millrace.gateway.rest.tasks.TaskWaiter;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The events of one task, from its first one or from a place on: first what agent-service knows, then, from exactly
 * where that ends, what the journal goes on to tell. So it matters to nobody which instance is asked.
 *
 * @param seen what comes next for the client, in one partition; {@code null} = it has seen nothing
 * @param follow whether to go on after the task has ended
 * @param live what the client wants to see
 */
record TaskStream(Name name, @Nullable Places seen, boolean follow, LiveTextView live, Sources sources) {

    /** Which task. */
    record Name(String namespace, String taskId) {}

    /**
     * Where its events come from.
     *
     * @param atMost how long the brokers may take to say where live text begins; then they are asked again
     */
    record Sources(Tasks tasks, EventStreams streams, Duration atMost) {}

    /**
     * Whether there is nothing to send, now or later: the task has ended, and the client has seen all that it wants to
     * see. What else follows the end does not count, else a client of some types would come back for ever.
     */
    boolean isOver() throws QueryUnavailableException, InterruptedException {
        if (follow || (seen == null && live.showsEveryEnd())) {
            return false;
        }
        AtomicBoolean something = new AtomicBoolean();
        // with less than the client has seen, it would wait for an end that it has had
        TaskHistory history = history(lastSeen());
        boolean known = history.<RuntimeException>readOn(
                () -> {}, entry -> something.compareAndSet(false, isNew(entry) && live.shows(entry)));
        return known && history.ended() && !something.get();
    }

    /** Sends them; of live text of calls that have come to their end before this, only the reply. */
    void run(Outlet outlet) throws InterruptedException, ListenerDroppedException, ClientGoneException {
        EventStream stream = new EventStream(
                sources.streams(),
                JournalFilter.task(name.namespace(), name.taskId()),
                live,
                event -> TaskWaiter.ends(event.type()) && !follow);
        if (live.wanted() && seen != null && seen.isLive()) {
            stream.run(
                    seen, Set.of(),
                    outlet); // the journal alone tells what comes after, in the right order with live text
            return;
        }
        TaskPast past = new TaskPast(history(null), sources.streams(), sources.atMost());
        past.read(outlet, entry -> send(entry, outlet));
        if (past.ended() && !follow) {
            return;
        }
        JournalCursor next = past.next();
        Places from = Places.ofFacts(Map.of(next.partition(), behind(next)));
        stream.run(live.wanted() ? past.withLiveText(from, outlet) : from, past.settled(), outlet);
    }

    /** The offset that comes after both the past and what the client has seen. */
    private long behind(JournalCursor next) {
        return seen == null
                ? next.offset()
                : Math.max(next.offset(), seen.facts().getOrDefault(next.partition(), 0L));
    }

    private void send(JournalEntry entry, Outlet outlet) throws InterruptedException, ClientGoneException {
        Shown shown = isNew(entry) ? live.fact(entry).orElse(null) : null;
        if (shown != null) {
            outlet.send(entry.cursor().toString(), shown);
        }
    }

    private boolean isNew(JournalEntry entry) {
        return seen == null
                || entry.cursor().offset()
                        >= seen.facts().getOrDefault(entry.cursor().partition(), 0L);
    }

    /** The last fact that the client has had; {@code null} = none. */
    private @Nullable JournalCursor lastSeen() {
        return seen == null
                ? null
                : seen.facts().entrySet().stream()
                        .filter(next -> next.getValue() > 0)
                        .map(next -> new JournalCursor(next.getKey(), next.getValue() - 1))
                        .findFirst()
                        .orElse(null);
    }

    private TaskHistory history(@Nullable JournalCursor at) {
        return new TaskHistory(sources.tasks(), name.namespace(), name.taskId(), at);
    }
}
