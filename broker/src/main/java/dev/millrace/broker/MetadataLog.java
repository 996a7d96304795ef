package dev.millrace.broker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.metadata.MetadataRecordSerde;

/**
 * Reads the controller's log the way Kafka does after a crash: up to the first batch that is broken. Kafka silently
 * cuts off what follows, which is right for a half-written end and wrong for a damaged middle: it then deletes the
 * partitions of the topics that it no longer knows. So whoever starts a broker compares first.
 */
final class MetadataLog {

    static final String FOLDER = "__cluster_metadata-0";

    private MetadataLog() {}

    /** The topics that the readable part of the log and its snapshots have ever named, also those deleted since. */
    static Set<String> readableTopics(Path dataFolder) throws IOException {
        Set<String> topics = new HashSet<>();
        for (Path file : files(dataFolder.resolve(FOLDER))) {
            try (FileRecords records = FileRecords.open(file.toFile(), false)) {
                collect(records, topics);
            }
        }
        return topics;
    }

    private static void collect(FileRecords records, Set<String> topics) {
        try {
            for (RecordBatch batch : records.batches()) {
                batch.ensureValid();
                if (batch.isControlBatch()) {
                    continue;
                }
                for (Record record : batch) {
                    var message = MetadataRecordSerde.INSTANCE
                            .read(new ByteBufferAccessor(record.value()), record.valueSize())
                            .message();
                    if (message instanceof TopicRecord topic) {
                        topics.add(topic.name());
                    }
                }
            }
        } catch (CorruptRecordException e) {
            // the readable part ends here
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(file -> {
                        String name = file.getFileName().toString();
                        return name.endsWith(".log") || name.endsWith(".checkpoint");
                    })
                    .toList();
        }
    }
}
