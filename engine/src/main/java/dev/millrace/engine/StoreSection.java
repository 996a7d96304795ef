package dev.millrace.engine;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;

/**
 * One kind of rows in a store that has several kinds, as if it were a store by itself. A store of its own for each kind
 * would be one more changelog partition in each transaction, with a batch, a marker and a place in the log of
 * transactions, and one more database on disk (ADR 0020). Its keys begin with a character of its own; they sort as they
 * would alone.
 *
 * @param <V> its values
 */
public final class StoreSection<V> {

    private static final char LAST_ASCII = 0x7e;

    private final byte tag;
    private final Serializer<V> serializer;
    private final Deserializer<V> deserializer;

    /**
     * A section.
     *
     * @param tag what no other section of the same store has, from {@code !} to {@code ~}; changing it orphans the rows
     * @throws IllegalArgumentException if the tag is another character
     */
    public StoreSection(char tag, Serde<V> serde) {
        if (tag <= ' ' || tag > LAST_ASCII) {
            throw new IllegalArgumentException("expected a printing ASCII character, found " + (int) tag);
        }
        this.tag = (byte) tag;
        this.serializer = serde.serializer();
        this.deserializer = serde.deserializer();
    }

    /**
     * A store for sections: on disk, with a changelog, and cached, because a row that changes several times between two
     * commits needs one record of the changelog for all of that.
     */
    public static StoreBuilder<KeyValueStore<Bytes, byte[]>> store(String name) {
        return Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(name), Serdes.Bytes(), Serdes.ByteArray())
                .withCachingEnabled()
                .withLoggingEnabled(MachineStreams.CHANGELOG);
    }

    /** This section of a store. It lives and is flushed with the store, so it cannot be opened or closed by itself. */
    public KeyValueStore<String, V> in(KeyValueStore<Bytes, byte[]> store) {
        return new Section(store);
    }

    /** The same, of a store that can only be read. */
    public ReadOnlyKeyValueStore<String, V> readIn(ReadOnlyKeyValueStore<Bytes, byte[]> store) {
        return new ReadOnlySection(store);
    }

    /** Whether a row with this key, as the store has it, is one of this section. */
    public boolean has(byte[] storeKey) {
        return storeKey.length > 0 && storeKey[0] == tag;
    }

    /** The key of a row of this section within it, from what the store has. */
    public String keyIn(byte[] storeKey) {
        return text(Bytes.wrap(storeKey));
    }

    /** The value of a row of this section, from what the store has. */
    public V valueIn(byte[] stored) {
        return Objects.requireNonNull(value(stored));
    }

    /** The key of a row of this section as the store has it. */
    public byte[] storeKey(String key) {
        return key(key).get();
    }

    /** A value of this section as the store has it. */
    public byte[] storeValue(V value) {
        return Objects.requireNonNull(bytes(value));
    }

    private Bytes key(String key) {
        byte[] text = key.getBytes(StandardCharsets.UTF_8);
        byte[] tagged = new byte[text.length + 1];
        tagged[0] = tag;
        System.arraycopy(text, 0, tagged, 1, text.length);
        return Bytes.wrap(tagged);
    }

    private static String text(Bytes key) {
        return new String(key.get(), 1, key.get().length - 1, StandardCharsets.UTF_8);
    }

    private Bytes from(@Nullable String key) {
        return key == null ? Bytes.wrap(new byte[] {tag}) : key(key);
    }

    private Bytes to(@Nullable String key) {
        // no row of the next section has an empty key
        return key == null ? Bytes.wrap(new byte[] {(byte) (tag + 1)}) : key(key);
    }

    private byte @Nullable [] bytes(@Nullable V value) {
        return value == null ? null : serializer.serialize("", value);
    }

    private @Nullable V value(byte @Nullable [] bytes) {
        return bytes == null ? null : deserializer.deserialize("", bytes);
    }

    private class ReadOnlySection implements ReadOnlyKeyValueStore<String, V> {

        private final ReadOnlyKeyValueStore<Bytes, byte[]> rows;

        ReadOnlySection(ReadOnlyKeyValueStore<Bytes, byte[]> rows) {
            this.rows = rows;
        }

        @Override
        public @Nullable V get(String key) {
            return value(rows.get(key(key)));
        }

        @Override
        public KeyValueIterator<String, V> range(@Nullable String from, @Nullable String to) {
            return new Rows(rows.range(from(from), to(to)));
        }

        @Override
        public KeyValueIterator<String, V> reverseRange(@Nullable String from, @Nullable String to) {
            return new Rows(rows.reverseRange(from(from), to(to)));
        }

        @Override
        public KeyValueIterator<String, V> all() {
            return range(null, null);
        }

        /** That of all sections. */
        @Override
        public long approximateNumEntries() {
            return rows.approximateNumEntries();
        }
    }

    private final class Section extends ReadOnlySection implements KeyValueStore<String, V> {

        private final KeyValueStore<Bytes, byte[]> store;

        Section(KeyValueStore<Bytes, byte[]> store) {
            super(store);
            this.store = store;
        }

        @Override
        public void put(String key, @Nullable V value) {
            store.put(key(key), bytes(value));
        }

        @Override
        public @Nullable V putIfAbsent(String key, @Nullable V value) {
            return value(store.putIfAbsent(key(key), bytes(value)));
        }

        @Override
        public void putAll(List<KeyValue<String, V>> entries) {
            entries.forEach(entry -> put(entry.key, entry.value));
        }

        /** The row as it was, which is read for that; to put {@code null} has it gone as well, and reads nothing. */
        @Override
        public @Nullable V delete(String key) {
            return value(store.delete(key(key)));
        }

        @Override
        public String name() {
            return store.name();
        }

        @Override
        public void init(StateStoreContext context, StateStore root) {
            throw new UnsupportedOperationException("expected to be opened with the store " + name());
        }

        @Override
        public void flush() {
            store.flush();
        }

        @Override
        public void close() {
            throw new UnsupportedOperationException("expected to be closed with the store " + name());
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

    private final class Rows implements KeyValueIterator<String, V> {

        private final KeyValueIterator<Bytes, byte[]> rows;

        Rows(KeyValueIterator<Bytes, byte[]> rows) {
            this.rows = rows;
        }

        @Override
        public boolean hasNext() {
            return rows.hasNext();
        }

        @Override
        public String peekNextKey() {
            return text(rows.peekNextKey());
        }

        @Override
        public KeyValue<String, V> next() {
            KeyValue<Bytes, byte[]> row = rows.next();
            return KeyValue.pair(text(row.key), Objects.requireNonNull(value(row.value)));
        }

        @Override
        public void close() {
            rows.close();
        }
    }
}
