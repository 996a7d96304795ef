package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.StreamsNotStartedException;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;

class StoreReaderTest {

    private static final Duration PATIENCE = Duration.ofMillis(1);
    private static final StoreSection<String> SECTION = new StoreSection<>('s', Serdes.String());

    private final ReadOnlyKeyValueStore<Bytes, byte[]> store =
            Stores.inMemoryKeyValueStore("rows").get();
    private final AtomicInteger looks = new AtomicInteger();

    @Test
    void shouldGiveUpOnAStoreThatIsElsewhere() throws InterruptedException {
        StoreReader<String> reader = new StoreReader<>(this::readableAtTheFourthLook, () -> false, SECTION, PATIENCE);

        assertThat(reader.readRows(1, rows -> Optional.of("read"))).isEmpty();
    }

    @Test
    void shouldGiveUpOnAMachineThatDoesNotStart() throws InterruptedException {
        StoreReader<String> reader = new StoreReader<>(
                this::readableAtTheFourthLook,
                () -> {
                    throw new StreamsNotStartedException("the machine has not started");
                },
                SECTION,
                PATIENCE);

        assertThat(reader.readRows(1, rows -> Optional.of("read"))).isEmpty();
    }

    @Test
    void shouldWaitForAStoreForAsLongAsPartitionsAreRestored() throws InterruptedException {
        StoreReader<String> reader =
                new StoreReader<>(this::readableAtTheFourthLook, () -> looks.get() < 4, SECTION, PATIENCE);

        assertThat(reader.readRows(1, rows -> Optional.of("read"))).contains("read");
    }

    @Test
    void shouldWaitForRowsForAsLongAsPartitionsAreRestored() throws InterruptedException {
        StoreReader<String> reader = new StoreReader<>(partition -> store, () -> looks.get() < 4, SECTION, PATIENCE);

        assertThat(reader.readRows(1, rows -> looks.incrementAndGet() < 4 ? Optional.empty() : Optional.of("there")))
                .contains("there");
    }

    private ReadOnlyKeyValueStore<Bytes, byte[]> readableAtTheFourthLook(int partition) {
        if (looks.incrementAndGet() < 4) {
            throw new InvalidStateStoreException("the stream thread is PARTITIONS_ASSIGNED, not RUNNING");
        }
        return store;
    }
}
