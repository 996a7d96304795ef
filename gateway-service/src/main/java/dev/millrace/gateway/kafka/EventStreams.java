package dev.millrace.gateway.kafka;

import dev.millrace.schemas.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Facts and live text together, as they come. For any thread. */
public final class EventStreams implements AutoCloseable {
    private final JournalTail journal;
    private final JournalTail tokens;

    /**
     * Of these two, which have the same partitions.
     *
     * @param journal belongs to somebody else, who closes it
     * @param tokens the tail of live text; closed with this
     */
    public EventStreams(JournalTail journal, JournalTail tokens) {
        this.journal = journal;
        this.tokens = tokens;
    }

    /**
     * Places that everything has at least that comes after this call has begun.
     *
     * @throws BrokerUnavailableException if they could not be found out in time
     */
    public Places now(Collection<Integer> partitions, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        Map<Integer, Places.Place> places = new TreeMap<>();
        for (int partition : partitions) {
            places.put(partition, new Places.Place(journal.end(partition, atMost), tokens.end(partition, atMost)));
        }
        return new Places(places);
    }

    /**
     * Where the live text begins that is not older than this.
     *
     * @throws BrokerUnavailableException if that could not be found out in time
     */
    public long tokensSince(int partition, Instant time, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        return tokens.since(partition, time, atMost);
    }

    /**
     * Where the live text of this partition ends for sure, see {@link JournalTail#logEnd(int, Duration)}.
     *
     * @throws BrokerUnavailableException if that could not be found out in time
     */
    public long tokensEnd(int partition, Duration atMost) throws BrokerUnavailableException, InterruptedException {
        return tokens.logEnd(partition, atMost);
    }

    /** Why no live text is told now, see {@link JournalTail#failure}. */
    public Optional<String> failure() {
        return tokens.failure();
    }

    /**
     * Listens from these places on. Order holds within a partition, and what a model says comes before the fact that it has
     * said it.
     *
     * @throws IllegalArgumentException if there is no such partition
     */
    public StreamListener listen(Places from, JournalFilter filter) {
        return listen(from, filter, Set.of());
    }

    /**
     * The same, without live text of these calls (their ids), of which the client has heard the end.
     *
     * @throws IllegalArgumentException if there is no such partition
     */
    public StreamListener listen(Places from, JournalFilter filter, Set<String> settledCalls) {
        StreamListener.Signal signal = new StreamListener.Signal();
        JournalListener facts = journal.listen(
                from.next().entrySet().stream()
                        .collect(Collectors.toMap(
                                Map.Entry::getKey, place -> place.getValue().journal())),
                filter,
                signal::raise);
        JournalListener pieces = tokens.listen(
                from.next().entrySet().stream()
                        .collect(Collectors.toMap(
                                Map.Entry::getKey, place -> place.getValue().tokens())),
                filter,
                signal::raise);
        return new StreamListener(
                new StreamListener.Sources(facts, pieces, tokens::logEnd), signal, from, settledCalls);
    }

    /**
     * Begins to listen to what will come of an event that is not yet sent: it starts a task, or is for one. Close it.
     *
     * @throws BrokerUnavailableException if it could not be found out in time where "now" is
     */
    public StreamListener listen(Event event, Duration atMost) throws BrokerUnavailableException, InterruptedException {
        int partition = journal.partitionOf(event.sessionKey());
        String taskId = event.taskId() == null ? event.id() : event.taskId();
        return listen(now(Set.of(partition), atMost), JournalFilter.task(event.namespace(), taskId));
    }

    /** Those who listen to live text now. */
    public int listeners() {
        return tokens.listeners();
    }

    /** Drops all who listen, within seconds. */
    @Override
    public void close() {
        tokens.close();
    }
}
