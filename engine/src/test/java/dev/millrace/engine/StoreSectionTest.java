package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class StoreSectionTest {

    private KeyValueStore<Bytes, byte[]> store;
    private KeyValueStore<String, String> words;
    private KeyValueStore<String, Long> numbers;
    private KeyValueStore<String, String> others;

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void open() {
        store = Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore("rows"), Serdes.Bytes(), Serdes.ByteArray())
                .withLoggingDisabled()
                .build();
        MockProcessorContext<Void, Void> context = new MockProcessorContext<>();
        store.init(context.getStateStoreContext(), store);
        numbers = new StoreSection<>('m', Serdes.Long()).in(store);
        words = new StoreSection<>('n', Serdes.String()).in(store);
        others = new StoreSection<>('o', Serdes.String()).in(store);
    }

    @Test
    void shouldKeepTheSameKeyOfEachSectionApart() {
        // when
        numbers.put("a", 1L);
        words.put("a", "one");

        // then
        assertThat(numbers.get("a")).isEqualTo(1);
        assertThat(words.delete("a")).isEqualTo("one");
        assertThat(words.get("a")).isNull();
        assertThat(numbers.get("a")).isEqualTo(1);
        assertThat(others.get("a")).isNull();
    }

    @Test
    @DisplayName("ranges end with the section, whatever its keys begin with, and sort as in a store by itself")
    void shouldRangeOverItsOwnRowsOnly() {
        // given
        List<String> keys = List.of("\u0000", "a", "a\u0000b", "b", "\u007f", "é", "\uffff");
        keys.forEach(key -> {
            numbers.put(key, 1L);
            words.put(key, "x" + key);
            others.put(key, "y");
        });

        // then
        assertThat(keys(words.all())).containsExactlyElementsOf(keys);
        assertThat(keys(words.range("a", "b"))).containsExactly("a", "a\u0000b", "b");
        assertThat(keys(words.range("b", null))).containsExactly("b", "\u007f", "é", "\uffff");
        assertThat(keys(words.range(null, "a"))).containsExactly("\u0000", "a");
        assertThat(keys(new StoreSection<>('n', Serdes.String()).readIn(store).range("a", "a")))
                .containsExactly("a");
        try (KeyValueIterator<String, String> rows = words.range("b", null)) {
            assertThat(rows.peekNextKey()).isEqualTo("b");
            assertThat(rows.next()).isEqualTo(KeyValue.pair("b", "xb"));
        }
    }

    @Test
    void shouldWriteLikeAStore() {
        // when
        words.putAll(List.of(KeyValue.pair("a", "one"), KeyValue.pair("b", "two")));

        // then
        assertThat(words.putIfAbsent("a", "three")).isEqualTo("one");
        assertThat(words.putIfAbsent("c", "three")).isNull();
        assertThat(keys(words.all())).containsExactly("a", "b", "c");
        words.put("a", null);
        assertThat(keys(words.all())).containsExactly("b", "c");
    }

    @Test
    void shouldLiveWithItsStore() {
        assertThat(words.name()).isEqualTo("rows");
        assertThat(words.isOpen()).isTrue();
        assertThat(words.persistent()).isFalse();
        assertThatThrownBy(words::close).hasMessageContaining("with the store rows");
        store.close();
        assertThat(words.isOpen()).isFalse();
    }

    @Test
    void shouldRefuseATagThatIsNotPrinted() {
        assertThatThrownBy(() -> new StoreSection<>(' ', Serdes.String()))
                .hasMessage("expected a printing ASCII character, found 32");
        assertThatThrownBy(() -> new StoreSection<>('é', Serdes.String())).hasMessageContaining("found 233");
    }

    private static List<String> keys(KeyValueIterator<String, ?> rows) {
        List<String> keys = new ArrayList<>();
        try (rows) {
            rows.forEachRemaining(row -> keys.add(row.key));
        }
        return keys;
    }
}
