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
import picocli.CommandLine.Option;

/**
 * Broker and services are killed with SIGKILL while tasks are in flight, and started again: how long from that start
 * until all of the tasks have completed, and which model calls were made a second time.
 */
final class RecoveryWorkload implements Workload {

    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration POLL = Duration.ofMillis(100);

    @Option(names = "--tasks", description = "In flight when everything is killed.")
    private int taskCount = 100;

    @Option(names = "--model-ms", description = "How long a model call takes, in milliseconds.")
    private int modelMs = 500;

    @Option(names = "--rounds", description = "How often everything is killed.")
    private int rounds = 3;

    @Option(names = "--mode", description = "One process as `up` has, services, or both.")
    private FleetOptions.Modes modes = FleetOptions.Modes.BOTH;

    /** A row of the results. */
    private record Row(
            String mode,
            int round,
            int tasks,
            int modelMs,
            int completed,
            long readyMs,
            long firstDoneMs,
            long allDoneMs,
            int modelCalls,
            long modelCallsRepeated) {}

    @Override
    public String name() {
        return "recovery";
    }

    @Override
    public String summary() {
        return "kill -9 of broker and services with tasks in flight, until all of those have completed";
    }

    @Override
    public void run(Report report) throws Exception {
        for (Fleet.Mode mode : modes.each()) {
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
                    """.formatted(modelMs, calls));
            // tables and code are cold at first, as they are when Millrace has just been installed
            Fleet fleet = Fleet.start(mode, Fleet.Durability.CACHE, folder, script, List.of());
            for (int round = 1; round <= rounds; round++) {
                report.progress("recovery: " + mode.wireName() + ", round " + round);
                List<String> tasks = submit(fleet, taskCount);
                awaitFirstCalls(calls, tasks.size());
                fleet.kill();
                Instant begun = Instant.now();
                fleet = Fleet.start(mode, Fleet.Durability.CACHE, folder, script, List.of());
                Duration ready = Duration.between(begun, Instant.now());
                Map<String, Instant> completed = completed(fleet, tasks);
                Map<String, Long> made = made(calls, tasks);
                report.row(new Row(
                        mode.wireName(),
                        round,
                        tasks.size(),
                        modelMs,
                        completed.size(),
                        ready.toMillis(),
                        sinceStart(begun, completed, 0),
                        sinceStart(begun, completed, completed.size() - 1),
                        made.size(),
                        made.values().stream().mapToLong(times -> times - 1).sum()));
                Files.delete(calls);
            }
            fleet.close();
            Folders.delete(folder);
        }
    }

    /** Straight on the lane, each a conversation of its own. */
    private static List<String> submit(Fleet fleet, int count) throws InterruptedException, ExecutionException {
        List<String> ids = new ArrayList<>();
        try (KafkaProducer<String, byte[]> producer = fleet.kafka().producer()) {
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
        Map<String, Instant> completed = new HashMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer = fleet.kafka()
                .with(Map.of("isolation.level", "read_committed"))
                .reader(fleet.topics().journal())) {
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
