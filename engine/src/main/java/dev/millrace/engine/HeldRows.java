package dev.millrace.engine;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * A store whose rows are written later, all at once. Whoever reads a row here gets it as it was put last; others see
 * nothing before {@link #write}. A range is read from the store, so what is held is written before one. For one thread.
 */
public class HeldRows implements KeyValueStore<Bytes, byte[]> {

    private final KeyValueStore<Bytes, byte[]> store;
    private final Map<Bytes, byte @Nullable []> held = new LinkedHashMap<>();

    /** Holds what is put into this store, of which nobody else is the writer. */
    public HeldRows(KeyValueStore<Bytes, byte[]> store) {
        this.store = store;
    }

    /** Writes what is held; on disk readers see all of it or nothing. */
    public void write() {
        if (!held.isEmpty()) {
            List<KeyValue<Bytes, byte[]>> rows = new ArrayList<>(held.size());
            held.forEach((key, value) -> rows.add(new KeyValue<>(key, value)));
            store.putAll(rows);
            held.clear();
        }
    }

    /** Whether there is anything to write. */
    boolean isAnyHeld() {
        return !held.isEmpty();
    }

    /** Writes nothing of what is held. */
    void drop() {
        held.clear();
    }

    /** Puts rows into the store as they were before. */
    void restore(Map<Bytes, byte @Nullable []> before) {
        before.forEach(store::put);
    }

    /** A row as the store has it. */
    byte @Nullable [] stored(Bytes key) {
        return store.get(key);
    }

    /** A row is about to be written before {@link #write} was called, for a range to have it. */
    protected void writtenSooner(Bytes key) {
        // of no interest here
    }

    private KeyValueStore<Bytes, byte[]> whole() {
        held.keySet().forEach(this::writtenSooner);
        write();
        return store;
    }

    @Override
    public void put(Bytes key, byte @Nullable [] value) {
        held.put(key, value);
    }

    @Override
    public byte @Nullable [] putIfAbsent(Bytes key, byte @Nullable [] value) {
        byte[] found = get(key);
        if (found == null) {
            put(key, value);
        }
        return found;
    }

    @Override
    public void putAll(List<KeyValue<Bytes, byte[]>> entries) {
        entries.forEach(entry -> put(entry.key, entry.value));
    }

    @Override
    public byte @Nullable [] delete(Bytes key) {
        byte[] found = get(key);
        if (found != null) {
            put(key, null);
        }
        return found;
    }

    @Override
    public byte @Nullable [] get(Bytes key) {
        byte[] row = held.get(key);
        return row != null || held.containsKey(key) ? row : store.get(key);
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to) {
        return whole().range(from, to);
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> reverseRange(Bytes from, Bytes to) {
        return whole().reverseRange(from, to);
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> all() {
        return whole().all();
    }

    @Override
    public long approximateNumEntries() {
        return store.approximateNumEntries();
    }

    @Override
    public String name() {
        return store.name();
    }

    @Override
    public void init(StateStoreContext context, StateStore root) {
        store.init(context, root);
    }

    @Override
    public void flush() {
        write();
        store.flush();
    }

    @Override
    public void close() {
        store.close();
    }

    @Override
    public boolean persistent() {
        return store.persistent();
    }

    @Override
    public boolean isOpen() {
        return store.isOpen();
    }
}
