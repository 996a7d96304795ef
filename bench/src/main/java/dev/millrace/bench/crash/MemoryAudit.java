package dev.millrace.bench.crash;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;

/** Reads what is remembered, and compares it with what tasks had to remember: one line each. */
final class MemoryAudit {

    private static final Duration POLL = Duration.ofMillis(200);
    private static final String DOCUMENT = "/facts/memory.md";

    private final String bootstrapServers;
    private final Topics topics;

    MemoryAudit(String bootstrapServers, Topics topics) {
        this.bootstrapServers = bootstrapServers;
        this.topics = topics;
    }

    /** Finds entries that are missing, that are there twice, and that nobody asked for. */
    void check(Ledger ledger, Findings findings) {
        Map<String, List<String>> entries = new HashMap<>();
        documents()
                .forEach((key, content) -> entries.put(
                        key.substring(0, key.length() - DOCUMENT.length()),
                        content.lines()
                                .filter(line -> line.startsWith("- "))
                                .map(line -> line.substring(2).strip())
                                .toList()));
        for (Ledger.Task task : ledger.accepted()) {
            if (!entries.getOrDefault(task.session(), List.of()).contains(task.id())) {
                findings.add("an entry of task " + task.id() + " in memory", "none");
            }
        }
        entries.forEach((session, lines) -> {
            Set<String> different = new TreeSet<>();
            for (String line : lines) {
                if (!different.add(line)) {
                    findings.add("one entry of task " + line + " in memory", "two");
                }
            }
        });
    }

    /** The content of each document as it is now, by its key. */
    private Map<String, String> documents() {
        Map<String, String> documents = new HashMap<>();
        try (KafkaConsumer<String, byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrapServers, "isolation.level", "read_committed"),
                new StringDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            consumer.partitionsFor(topics.memory())
                    .forEach(partition -> partitions.add(new TopicPartition(partition.topic(), partition.partition())));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (partitions.stream()
                    .anyMatch(partition -> consumer.position(partition) < ends.getOrDefault(partition, 0L))) {
                for (ConsumerRecord<String, byte[]> entry : consumer.poll(POLL)) {
                    if (entry.key().endsWith(DOCUMENT)) {
                        documents.put(entry.key(), content(entry.value()));
                    }
                }
            }
        }
        return documents;
    }

    private static String content(byte @Nullable [] document) {
        try {
            return document == null
                    ? ""
                    : String.valueOf(Json.readObject(document).get("content"));
        } catch (MalformedEventException e) {
            return "";
        }
    }
}
