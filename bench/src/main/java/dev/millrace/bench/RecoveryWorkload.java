package dev.millrace.bench;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Broker and services are killed with SIGKILL while tasks are in flight, and started again: how long from that start
 * until all of the tasks have completed, and which model calls were made a second time.
 */
final class RecoveryWorkload implements Workload {

    private static final Option TASKS = new Option("tasks", "100", "in flight when everything is killed");
    private static final Option MODEL_MS =
            new Option("model-ms", "500", "how long a model call takes, in milliseconds");
    private static final Option ROUNDS = new Option("rounds", "3", "how often everything is killed");
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration POLL = Duration.ofMillis(100);

    @Override
    public String name() {
        return "recovery";
    }

    @Override
    public String summary() {
        return "kill -9 of broker and services with tasks in flight, until all of those have completed";
    }

    @Override
    public List<Option> options() {
        return List.of(TASKS, MODEL_MS, ROUNDS, Fleet.MODE);
    }

    @Override
    public void run(Options options, Report report) throws Exception {
        for (Fleet.Mode mode : options.choices(Fleet.MODE, Fleet.Mode.values())) {
            Path folder = Files.createTempDirectory("millrace-recovery-");
            Path calls = folder.resolve("calls.log");
            Path script = folder.resolve("script.yaml");
            Files.writeString(script, """
                    latencyMs: %d
                    callLog: %s
                    rules:
                      - steps:
                          - calls: [ { tool: current_time } ]
                          - text: done
                    """.formatted(options.number(MODEL_MS), calls));
            // tables and code are cold at first, as they are when Millrace has just been installed
            Fleet fleet = Fleet.start(mode, Fleet.Durability.CACHE, folder, script, List.of());
            for (int round = 1; round <= options.number(ROUNDS); round++) {
                report.progress("recovery: " + mode.wireName() + ", round " + round);
                List<String> tasks = submit(fleet, options.number(TASKS));
                awaitFirstCalls(calls, tasks.size());
                fleet.kill();
                Instant begun = Instant.now();
                fleet = Fleet.start(mode, Fleet.Durability.CACHE, folder, script, List.of());
                Duration ready = Duration.between(begun, Instant.now());
                Map<String, Instant> completed = completed(fleet, tasks);
                Map<String, @Nullable Object> row = new LinkedHashMap<>();
                row.put("mode", mode.wireName());
                row.put("round", round);
                row.put("tasks", tasks.size());
                row.put("modelMs", options.number(MODEL_MS));
                row.put("completed", completed.size());
                row.put("readyMs", ready.toMillis());
                row.put("firstDoneMs", sinceStart(begun, completed, 0));
                row.put("allDoneMs", sinceStart(begun, completed, completed.size() - 1));
                Map<String, Long> made = made(calls, tasks);
                row.put("modelCalls", made.size());
                row.put(
                        "modelCallsRepeated",
                        made.values().stream().mapToLong(times -> times - 1).sum());
                report.row(row);
                Files.delete(calls);
            }
            fleet.close();
            Folders.delete(folder);
        }
    }

    /** Straight on the lane, each a conversation of its own. */
    private static List<String> submit(Fleet fleet, int count) throws InterruptedException, ExecutionException {
        Map<String, Object> config = new HashMap<>(fleet.kafka());
        config.put("acks", "all");
        List<String> ids = new ArrayList<>();
        try (KafkaProducer<String, byte[]> producer =
                new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Event event = Event.root(UUID.randomUUID().toString(), KnownEventType.MESSAGE_RECEIVED, Instant.now())
                        .source("bench")
                        .payload(Map.of("text", "what time is it?"))
                        .build();
                ids.add(event.id());
                sent.add(producer.send(EventCodec.toRecord(fleet.topics().lane(event.lane()), event)));
            }
            for (Future<RecordMetadata> one : sent) {
                one.get();
            }
        }
        return ids;
    }

    /** All tasks have begun then, and are in their first model call or just behind it. */
    private static void awaitFirstCalls(Path calls, int count) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!Files.exists(calls) || Files.readAllLines(calls).size() < count) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("expected " + count + " model calls within " + LIMIT);
            }
            Thread.sleep(1);
        }
    }

    /** When each of the tasks completed, as the machine dated it, once all have. */
    private static Map<String, Instant> completed(Fleet fleet, List<String> tasks) {
        Map<String, Object> config = new HashMap<>(fleet.kafka());
        config.put("isolation.level", "read_committed");
        Map<String, Instant> completed = new HashMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            String journal = fleet.topics().journal();
            List<TopicPartition> partitions = consumer.partitionsFor(journal).stream()
                    .map(partition -> new TopicPartition(journal, partition.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long deadline = System.nanoTime() + LIMIT.toNanos();
            while (completed.size() < tasks.size() && System.nanoTime() - deadline < 0) {
                for (ConsumerRecord<byte[], byte[]> entry : consumer.poll(POLL)) {
                    Event event = EventCodec.fromRecord(
                            entry.headers(), entry.value(), Instant.ofEpochMilli(entry.timestamp()));
                    String task = event.taskId();
                    if (event.type() == KnownEventType.TASK_COMPLETED && task != null && tasks.contains(task)) {
                        completed.put(task, event.timestamp());
                    }
                }
            }
        } catch (MalformedEventException e) {
            throw new IllegalStateException("expected events in the journal", e);
        }
        if (completed.size() < tasks.size()) {
            throw new IllegalStateException(
                    "expected " + tasks.size() + " completed tasks within " + LIMIT + ", found " + completed.size());
        }
        return completed;
    }

    private static long sinceStart(Instant begun, Map<String, Instant> completed, int index) {
        return Duration.between(
                        begun, completed.values().stream().sorted().toList().get(index))
                .toMillis();
    }

    /** How often each call of these tasks was made. */
    private static Map<String, Long> made(Path calls, List<String> tasks) throws IOException {
        return Files.readAllLines(calls).stream()
                .map(line -> line.substring(line.indexOf(' ') + 1))
                .filter(call -> tasks.contains(call.substring(0, call.indexOf('/'))))
                .collect(Collectors.groupingBy(call -> call, Collectors.counting()));
    }
}
