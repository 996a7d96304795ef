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

    private final Map<Integer, ReadOnlyKeyValueStore<Bytes, byte[]>> stores = new ConcurrentHashMap<>();

    /** The store of a partition is this one from now on; to be called from {@code init}. */
    public void open(int partition, ReadOnlyKeyValueStore<Bytes, byte[]> store) {
        stores.put(partition, store);
    }

    /** This store is the partition's no more; to be called from {@code close}, before the store is closed. */
    public void close(int partition, ReadOnlyKeyValueStore<Bytes, byte[]> store) {
        stores.remove(partition, store);
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
    public ReadOnlyKeyValueStore<Bytes, byte[]> of(int partition) {
        ReadOnlyKeyValueStore<Bytes, byte[]> store = stores.get(partition);
        if (store == null) {
            throw new InvalidStateStoreException("expected a partition of this machine, found " + partition);
        }
        return store;
    }
}
