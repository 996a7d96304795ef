package dev.millrace.agent.topology;

import dev.millrace.agent.core.TranscriptEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/** Reads transcripts out of the running topology's store, from any thread. */
public final class StreamsTranscripts implements Transcripts {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final Supplier<KafkaStreams> streams;

    public StreamsTranscripts(Supplier<KafkaStreams> streams) {
        this.streams = streams;
    }

    @Override
    public Optional<List<TranscriptEntry>> read(int partition, OutstandingCall call) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        do {
            // away for a moment while partitions are handed out anew; away for good if this one went elsewhere
            Optional<List<TranscriptEntry>> found = tryRead(partition, call);
            if (found.isPresent()) {
                return found;
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE.toMillis());
        } while (System.nanoTime() < deadline);
        return Optional.empty();
    }

    private Optional<List<TranscriptEntry>> tryRead(int partition, OutstandingCall call) {
        try {
            ReadOnlyKeyValueStore<String, TranscriptEntry> store = streams.get()
                    .store(StoreQueryParameters.fromNameAndType(
                                    Stores.TRANSCRIPTS, QueryableStoreTypes.<String, TranscriptEntry>keyValueStore())
                            .withPartition(partition));
            List<TranscriptEntry> entries = new ArrayList<>(call.transcriptLength());
            try (KeyValueIterator<String, TranscriptEntry> range = store.range(
                    Stores.transcriptKey(call.taskKey(), 0),
                    Stores.transcriptKey(call.taskKey(), call.transcriptLength() - 1))) {
                range.forEachRemaining(entry -> entries.add(entry.value));
            }
            return entries.size() == call.transcriptLength() ? Optional.of(entries) : Optional.empty();
        } catch (InvalidStateStoreException e) {
            return Optional.empty();
        }
    }
}
