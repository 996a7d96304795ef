package dev.millrace.agent.topology;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.engine.StoreReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/** Reads transcripts out of the running topology's store, from any thread. */
public final class StreamsTranscripts implements Transcripts {

    private final StoreReader<TranscriptEntry> transcripts;

    public StreamsTranscripts(Supplier<KafkaStreams> streams) {
        this.transcripts = new StoreReader<>(streams, TaskStores.ROWS, TaskStores.TRANSCRIPTS);
    }

    @Override
    public Optional<List<TranscriptEntry>> read(int partition, OutstandingCall call) throws InterruptedException {
        return transcripts.read(partition, store -> shown(store, call));
    }

    /**
     * What a model is shown in this call, out of the store of its task's partition; empty = the store does not have all
     * of it yet.
     */
    public static Optional<List<TranscriptEntry>> shown(
            ReadOnlyKeyValueStore<String, TranscriptEntry> store, OutstandingCall call) {
        OutstandingCall.Shown shown = call.shown();
        List<TranscriptEntry> entries = new ArrayList<>();
        String summaryKey = TaskStores.transcriptKey(call.taskKey(), shown.summarySeq());
        if (shown.summarySeq() > 0) {
            TranscriptEntry summary = store.get(summaryKey);
            if (summary == null) {
                return Optional.empty();
            }
            entries.add(summary);
        }
        int found = 0;
        try (KeyValueIterator<String, TranscriptEntry> range = store.range(
                TaskStores.transcriptKey(call.taskKey(), shown.from()),
                TaskStores.transcriptKey(call.taskKey(), call.transcriptLength() - 1))) {
            while (range.hasNext()) {
                KeyValue<String, TranscriptEntry> entry = range.next();
                found++;
                // the summary stands among what it does not stand for, and has been put first
                if (shown.summarySeq() == 0 || !entry.key.equals(summaryKey)) {
                    entries.add(entry.value);
                }
            }
        }
        return found == call.transcriptLength() - shown.from() ? Optional.of(entries) : Optional.empty();
    }
}
