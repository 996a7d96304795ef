package dev.millrace.bench;

import dev.millrace.agent.config.AgentRuntime;
import dev.millrace.broker.EmbeddedBroker;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * How long a system event and a cancel take behind a backlog in the low lanes, with priorities and without, in one run.
 * The backlog is events that the machine records in the journal, half of them on the lane of tools, half on the
 * cognitive one. While it is worked off, system events are sent all the time, and tasks are cancelled that wait for a
 * model which never answers. Time counts from before an event is sent to when a reader of committed records sees what
 * became of it.
 */
final class BacklogWorkload implements Workload {

    /** As in {@code ./millrace up}. */
    static final int PARTITIONS = 2;

    private static final EventType NOISE = EventType.of("bench.noise");
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final Duration BETWEEN_SAMPLES = Duration.ofMillis(50);
    private static final int SAMPLES_PER_CANCEL = 5;

    @Option(names = "--records", description = "Events in the low lanes.")
    private int records = 200_000;

    @Option(names = "--tasks", description = "Tasks that are cancelled meanwhile.")
    private int cancelled = 40;

    @Mixin
    private TriedSettings clients = new TriedSettings();

    /** The row of the results. */
    private record Row(
            int records,
            int partitions,
            Map<String, String> kafka,
            Outcome withPriority,
            Outcome withoutPriority,
            double systemEventRatioP50,
            double cancelRatioP50) {}

    /** Of one mode. */
    private record Outcome(Latencies.Summary systemEvent, Latencies.Summary cancel, long backlogRecordsPerSecond) {}

    @Override
    public String name() {
        return "backlog";
    }

    @Override
    public String summary() {
        return "a system event and a cancel behind a backlog in the low lanes, with priorities and without";
    }

    @Override
    public void run(Report report) throws Exception {
        List<String> names =
                IntStream.range(0, cancelled).mapToObj(i -> "task-" + i).toList();
        Path folder = Files.createTempDirectory("millrace-bench-");
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("kafka"), 0)) {
            KafkaClients kafka = KafkaClients.at(broker.bootstrapServers()).with(clients.settings());
            // what has just been compiled is slow, and would be so for whoever comes first
            new Mode(new Topics("warm."), kafka, folder, records / 10, names, false).measure();
            report.progress("backlog: with priorities");
            Measured with = new Mode(new Topics("with."), kafka, folder, records, names, true).measure();
            report.progress("backlog: without priorities");
            Measured without = new Mode(new Topics("without."), kafka, folder, records, names, false).measure();
            report.row(new Row(
                    records,
                    PARTITIONS,
                    clients.settings(),
                    with.outcome(),
                    without.outcome(),
                    ratio(without.systemEvents(), with.systemEvents()),
                    ratio(without.cancels(), with.cancels())));
        } finally {
            Folders.delete(folder);
        }
    }

    private static double ratio(Latencies slow, Latencies fast) {
        return Rounded.to(10, slow.percentile(0.5) / fast.percentile(0.5));
    }

    /** What came out of one mode. */
    private record Measured(Latencies systemEvents, Latencies cancels, double drainedPerSecond) {
        Outcome outcome() {
            return new Outcome(systemEvents.summary(), cancels.summary(), Math.round(drainedPerSecond));
        }
    }

    /** One mode: its own topics, its own state. */
    private record Mode(
            Topics topics, KafkaClients kafka, Path folder, int records, List<String> tasks, boolean priority) {

        Measured measure() throws InterruptedException, ExecutionException {
            TopicSetup.ensure(
                    kafka.settings(),
                    topics,
                    new TopicSettings(PARTITIONS, TopicSettings.BROKER_DEFAULT, true),
                    PATIENCE);
            try (KafkaProducer<String, byte[]> producer = kafka.producer();
                    JournalWatch journal = new JournalWatch(kafka, topics.journal(), NOISE.wireName())) {
                startTasks(producer, journal);
                produceBacklog(producer);
                AgentRuntime machine = startMachine();
                try {
                    return sample(producer, journal);
                } finally {
                    machine.close();
                }
            }
        }

        private void startTasks(KafkaProducer<String, byte[]> producer, JournalWatch journal)
                throws InterruptedException, ExecutionException {
            AgentRuntime machine = startMachine();
            try {
                for (String task : tasks) {
                    send(
                            producer,
                            Event.root(task, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                                    .source("bench")
                                    .payload(Map.of("text", "wait for a model that never answers"))
                                    .build());
                }
                await(() -> tasks.stream().allMatch(task -> journal.seenAt("event " + task) != null));
            } finally {
                machine.close();
            }
        }

        private AgentRuntime startMachine() throws InterruptedException {
            return Machine.start(kafka, topics, folder, StreamsWorkload.PacedModel.SILENT, priority);
        }

        private void produceBacklog(KafkaProducer<String, byte[]> producer)
                throws InterruptedException, ExecutionException {
            List<Future<RecordMetadata>> sent = new ArrayList<>(records);
            for (int i = 0; i < records; i++) {
                Segment lane = i % 2 == 0 ? Segment.TOOL : Segment.COGNITIVE;
                Event event = Event.root("noise-" + i, NOISE, Instant.now())
                        .source("bench")
                        .priority(lane.firstCode() + 10)
                        .payload(Map.of("n", i, "text", "some words that stand for the result of a tool"))
                        .build();
                sent.add(producer.send(EventCodec.toRecord(topics.lane(lane), event)));
            }
            for (Future<RecordMetadata> one : sent) {
                one.get();
            }
        }

        private Measured sample(KafkaProducer<String, byte[]> producer, JournalWatch journal)
                throws InterruptedException, ExecutionException {
            await(() -> journal.noise() > 0);
            long begun = System.nanoTime();
            long before = journal.noise();
            Map<String, Long> systemEvents = new LinkedHashMap<>();
            Map<String, Long> cancels = new LinkedHashMap<>();
            for (int i = 0; journal.noise() < records; i++) {
                String id = "heartbeat-" + i;
                systemEvents.put("event " + id, System.nanoTime());
                send(
                        producer,
                        Event.root(id, KnownEventType.HEARTBEAT, Instant.now())
                                .source("bench")
                                .payload(Map.of("instance", "bench"))
                                .build());
                if (i % SAMPLES_PER_CANCEL == 0 && cancels.size() < tasks.size()) {
                    String task = tasks.get(cancels.size());
                    cancels.put(task, System.nanoTime());
                    send(
                            producer,
                            Event.root("cancel-" + task, KnownEventType.TASK_CANCEL_REQUESTED, Instant.now())
                                    .taskId(task)
                                    .source("bench")
                                    .build());
                }
                Thread.sleep(BETWEEN_SAMPLES);
            }
            double seconds = (System.nanoTime() - begun) / 1e9;
            return new Measured(
                    latencies(systemEvents, journal), latencies(cancels, journal), (records - before) / seconds);
        }

        private static Latencies latencies(Map<String, Long> sentAt, JournalWatch journal) throws InterruptedException {
            await(() -> sentAt.keySet().stream().allMatch(id -> journal.seenAt(id) != null));
            Latencies latencies = new Latencies();
            sentAt.forEach((id, at) -> {
                Long seen = journal.seenAt(id);
                if (seen != null) {
                    latencies.note((seen - at) / 1e6);
                }
            });
            return latencies;
        }

        private void send(KafkaProducer<String, byte[]> producer, Event event)
                throws InterruptedException, ExecutionException {
            producer.send(EventCodec.toRecord(topics.lane(event.lane()), event)).get();
        }

        private static void await(BooleanSupplier condition) throws InterruptedException {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (!condition.getAsBoolean()) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException("nothing came of it within " + PATIENCE);
                }
                Thread.sleep(1);
            }
        }
    }
}
