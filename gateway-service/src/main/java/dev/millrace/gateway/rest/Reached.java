package dev.millrace.gateway.rest;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.kafka.Places;
import java.time.Duration;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refuses places that nobody can have been given: those behind the end of their partition, which come from another cluster or
 * from a topic that was made again. Another gateway may be ahead of this one, so the brokers are asked before one is refused. As long as they do not answer
 * none is: the tail looks again, when it comes to it.
 */
final class Reached {
    private static final Logger LOGGER = LoggerFactory.getLogger(Reached.class);

    private Reached() {}

    @FunctionalInterface
    private interface End {
        long of(int partition) throws BrokerUnavailableException, InterruptedException;
    }

    /**
     * Places in the journal.
     *
     * @param next by partition, the offset that comes next
     * @param found what the client gave
     */
    static void require(Map<Integer, Long> next, String found, JournalTail tail, Duration atMost)
            throws InterruptedException {
        try {
            for (Map.Entry<Integer, Long> place : next.entrySet()) {
                int partition = place.getKey();
                if (place.getValue() > tail.end(partition, atMost)) {
                    require(partition, place.getValue(), found, number -> tail.logEnd(number, atMost));
                }
            }
        } catch (BrokerUnavailableException e) {
            LOGGER.debug("Nobody could say whether there is the place that a client gave");
        }
    }

    /** Places in the journal and in the live text. */
    static void require(Places places, String found, JournalTail tail, EventStreams streams, Duration atMost)
            throws InterruptedException {
        try {
            for (Map.Entry<Integer, Places.Place> place : places.next().entrySet()) {
                require(Map.of(place.getKey(), place.getValue().journal()), found, tail, atMost);
                require(place.getKey(), place.getValue().tokens(), found, number -> streams.tokensEnd(number, atMost));
            }
        } catch (BrokerUnavailableException e) {
            LOGGER.debug("Nobody could say whether there is the place that a client gave");
        }
    }

    private static void require(int partition, long next, String found, End end)
            throws BrokerUnavailableException, InterruptedException {
        long last = next == 0 ? 0 : end.of(partition);
        if (next > last) {
            throw ProblemException.badParameter(
                    "after",
                    "a place that there is (partition " + partition + " ends before offset " + last
                            + "; one from before its topic was made again means nothing any more)",
                    found);
        }
    }
}
