package dev.millrace.gateway.rest.streams;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.FactListener;
import dev.millrace.gateway.kafka.FactListener.Heard;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.streams.SsePump.Outlet;
import dev.millrace.schemas.Event;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Facts as they come, with live text or without: what every route of streams sends. The {@code id} of each says what
 * comes next, see {@link Places}; among facts of one partition it is the cursor.
 *
 * @param streams where they come from
 * @param filter which ones
 * @param view how the client sees them
 * @param last whether the stream is over after this fact
 */
record EventStream(EventStreams streams, JournalFilter filter, View view, Predicate<Event> last) {
    private static final Logger LOGGER = LoggerFactory.getLogger(EventStream.class);

    /** How a client sees facts and live text. */
    @FunctionalInterface
    interface View {
        /** What is shown; empty = nothing. */
        Optional<Shown> shown(Heard heard);
    }

    /** An event as the client gets it. */
    record Shown(String name, Object data) {}

    /** A stream that goes on for ever. */
    EventStream(EventStreams streams, JournalFilter filter, View view) {
        this(streams, filter, view, event -> false);
    }

    /**
     * Where a stream of these partitions begins: after what the client has seen; now, if it has seen nothing.
     *
     * @throws ProblemException if the client gives something that is no {@code id} of such a stream
     */
    static Places begin(
            SeenParameters seen, Set<Integer> partitions, boolean live, EventStreams streams, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        Places places = seen.places();
        if (places == null) {
            return streams.now(partitions, live, atMost);
        }
        if (!places.next().keySet().equals(partitions)) {
            throw seen.refused();
        }
        requireReached(places, seen, streams, atMost);
        return live ? streams.withLiveText(places, atMost) : places.withoutLiveText();
    }

    /** Refuses a place that nobody can have been given. As long as the brokers do not answer, none is refused. */
    static void requireReached(Places places, SeenParameters seen, EventStreams streams, Duration atMost)
            throws InterruptedException {
        try {
            EventStreams.Unreached unreached = streams.unreached(places, atMost).orElse(null);
            if (unreached != null) {
                throw seen.refused("a place that there is (partition " + unreached.partition() + " ends before offset "
                        + unreached.end() + "; one from before its topic was made again means nothing any more)");
            }
        } catch (BrokerUnavailableException e) {
            LOGGER.debug("The brokers do not say whether the place that a client gave exists");
        }
    }

    /**
     * Sends what comes, to the end.
     *
     * @param settledCalls of which the client has heard the end
     */
    void run(Places from, Set<String> settledCalls, Outlet outlet)
            throws InterruptedException, ListenerDroppedException, ClientGoneException {
        boolean byCursor = !from.isLive() && from.partition().isPresent();
        try (FactListener listener = streams.listen(from, filter, settledCalls)) {
            while (true) {
                outlet.ready();
                Heard heard = listener.next(outlet.untilHeartbeat());
                if (heard == null) {
                    outlet.heartbeat();
                    continue;
                }
                Shown shown = view.shown(heard).orElse(null);
                if (shown != null) {
                    outlet.send(
                            byCursor
                                    ? heard.entry().cursor().toString()
                                    : heard.next().toString(),
                            shown);
                }
                if (!heard.live() && last.test(heard.event())) {
                    return;
                }
            }
        }
    }
}
