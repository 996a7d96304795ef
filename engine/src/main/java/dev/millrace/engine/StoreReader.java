package dev.millrace.engine;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/**
 * Reads a section of one of a running machine's stores, from any thread.
 *
 * @param <V> its values
 */
public final class StoreReader<V> {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final IntFunction<ReadOnlyKeyValueStore<Bytes, byte[]>> stores;
    private final BooleanSupplier rebalancing;
    private final StoreSection<V> section;
    private final Duration patience;

    /**
     * A reader of this section of these stores.
     *
     * @param streams the machine that has them; throws {@link InvalidStateStoreException} if it does not run
     */
    public StoreReader(OpenStores stores, Supplier<KafkaStreams> streams, StoreSection<V> section) {
        this(stores::of, () -> streams.get().state() == KafkaStreams.State.REBALANCING, section, PATIENCE);
    }

    /**
     * That reads these stores.
     *
     * @param stores the store of a partition; throws {@link InvalidStateStoreException} if it cannot be read now
     * @param rebalancing whether partitions are being handed out or restored; throws the same if there is no machine
     */
    StoreReader(
            IntFunction<ReadOnlyKeyValueStore<Bytes, byte[]>> stores,
            BooleanSupplier rebalancing,
            StoreSection<V> section,
            Duration patience) {
        this.stores = stores;
        this.rebalancing = rebalancing;
        this.section = section;
        this.patience = patience;
    }

    /**
     * Reads until there is something, for some seconds once the machine is at rest: a store is away for good if its
     * partition went elsewhere. While partitions are handed out and restored, which may take minutes, it is waited for
     * without a limit: it may be one of these.
     */
    public <R> Optional<R> read(int partition, Function<ReadOnlyKeyValueStore<String, V>, Optional<R>> query)
            throws InterruptedException {
        return readRows(partition, rows -> query.apply(section.readIn(rows)));
    }

    /** The same over the rows of all sections. */
    public <R> Optional<R> readRows(int partition, Function<ReadOnlyKeyValueStore<Bytes, byte[]>, Optional<R>> query)
            throws InterruptedException {
        long atRestSince = System.nanoTime();
        while (true) {
            // asked before the store is read, so that what is given up was not there when nothing was under way
            boolean restoring = isRebalancing();
            Optional<R> found = tryRead(partition, query);
            long now = System.nanoTime();
            if (found.isPresent() || (!restoring && now - atRestSince >= patience.toNanos())) {
                return found;
            }
            atRestSince = restoring ? now : atRestSince;
            TimeUnit.MILLISECONDS.sleep(PAUSE.toMillis());
        }
    }

    private boolean isRebalancing() {
        try {
            return rebalancing.getAsBoolean();
        } catch (InvalidStateStoreException e) {
            return false; // there is no machine now
        }
    }

    private <R> Optional<R> tryRead(int partition, Function<ReadOnlyKeyValueStore<Bytes, byte[]>, Optional<R>> query) {
        try {
            return query.apply(stores.apply(partition));
        } catch (InvalidStateStoreException e) {
            return Optional.empty();
        }
    }
}
