package dev.millrace.gateway.rest.streams;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.FactListener;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.rest.streams.EventStream.Shown;
import dev.millrace.gateway.rest.streams.SsePump.Outlet;
import dev.millrace.gateway.rest.tasks.TaskHistory;
import dev.millrace.gateway.rest.tasks.TaskWaiter;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Payload;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
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

    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LAST_PAUSE = Duration.ofSeconds(1);
    /** Clocks of machines may differ by so much. */
    private static final Duration SKEW = Duration.ofSeconds(2);
    /** A call of which the journal does not tell yet has begun no longer ago. */
    private static final Duration UNTOLD = Duration.ofSeconds(10);

    /** Which task. */
    record Name(String namespace, String taskId) {}

    /**
     * Where its events come from.
     *
     * @param atMost how long the brokers may take to say where live text begins; then they are asked again
     */
    record Sources(Tasks tasks, EventStreams streams, Duration atMost) {}

    /** Whether there is nothing to send, now or later: the client has seen the end. */
    boolean isOver() throws QueryUnavailableException, InterruptedException {
        if (seen == null || follow) {
            return false;
        }
        AtomicBoolean something = new AtomicBoolean();
        TaskHistory history = history();
        boolean known =
                history.<RuntimeException>readOn(() -> {}, entry -> something.compareAndSet(false, isNew(entry)));
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
        Calls calls = new Calls();
        TaskHistory history = history();
        JournalCursor next = replay(history, calls, outlet);
        if (history.ended() && !follow) {
            return;
        }
        Places from = Places.ofFacts(Map.of(next.partition(), behind(next)));
        stream.run(live.wanted() ? withLiveText(from, calls, outlet) : from, calls.settled(), outlet);
    }

    /** The place, and where the live text of the call begins that goes on. */
    private Places withLiveText(Places from, Calls calls, Outlet outlet)
            throws InterruptedException, ClientGoneException {
        while (true) {
            try {
                return sources.streams().withLiveTextSince(from, calls.since(), sources.atMost());
            } catch (BrokerUnavailableException e) {
                outlet.heartbeat();
                Thread.sleep(LAST_PAUSE);
            }
        }
    }

    /** The offset that comes after both the past and what the client has seen. */
    private long behind(JournalCursor next) {
        return seen == null
                ? next.offset()
                : Math.max(next.offset(), seen.facts().getOrDefault(next.partition(), 0L));
    }

    /** Sends the past, however long it takes until agent-service can tell it; returns where the journal goes on. */
    private JournalCursor replay(TaskHistory history, Calls calls, Outlet outlet)
            throws InterruptedException, ClientGoneException {
        Duration pause = FIRST_PAUSE;
        while (true) {
            try {
                if (history.<ClientGoneException>readOn(outlet::ready, entry -> {
                    calls.note(entry.event());
                    send(entry, outlet);
                })) {
                    return history.next();
                }
            } catch (QueryUnavailableException e) {
                pause = LAST_PAUSE;
            }
            Thread.sleep(pause);
            pause = pause.multipliedBy(2).compareTo(LAST_PAUSE) < 0 ? pause.multipliedBy(2) : LAST_PAUSE;
            outlet.heartbeat();
        }
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

    private TaskHistory history() {
        return new TaskHistory(sources.tasks(), name.namespace(), name.taskId());
    }

    /** What a task's past tells about its model calls. For one thread. */
    private static final class Calls {
        private final Set<String> settled = new HashSet<>();
        private Instant last = Instant.now();
        /** The last call that has not come to its end; {@code null} = none. */
        private @Nullable Open open;

        private record Open(String callId, Instant since) {}

        void note(Event event) {
            last = event.timestamp();
            String call = FactListener.settledBy(event);
            if (event.payload() instanceof Payload.ModelCallRequested requested) {
                open = new Open(requested.callId(), last);
            } else if (call != null) {
                settled.add(call);
                open = open != null && call.equals(open.callId()) ? null : open;
            }
        }

        /** Those that have come to their end. */
        Set<String> settled() {
            return settled;
        }

        /** When the live text begins that is worth telling. */
        Instant since() {
            return open != null
                    ? open.since().minus(SKEW)
                    : Collections.max(List.of(last.minus(SKEW), Instant.now().minus(UNTOLD)));
        }
    }
}
