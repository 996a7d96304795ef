package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;

class StoreReaderTest {

    private static final int HERE = 1;
    private static final Duration FOR_EVER = Duration.ofDays(1);
    private static final StoreSection<String> SECTION = new StoreSection<>('s', Serdes.String());

    private final ReadOnlyKeyValueStore<Bytes, byte[]> store =
            Stores.inMemoryKeyValueStore("rows").get();
    private final OpenStores stores = new OpenStores();
    private final AtomicInteger looks = new AtomicInteger();

    @Test
    void shouldGiveUpAtOnceOnAPartitionThatIsElsewhere() throws InterruptedException {
        stores.open(HERE, store);
        stores.close(HERE, store);

        assertThat(new StoreReader<>(stores, SECTION, FOR_EVER).readOpened(HERE, opened -> Optional.of("read")))
                .isEmpty();
    }

    @Test
    void shouldGiveUpAtOnceOnAStoreThatIsClosedMeanwhile() throws InterruptedException {
        stores.open(HERE, store);

        assertThat(new StoreReader<>(stores, SECTION, FOR_EVER).<String>readOpened(HERE, opened -> {
                    throw new InvalidStateStoreException("closed");
                }))
                .isEmpty();
    }

    @Test
    void shouldWaitForRows() throws InterruptedException {
        stores.open(HERE, store);

        assertThat(new StoreReader<>(stores, SECTION, FOR_EVER)
                        .readOpened(
                                HERE, opened -> looks.incrementAndGet() < 4 ? Optional.empty() : Optional.of("there")))
                .contains("there");
    }

    @Test
    void shouldNotWaitForEver() throws InterruptedException {
        stores.open(HERE, store);

        assertThat(new StoreReader<>(stores, SECTION, Duration.ofMillis(1))
                        .<String>readOpened(HERE, opened -> Optional.empty()))
                .isEmpty();
    }

    @Test
    void shouldReadTheStoreThatWasOpenedLast() throws InterruptedException {
        ReadOnlyKeyValueStore<Bytes, byte[]> before =
                Stores.inMemoryKeyValueStore("rows").get();
        stores.open(HERE, before);
        stores.open(HERE, store);
        stores.close(HERE, before);

        assertThat(new StoreReader<>(stores, SECTION, FOR_EVER).readOpened(HERE, opened -> Optional.of(opened.rows())))
                .contains(store);
    }
}
