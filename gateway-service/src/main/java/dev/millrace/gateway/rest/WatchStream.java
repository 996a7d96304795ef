package dev.millrace.gateway.rest;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.kafka.StreamListener;
import dev.millrace.gateway.kafka.StreamListener.Heard;
import dev.millrace.gateway.rest.SsePump.ClientGoneException;
import dev.millrace.gateway.rest.SsePump.Outlet;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.KnownEventType;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Facts and live text, as they come: what the routes of streams send to clients that want both. The {@code id} of each is a
 * {@link Places}.
 *
 * @param streams where they come from
 * @param filter which ones
 * @param live how the client wants live text
 * @param heartbeat after so much silence a comment is sent
 * @param last whether the stream is over after this fact
 */
record WatchStream(
        EventStreams streams, JournalFilter filter, LiveText live, Duration heartbeat, Predicate<Event> last) {

    /**
     * Where a stream of these partitions begins: after what the client has seen; now, if it has seen nothing.
     *
     * @param facts where it begins in the journal for a client that has seen facts only; empty = it has not
     * @throws ProblemException if the client gives something that is no {@code id} of such a stream
     */
    static Places begin(
            @Nullable String seen,
            Map<Integer, Long> facts,
            Collection<Integer> partitions,
            JournalTail tail,
            EventStreams streams,
            Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        Optional<Places> places = seen == null ? Optional.empty() : Places.parse(seen);
        if (places.isPresent()) {
            if (!places.get().next().keySet().equals(Set.copyOf(partitions))) {
                throw ProblemException.badParameter("after", "an id of this stream", String.valueOf(seen));
            }
            Reached.require(places.get(), String.valueOf(seen), tail, streams, atMost);
            return places.get();
        }
        if (seen != null && facts.isEmpty()) {
            throw ProblemException.badParameter("after", "an id of this stream", seen);
        }
        if (seen != null && Set.copyOf(partitions).containsAll(facts.keySet())) {
            Reached.require(facts, seen, tail, atMost);
        }
        Places now = streams.now(partitions, atMost);
        Map<Integer, Places.Place> mixed = new LinkedHashMap<>(now.next());
        facts.forEach((partition, next) ->
                mixed.computeIfPresent(partition, (number, place) -> new Places.Place(next, place.tokens())));
        return new Places(mixed);
    }

    void run(Places from, Outlet outlet) throws InterruptedException, ListenerDroppedException, ClientGoneException {
        run(from, Set.of(), outlet);
    }

    /**
     * Sends what comes.
     *
     * @param settledCalls of which the client has heard the end
     */
    void run(Places from, Set<String> settledCalls, Outlet outlet)
            throws InterruptedException, ListenerDroppedException, ClientGoneException {
        try (StreamListener listener = streams.listen(from, filter, settledCalls)) {
            long quietSince = System.nanoTime();
            while (true) {
                outlet.ready();
                Heard heard = listener.next(
                        heartbeat.minusNanos(Math.min(heartbeat.toNanos() - 1, System.nanoTime() - quietSince)));
                if (heard == null ? quiet(outlet, quietSince) : send(heard, outlet)) {
                    quietSince = System.nanoTime();
                }
                if (heard != null && !heard.live() && last.test(heard.event())) {
                    return;
                }
            }
        }
    }

    /** Says that the stream is alive if nothing was said for long enough; whether it did. */
    private boolean quiet(Outlet outlet, long quietSince) throws InterruptedException, ClientGoneException {
        if (System.nanoTime() - quietSince < heartbeat.toNanos() / 2) {
            return false;
        }
        outlet.heartbeat();
        return true;
    }

    /** Whether there was something to send. */
    private boolean send(Heard heard, Outlet outlet) throws InterruptedException, ClientGoneException {
        String id = heard.next().toString();
        if (!heard.live()) {
            boolean shown = live.shows(heard.event().type());
            if (shown) {
                outlet.entry(id, heard.entry());
            }
            return shown;
        }
        Optional<LiveText.Shown> shown = live.shown(heard);
        if (shown.isPresent()) {
            outlet.send(id, shown.get().name(), shown.get().data());
        }
        return shown.isPresent();
    }

    /** What a task's past tells about its model calls. For one thread. */
    static final class Calls {
        private final Set<String> settled = new HashSet<>();
        private @Nullable Event open;

        void note(JournalEntry entry) {
            Event event = entry.event();
            String call = event.text("callId");
            if (event.type() == KnownEventType.MODEL_CALL_REQUESTED) {
                open = event;
            } else if (call != null
                    && (event.type() == KnownEventType.REASON_DONE
                            || event.type() == KnownEventType.NEED_MORE_INFO
                            || event.type() == KnownEventType.MODEL_CALL_FAILED)) {
                settled.add(call);
                open = open != null && call.equals(open.text("callId")) ? null : open;
            }
        }

        /** Those that have come to their end. */
        Set<String> settled() {
            return settled;
        }

        /** The one that has not, the last of them; {@code null} = none. */
        @Nullable
        Event open() {
            return open;
        }
    }
}
