package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.engine.OpenStores;
import dev.millrace.schemas.Event;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class StreamsTranscriptsTest {

    private static final int HERE = 3;
    private static final int LONG = 40;

    private final KeyValueStore<Bytes, byte[]> rows =
            Stores.inMemoryKeyValueStore("rows").get();
    private final List<String> read = new ArrayList<>();
    private final ReadOnlyKeyValueStore<Bytes, byte[]> watched = watched();
    private final OpenStores stores = new OpenStores();
    private final StreamsTranscripts transcripts = new StreamsTranscripts(stores);

    StreamsTranscriptsTest() {
        stores.open(HERE, watched);
    }

    @Test
    @DisplayName("a task's next call reads what has come since its last one, and nothing twice")
    void shouldReadOnWhereItHasRead() throws InterruptedException {
        // given
        write("task", 0, LONG + 2, "said");
        assertThat(shown(call("task", 2, LONG))).isEqualTo(texts(0, LONG, "said"));
        read.clear();

        // when
        List<String> shown = shown(call("task", 3, LONG + 2));

        // then
        assertThat(shown).isEqualTo(texts(0, LONG + 2, "said"));
        assertThat(read).hasSize(2);
    }

    @Test
    @DisplayName("what was read may have been rolled back, so it does not count once the store has been opened again")
    void shouldReadAnewWhatIsOpenedAnew() throws InterruptedException {
        write("task", 0, LONG, "said");
        assertThat(shown(call("task", 2, LONG))).isEqualTo(texts(0, LONG, "said"));
        write("task", 0, LONG, "said instead");
        stores.close(HERE, watched);
        stores.open(HERE, watched);

        assertThat(shown(call("task", 3, LONG))).isEqualTo(texts(0, LONG, "said instead"));
    }

    @Test
    @DisplayName("a task whose id another one had that is gone begins with its own words")
    void shouldReadAnewWhatBegins() throws InterruptedException {
        write("task", 0, LONG, "said");
        assertThat(shown(call("task", 2, LONG))).isEqualTo(texts(0, LONG, "said"));
        write("task", 0, LONG, "said by another");

        assertThat(shown(call("task", 1, LONG))).isEqualTo(texts(0, LONG, "said by another"));
        assertThat(shown(call("task", 2, LONG))).isEqualTo(texts(0, LONG, "said by another"));
    }

    @Test
    void shouldKeepNothingOfATaskThatAsksNoMore() throws InterruptedException {
        write("task", 0, LONG, "said");
        assertThat(shown(call("task", 2, LONG))).hasSize(LONG);
        transcripts.release(call("task", 2, LONG).taskKey());
        read.clear();

        assertThat(shown(call("task", 3, LONG))).hasSize(LONG);
        assertThat(read).hasSizeGreaterThanOrEqualTo(LONG);
    }

    @Test
    @DisplayName("where the beginning is no longer shown the rest is still known, and the other way round it is read")
    void shouldShowAPart() throws InterruptedException {
        write("task", 0, LONG, "said");
        assertThat(shown(call("task", 2, LONG))).hasSize(LONG);
        read.clear();

        assertThat(shown(call("task", 3, 7, LONG))).isEqualTo(texts(7, LONG, "said"));
        assertThat(read).isEmpty();
        assertThat(shown(call("task", 3, LONG))).isEqualTo(texts(0, LONG, "said"));
        assertThat(shown(call("task", 3, LONG - 1))).isEqualTo(texts(0, LONG - 1, "said"));
    }

    @Test
    @DisplayName("what is not all there yet is waited for, and what was known stays")
    void shouldWaitForTheRest() throws InterruptedException {
        write("task", 0, LONG, "said");
        assertThat(shown(call("task", 2, LONG))).hasSize(LONG);
        Thread later = Thread.ofPlatform().start(() -> write("task", LONG, LONG + 1, "said"));

        assertThat(shown(call("task", 3, LONG + 1))).isEqualTo(texts(0, LONG + 1, "said"));
        later.join();
    }

    @Test
    @DisplayName(
            "of all that is kept the least lately used goes where it would be too much, and what is too long alone")
    void shouldBeBounded() {
        OpenStores.Opened opened = stores.of(HERE);
        List<TranscriptEntry> ten = List.of(new TranscriptEntry.UserText("0123456789"));
        KeptTranscripts kept = new KeptTranscripts(20);
        kept.keep(opened, "a", 0, ten);
        kept.keep(opened, "b", 0, ten);
        assertThat(kept.of(opened, "a", 0)).isEqualTo(ten);

        kept.keep(opened, "c", 0, ten);

        assertThat(kept.of(opened, "b", 0)).isEmpty();
        assertThat(kept.of(opened, "a", 0)).isEqualTo(ten);
        assertThat(kept.of(opened, "c", 0)).isEqualTo(ten);

        kept.keep(opened, "a", 0, List.of(ten.getFirst(), ten.getFirst(), ten.getFirst()));

        assertThat(kept.of(opened, "a", 0)).isEmpty();
        assertThat(kept.of(opened, "c", 0)).isEqualTo(ten);
    }

    private List<String> shown(OutstandingCall call) throws InterruptedException {
        return transcripts.read(HERE, call).orElseThrow().stream()
                .map(entry -> ((TranscriptEntry.UserText) entry).text())
                .toList();
    }

    private void write(String task, int from, int to, String text) {
        for (int seq = from; seq < to; seq++) {
            TaskStores.TRANSCRIPTS
                    .in(rows)
                    .put(
                            TaskStores.transcriptKey(Event.qualified(Event.DEFAULT_NAMESPACE, task), seq),
                            new TranscriptEntry.UserText(text + ' ' + seq));
        }
    }

    private static List<String> texts(int from, int to, String text) {
        return IntStream.range(from, to).mapToObj(seq -> text + ' ' + seq).toList();
    }

    private static OutstandingCall call(String task, int iteration, int length) {
        return call(task, iteration, 0, length);
    }

    private static OutstandingCall call(String task, int iteration, int from, int length) {
        return new OutstandingCall(
                task + '/' + iteration,
                Event.DEFAULT_NAMESPACE,
                task,
                null,
                task,
                task,
                null,
                AgentPin.NONE,
                100,
                iteration,
                length,
                new OutstandingCall.Shown(0, from, false),
                0,
                0);
    }

    /** The rows, which notes in {@link #read} each that is read. */
    @SuppressWarnings("unchecked") // of a proxy
    private ReadOnlyKeyValueStore<Bytes, byte[]> watched() {
        return (ReadOnlyKeyValueStore<Bytes, byte[]>) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ReadOnlyKeyValueStore.class},
                (proxy, method, arguments) -> {
                    try {
                        Object found = method.invoke(rows, arguments);
                        if (found instanceof KeyValueIterator<?, ?> range) {
                            return noting((KeyValueIterator<Bytes, byte[]>) range);
                        }
                        if (found instanceof byte[]) {
                            read.add(String.valueOf(arguments[0]));
                        }
                        return found;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private KeyValueIterator<Bytes, byte[]> noting(KeyValueIterator<Bytes, byte[]> range) {
        return new KeyValueIterator<>() {
            @Override
            public void close() {
                range.close();
            }

            @Override
            public Bytes peekNextKey() {
                return range.peekNextKey();
            }

            @Override
            public boolean hasNext() {
                return range.hasNext();
            }

            @Override
            public KeyValue<Bytes, byte[]> next() {
                KeyValue<Bytes, byte[]> row = range.next();
                read.add(row.key.toString());
                return row;
            }
        };
    }
}
