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
import java.util.stream.IntStream;

/** Facts as they come, with live text or without. For any thread. */
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
     * @param live whether live text is listened to as well
     * @throws BrokerUnavailableException if they could not be found out in time
     */
    public Places now(Collection<Integer> partitions, boolean live, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        Map<Integer, Long> facts = new TreeMap<>();
        for (int partition : partitions) {
            facts.put(partition, journal.end(partition, atMost));
        }
        Places places = Places.ofFacts(facts);
        return live ? withLiveText(places, atMost) : places;
    }

    /**
     * The same places, and where live text is now for those that have none.
     *
     * @throws BrokerUnavailableException if that could not be found out in time
     */
    public Places withLiveText(Places places, Duration atMost) throws BrokerUnavailableException, InterruptedException {
        return completed(places, partition -> tokens.end(partition, atMost));
    }

    @FunctionalInterface
    private interface Offset {
        long of(int partition) throws BrokerUnavailableException, InterruptedException;
    }

    private static Places completed(Places places, Offset offset)
            throws BrokerUnavailableException, InterruptedException {
        Places all = places;
        for (Map.Entry<Integer, Places.Place> place : places.next().entrySet()) {
            if (!place.getValue().isLive()) {
                int partition = place.getKey();
                all = all.with(partition, new Places.Place(place.getValue().journal(), offset.of(partition)));
            }
        }
        return all;
    }

    /** All partitions. */
    public Set<Integer> partitions() {
        return IntStream.range(0, journal.partitions()).boxed().collect(Collectors.toSet());
    }

    /** The partition that a conversation is on, by {@link Event#sessionKey}. */
    public int partitionOf(String sessionKey) {
        return journal.partitionOf(sessionKey);
    }

    /**
     * The first of these places that nobody can have been given: it is behind the end of its partition, and so from
     * another cluster or from a topic that was made again. Another gateway may be ahead of this one, so the brokers are
     * asked.
     *
     * @throws BrokerUnavailableException if that could not be found out in time
     */
    public Optional<Unreached> unreached(Places places, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        for (Map.Entry<Integer, Places.Place> entry : places.next().entrySet()) {
            int partition = entry.getKey();
            Places.Place place = entry.getValue();
            if (place.journal() > journal.end(partition, atMost)) {
                long end = journal.logEnd(partition, atMost);
                if (place.journal() > end) {
                    return Optional.of(new Unreached(partition, end));
                }
            }
            if (place.tokens() > 0) {
                long end = tokens.logEnd(partition, atMost);
                if (place.tokens() > end) {
                    return Optional.of(new Unreached(partition, end));
                }
            }
        }
        return Optional.empty();
    }

    /** A partition, and the offset that it ends before. */
    public record Unreached(int partition, long end) {}

    /**
     * The same places, and where the live text begins that is not older than this.
     *
     * @throws BrokerUnavailableException if that could not be found out in time
     */
    public Places withLiveTextSince(Places places, Instant time, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        return completed(places, partition -> tokens.since(partition, time, atMost));
    }

    /** Why no live text is told now, see {@link JournalTail#failure}. */
    public Optional<String> failure() {
        return tokens.failure();
    }

    /**
     * Listens from these places on. Order holds within a partition, and what a model says comes before the fact that it
     * has said it.
     *
     * @throws IllegalArgumentException if there is no such partition
     */
    public FactListener listen(Places from, JournalFilter filter) {
        return listen(from, filter, Set.of());
    }

    /**
     * The same, without live text of these calls (their ids), of which the client has heard the end.
     *
     * @throws IllegalArgumentException if there is no such partition
     */
    public FactListener listen(Places from, JournalFilter filter, Set<String> settledCalls) {
        FactListener.Signal signal = new FactListener.Signal();
        JournalListener facts = journal.listen(from.facts(), filter, signal::raise);
        JournalListener pieces = from.isLive() ? tokens.listen(from.tokens(), filter, signal::raise) : null;
        return new FactListener(new FactListener.Sources(facts, pieces, tokens::logEnd), signal, from, settledCalls);
    }

    /**
     * Begins to listen to what will come of an event that is not yet sent: it starts a task, or is for one. Close it.
     *
     * @throws BrokerUnavailableException if it could not be found out in time where "now" is
     */
    public FactListener listen(Event event, Duration atMost) throws BrokerUnavailableException, InterruptedException {
        int partition = journal.partitionOf(event.sessionKey());
        String taskId = event.taskId() == null ? event.id() : event.taskId();
        return listen(now(Set.of(partition), true, atMost), JournalFilter.task(event.namespace(), taskId));
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
