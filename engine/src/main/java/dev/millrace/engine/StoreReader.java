package dev.millrace.engine;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/**
 * Reads a section of the stores that a machine has open, from any thread.
 *
 * @param <V> its values
 */
public final class StoreReader<V> {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final OpenStores stores;
    private final StoreSection<V> section;
    private final Duration patience;

    /** A reader of this section of these stores. */
    public StoreReader(OpenStores stores, StoreSection<V> section) {
        this(stores, section, PATIENCE);
    }

    /** That waits for so long for rows. */
    StoreReader(OpenStores stores, StoreSection<V> section, Duration patience) {
        this.stores = stores;
        this.section = section;
        this.patience = patience;
    }

    /** Whether the machine has the partition now. */
    public boolean has(int partition) {
        return stores.has(partition);
    }

    /**
     * Reads until there is something, for some seconds: after an aborted transaction rows are written once more. There
     * is nothing if the machine does not have the partition now; whoever has it next asks again.
     */
    public <R> Optional<R> read(int partition, Function<ReadOnlyKeyValueStore<String, V>, Optional<R>> query)
            throws InterruptedException {
        return readOpened(partition, opened -> query.apply(section.readIn(opened.rows())));
    }

    /** The same over the rows of all sections. */
    public <R> Optional<R> readOpened(int partition, Function<OpenStores.Opened, Optional<R>> query)
            throws InterruptedException {
        long begun = System.nanoTime();
        try {
            while (true) {
                long now = System.nanoTime();
                Optional<R> found = query.apply(stores.of(partition));
                if (found.isPresent() || now - begun >= patience.toNanos()) {
                    return found;
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE.toMillis());
            }
        } catch (InvalidStateStoreException e) {
            return Optional.empty();
        }
    }
}
