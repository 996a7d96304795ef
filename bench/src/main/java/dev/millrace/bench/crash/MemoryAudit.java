package dev.millrace.bench.crash;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicLog;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads what is remembered, and compares it with what tasks had to remember: one line each. */
final class MemoryAudit {

    private static final Duration LIMIT = Duration.ofMinutes(5);
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
        new TopicLog(ClientSettings.at(bootstrapServers), topics.memory(), "memory-audit").readAll(LIMIT, entry -> {
            String key = new String(entry.key(), StandardCharsets.UTF_8);
            if (key.endsWith(DOCUMENT)) {
                documents.put(key, content(entry.value()));
            }
        });
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
