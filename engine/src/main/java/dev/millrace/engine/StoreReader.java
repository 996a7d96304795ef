package dev.millrace.engine;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/**
 * Reads a section of one of a running machine's stores, from any thread.
 *
 * @param <V> its values
 */
public final class StoreReader<V> {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final Supplier<KafkaStreams> streams;
    private final String store;
    private final StoreSection<V> section;

    /** A reader of this section of the store of this name. */
    public StoreReader(Supplier<KafkaStreams> streams, String store, StoreSection<V> section) {
        this.streams = streams;
        this.store = store;
        this.section = section;
    }

    /**
     * Reads until there is something, for some seconds: a store is away for a moment while partitions are handed out
     * anew, and away for good if its partition went elsewhere.
     */
    public <R> Optional<R> read(int partition, Function<ReadOnlyKeyValueStore<String, V>, Optional<R>> query)
            throws InterruptedException {
        return readRows(partition, rows -> query.apply(section.readIn(rows)));
    }

    /** The same over the rows of all sections. */
    public <R> Optional<R> readRows(int partition, Function<ReadOnlyKeyValueStore<Bytes, byte[]>, Optional<R>> query)
            throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        do {
            Optional<R> found = tryRead(partition, query);
            if (found.isPresent()) {
                return found;
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE.toMillis());
        } while (System.nanoTime() < deadline);
        return Optional.empty();
    }

    private <R> Optional<R> tryRead(int partition, Function<ReadOnlyKeyValueStore<Bytes, byte[]>, Optional<R>> query) {
        try {
            return query.apply(streams.get()
                    .store(StoreQueryParameters.fromNameAndType(
                                    store, QueryableStoreTypes.<Bytes, byte[]>keyValueStore())
                            .withPartition(partition)));
        } catch (InvalidStateStoreException e) {
            return Optional.empty();
        }
    }
}
