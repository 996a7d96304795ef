package dev.millrace.gateway.rest.streams;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.FactListener;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.rest.tasks.TaskHistory;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Backoff;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.Payload;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What has happened to a task, and where journal and live text go on that belong behind it. For one thread. */
public final class TaskPast {
    /** Between two questions to agent-service while it does not answer. */
    public static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    /** Between two questions to agent-service for what it does not know yet. */
    public static final Backoff UNTIL_TOLD = new Backoff(Duration.ofMillis(20), LONGEST_PAUSE, "told");

    /** Clocks of machines may differ by so much. */
    private static final Duration SKEW = Duration.ofSeconds(2);
    /** A call of which the journal does not tell yet has begun no longer ago. */
    private static final Duration UNTOLD = Duration.ofSeconds(10);

    private final TaskHistory history;
    private final EventStreams streams;
    private final Duration atMost;
    private final Set<String> settled = new HashSet<>();
    private Instant last = Instant.now();
    /** The last call that has not come to its end; {@code null} = none. */
    private @Nullable OpenCall open;

    private @Nullable JournalCursor next;

    private record OpenCall(String callId, Instant since) {}

    /** Who waits while there is nothing to tell. Each call may end the reading by an exception. */
    public interface Waiting {

        /** Waits until the next thing may be told. */
        void ready() throws InterruptedException, ClientGoneException;

        /** Some time has passed. */
        void heartbeat() throws InterruptedException, ClientGoneException;
    }

    /**
     * Has read nothing yet.
     *
     * @param atMost how long the brokers may take to say where live text begins; then they are asked again
     */
    public TaskPast(TaskHistory history, EventStreams streams, Duration atMost) {
        this.history = history;
        this.streams = streams;
        this.atMost = atMost;
    }

    /** Reads all of it, however long it takes until agent-service can tell it. */
    public void read(Waiting waiting, TaskHistory.Reader<ClientGoneException> reader)
            throws InterruptedException, ClientGoneException {
        for (int misses = 1; ; misses++) {
            Duration atLeast = null;
            try {
                if (history.<ClientGoneException>readOn(waiting::ready, entry -> {
                    note(entry.event());
                    reader.read(entry);
                })) {
                    next = history.next();
                    return;
                }
            } catch (QueryUnavailableException e) {
                atLeast = LONGEST_PAUSE;
            }
            Thread.sleep(UNTIL_TOLD.after(misses, atLeast));
            waiting.heartbeat();
        }
    }

    /** Where the journal goes on. Only after {@link #read}. */
    public JournalCursor next() {
        JournalCursor place = next;
        if (place == null) {
            throw new IllegalStateException("the past was not read");
        }
        return place;
    }

    /** This place, and where the live text of the call begins that goes on. */
    public Places withLiveText(Places from, Waiting waiting) throws InterruptedException, ClientGoneException {
        while (true) {
            try {
                return streams.withLiveTextSince(from, since(), atMost);
            } catch (BrokerUnavailableException e) {
                waiting.heartbeat();
                Thread.sleep(LONGEST_PAUSE);
            }
        }
    }

    /** The model calls that have come to their end. */
    public Set<String> settled() {
        return settled;
    }

    /** Whether the task had ended, and was not resumed. */
    public boolean ended() {
        return history.ended();
    }

    private void note(Event event) {
        last = event.timestamp();
        String call = FactListener.settledBy(event);
        if (event.payload() instanceof Payload.ModelCallRequested requested) {
            open = new OpenCall(requested.callId(), last);
        } else if (call != null) {
            settled.add(call);
            open = open != null && call.equals(open.callId()) ? null : open;
        }
    }

    /** When the live text begins that is worth telling. */
    private Instant since() {
        return open != null
                ? open.since().minus(SKEW)
                : Collections.max(List.of(last.minus(SKEW), Instant.now().minus(UNTOLD)));
    }
}
