package dev.millrace.agent.topology;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.engine.StoreReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/** Reads transcripts out of the running topology's store, from any thread. */
public final class StreamsTranscripts implements Transcripts {

    private final StoreReader<TranscriptEntry> transcripts;

    public StreamsTranscripts(Supplier<KafkaStreams> streams) {
        this.transcripts = new StoreReader<>(streams, Stores.TRANSCRIPTS);
    }

    @Override
    public Optional<List<TranscriptEntry>> read(int partition, OutstandingCall call) throws InterruptedException {
        return transcripts.read(partition, store -> whole(store, call));
    }

    private static Optional<List<TranscriptEntry>> whole(
            ReadOnlyKeyValueStore<String, TranscriptEntry> store, OutstandingCall call) {
        List<TranscriptEntry> entries = new ArrayList<>(call.transcriptLength());
        try (KeyValueIterator<String, TranscriptEntry> range = store.range(
                Stores.transcriptKey(call.taskKey(), 0),
                Stores.transcriptKey(call.taskKey(), call.transcriptLength() - 1))) {
            range.forEachRemaining(entry -> entries.add(entry.value));
        }
        return entries.size() == call.transcriptLength() ? Optional.of(entries) : Optional.empty();
    }
}
