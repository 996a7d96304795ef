package dev.millrace.gateway.rest;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.JournalListener;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.query.QueryUnavailableException;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.rest.SsePump.ClientGoneException;
import dev.millrace.gateway.rest.SsePump.Outlet;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The events of one task, from its first one or from a place on: first what agent-service knows, then, from exactly where
 * that ends, what the journal goes on to tell. So it matters to nobody which instance is asked.
 *
 * @param after what the client has already seen; {@code null} = nothing
 * @param follow whether to go on after the task has ended
 * @param heartbeat after so much silence a comment is sent
 * @param live what the client wants to see
 */
record TaskStream(
        Name name, @Nullable JournalCursor after, boolean follow, Duration heartbeat, Sources sources, LiveText live) {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LAST_PAUSE = Duration.ofSeconds(1);
    /** Clocks of machines may differ by so much. */
    private static final Duration SKEW = Duration.ofSeconds(2);
    /** A call of which the journal does not tell yet has begun no longer ago. */
    private static final Duration UNTOLD = Duration.ofSeconds(10);

    /** Which task. */
    record Name(String namespace, String taskId) {}

    /** Where its events come from. */
    record Sources(Tasks tasks, JournalTail tail, EventStreams streams) {}

    /** Whether there is nothing to send, now or later: the client has seen the end. */
    boolean isOver() throws QueryUnavailableException, InterruptedException {
        if (after == null || follow) {
            return false;
        }
        AtomicBoolean something = new AtomicBoolean();
        TaskHistory history = history();
        boolean known =
                history.<RuntimeException>readOn(() -> {}, entry -> something.compareAndSet(false, isNew(entry)));
        return known && history.ended() && !something.get();
    }

    void run(Outlet outlet) throws InterruptedException, ListenerDroppedException, ClientGoneException {
        TaskHistory history = history();
        JournalCursor next = replay(history, entry -> send(entry, outlet), outlet);
        if (history.ended() && !follow) {
            return;
        }
        long from = behind(next);
        JournalFilter mine = JournalFilter.task(name.namespace(), name.taskId());
        try (JournalListener listener = sources.tail().listen(next.partition(), from, mine)) {
            while (true) {
                outlet.ready();
                JournalEntry entry = listener.next(heartbeat);
                if (entry == null) {
                    outlet.heartbeat();
                    continue;
                }
                show(entry, outlet);
                if (TaskWaiter.ends(entry.event().type()) && !follow) {
                    return;
                }
            }
        }
    }

    /**
     * The same with live text: of calls that have come to their end before this, only the reply.
     *
     * @param seen what the client has already seen of both; {@code null} = facts at most
     * @param atMost how long the brokers may take to say where live text begins; then they are asked again
     */
    void watch(Outlet outlet, @Nullable Places seen, Duration atMost)
            throws InterruptedException, ListenerDroppedException, ClientGoneException {
        WatchStream stream = new WatchStream(
                sources.streams(),
                JournalFilter.task(name.namespace(), name.taskId()),
                live,
                heartbeat,
                event -> TaskWaiter.ends(event.type()) && !follow);
        if (seen != null) {
            stream.run(seen, outlet); // the journal alone tells what comes after, in the right order with live text
            return;
        }
        WatchStream.Calls calls = new WatchStream.Calls();
        TaskHistory history = history();
        AtomicReference<Instant> last = new AtomicReference<>(Instant.now());
        JournalCursor next = replay(
                history,
                entry -> {
                    calls.note(entry);
                    last.set(entry.event().timestamp());
                    send(entry, outlet);
                },
                outlet);
        if (history.ended() && !follow) {
            return;
        }
        Event open = calls.open();
        Instant since = open != null
                ? open.timestamp().minus(SKEW)
                : Collections.max(List.of(last.get().minus(SKEW), Instant.now().minus(UNTOLD)));
        while (true) {
            try {
                long tokens = sources.streams().tokensSince(next.partition(), since, atMost);
                stream.run(Places.of(next.partition(), behind(next), tokens), calls.settled(), outlet);
                return;
            } catch (BrokerUnavailableException e) {
                outlet.heartbeat();
                Thread.sleep(LAST_PAUSE);
            }
        }
    }

    /** The offset that comes after both the past and what the client has seen. */
    private long behind(JournalCursor next) {
        return after != null && after.partition() == next.partition()
                ? Math.max(next.offset(), after.offset() + 1)
                : next.offset();
    }

    /** Sends the past, however long it takes until agent-service can tell it; returns where the journal goes on. */
    private JournalCursor replay(TaskHistory history, TaskHistory.Reader<ClientGoneException> reader, Outlet outlet)
            throws InterruptedException, ClientGoneException {
        Duration pause = FIRST_PAUSE;
        long lastSign = System.nanoTime();
        while (true) {
            try {
                if (history.<ClientGoneException>readOn(outlet::ready, reader)) {
                    return history.next();
                }
            } catch (QueryUnavailableException e) {
                pause = LAST_PAUSE;
            }
            Thread.sleep(pause);
            pause = pause.multipliedBy(2).compareTo(LAST_PAUSE) < 0 ? pause.multipliedBy(2) : LAST_PAUSE;
            if (System.nanoTime() - lastSign > heartbeat.toNanos()) {
                outlet.heartbeat();
                lastSign = System.nanoTime();
            }
        }
    }

    private void send(JournalEntry entry, Outlet outlet) throws InterruptedException, ClientGoneException {
        if (isNew(entry)) {
            show(entry, outlet);
        }
    }

    private void show(JournalEntry entry, Outlet outlet) throws InterruptedException, ClientGoneException {
        if (live.shows(entry.event().type())) {
            outlet.entry(entry.cursor().toString(), entry);
        }
    }

    private boolean isNew(JournalEntry entry) {
        return after == null
                || entry.cursor().partition() != after.partition()
                || entry.cursor().offset() > after.offset();
    }

    private TaskHistory history() {
        return new TaskHistory(sources.tasks(), name.namespace(), name.taskId());
    }
}
