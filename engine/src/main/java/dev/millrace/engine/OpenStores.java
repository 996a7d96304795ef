package dev.millrace.engine;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/**
 * The stores of the partitions that a machine has, for readers on other threads. {@code KafkaStreams.store} shows them
 * as well, but none of a thread's before the last of its partitions is restored, while the thread takes records of
 * those that are. For any thread.
 */
public final class OpenStores {

    private final Map<Integer, Opened> stores = new ConcurrentHashMap<>();

    /**
     * A store from one {@code init} to the next {@code close}. What was read of it may never have been committed, so
     * it says nothing of what another one has, which is not equal to it, whatever its rows.
     */
    public static final class Opened {
        private final ReadOnlyKeyValueStore<Bytes, byte[]> rows;

        private Opened(ReadOnlyKeyValueStore<Bytes, byte[]> rows) {
            this.rows = rows;
        }

        /** What is in it. */
        public ReadOnlyKeyValueStore<Bytes, byte[]> rows() {
            return rows;
        }
    }

    /** The store of a partition is this one from now on; to be called from {@code init}. */
    public void open(int partition, ReadOnlyKeyValueStore<Bytes, byte[]> store) {
        stores.put(partition, new Opened(store));
    }

    /** This store is the partition's no more; to be called from {@code close}, before the store is closed. */
    public void close(int partition, ReadOnlyKeyValueStore<Bytes, byte[]> store) {
        stores.computeIfPresent(partition, (key, opened) -> opened.rows().equals(store) ? null : opened);
    }

    /** Whether the machine has the partition now. */
    boolean has(int partition) {
        return stores.containsKey(partition);
    }

    /**
     * The store of a partition. Reading it throws the same if it is closed meanwhile.
     *
     * @throws InvalidStateStoreException if the machine does not have the partition now
     */
    public Opened of(int partition) {
        Opened opened = stores.get(partition);
        if (opened == null) {
            throw new InvalidStateStoreException("expected a partition of this machine, found " + partition);
        }
        return opened;
    }
}
