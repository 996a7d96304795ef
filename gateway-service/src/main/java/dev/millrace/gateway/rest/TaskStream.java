package dev.millrace.gateway.rest;

import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.JournalListener;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.query.QueryUnavailableException;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.rest.SsePump.ClientGoneException;
import dev.millrace.gateway.rest.SsePump.Outlet;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The events of one task, from its first one or from a place on: first what agent-service knows, then, from exactly where
 * that ends, what the journal goes on to tell. So it matters to nobody which instance is asked.
 *
 * @param after what the client has already seen; {@code null} = nothing
 * @param follow whether to go on after the task has ended
 * @param heartbeat after so much silence a comment is sent
 */
record TaskStream(Name name, @Nullable JournalCursor after, boolean follow, Duration heartbeat, Sources sources) {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LAST_PAUSE = Duration.ofSeconds(1);

    /** Which task. */
    record Name(String namespace, String taskId) {}

    /** Where its events come from. */
    record Sources(Tasks tasks, JournalTail tail) {}

    /** Whether there is nothing to send, now or later: the client has seen the end. */
    boolean isOver() throws QueryUnavailableException, InterruptedException {
        if (after == null || follow) {
            return false;
        }
        AtomicBoolean something = new AtomicBoolean();
        TaskHistory history = history();
        boolean known = history.<RuntimeException>readOn(entry -> something.compareAndSet(false, isNew(entry)));
        return known && history.ended() && !something.get();
    }

    void run(Outlet outlet) throws InterruptedException, ListenerDroppedException, ClientGoneException {
        TaskHistory history = history();
        JournalCursor next = replay(history, outlet);
        if (history.ended() && !follow) {
            return;
        }
        long from = after != null && after.partition() == next.partition()
                ? Math.max(next.offset(), after.offset() + 1)
                : next.offset();
        JournalFilter mine = JournalFilter.task(name.namespace(), name.taskId());
        try (JournalListener listener = sources.tail().listen(next.partition(), from, mine)) {
            while (true) {
                JournalEntry entry = listener.next(heartbeat);
                if (entry == null) {
                    outlet.heartbeat();
                    continue;
                }
                outlet.entry(entry.cursor().toString(), entry);
                if (TaskWaiter.ends(entry.event().type()) && !follow) {
                    return;
                }
            }
        }
    }

    /** Sends the past, however long it takes until agent-service can tell it; returns where the journal goes on. */
    private JournalCursor replay(TaskHistory history, Outlet outlet) throws InterruptedException, ClientGoneException {
        Duration pause = FIRST_PAUSE;
        long lastSign = System.nanoTime();
        while (true) {
            try {
                if (history.<ClientGoneException>readOn(entry -> send(entry, outlet))) {
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
