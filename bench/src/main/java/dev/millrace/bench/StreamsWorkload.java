package dev.millrace.bench;

import dev.millrace.agent.config.AgentRuntime;
import dev.millrace.broker.EmbeddedBroker;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.Cluster;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.FactListener;
import dev.millrace.gateway.kafka.FactListener.Heard;
import dev.millrace.gateway.kafka.ForgottenTopic;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.kafka.MailboxBudget;
import dev.millrace.gateway.kafka.TailSettings;
import dev.millrace.kafka.TopicEnds;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelDelta;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.StreamListener;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.StreamType;
import dev.millrace.schemas.Topics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * How much later than the model somebody sees what it says, with many streams at a time: broker, machine and the
 * listening side of the gateway in one process. Each task has one model call, whose reply comes in pieces at a steady
 * rate, each piece the time when it was made. Time counts from the oldest piece of a batch to when its listener has the
 * batch, so gathering is part of it.
 */
final class StreamsWorkload implements Workload {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final int MEBIBYTE = 1 << 20;

    @Option(names = "--streams", description = "Streams at a time.")
    private int streams = 200;

    @Option(names = "--pieces", description = "Pieces of each.")
    private int pieces = 500;

    @Option(names = "--pause", description = "Milliseconds between two pieces.")
    private int pauseMs = 30;

    @Mixin
    private TriedSettings clients = new TriedSettings();

    /** The row of the results. */
    private record Row(
            int streams,
            int pieces,
            int pauseMs,
            int batches,
            double piecesPerBatch,
            Latencies.Summary latency,
            Latencies.Summary firstPiece,
            long heapBeforeMiB,
            long heapDuringMiB,
            long heapPerStreamKiB) {}

    @Override
    public String name() {
        return "streams";
    }

    @Override
    public String summary() {
        return "live text to many listeners at a time: how late, and how much memory";
    }

    @Override
    public void run(Report report) throws Exception {
        Path folder = Files.createTempDirectory("millrace-bench-");
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("kafka"), 0)) {
            KafkaClients kafka = KafkaClients.at(broker.bootstrapServers());
            // what has just been compiled is slow, and would be so for whoever comes first
            measure(kafka, folder, "warm.", new PacedModel(pieces / 5, pauseMs));
            long before = usedMemory();
            Measured measured = measure(kafka, folder, "run.", new PacedModel(pieces, pauseMs));
            report.row(new Row(
                    streams,
                    pieces,
                    pauseMs,
                    measured.batches().size(),
                    Rounded.to(
                            10, (double) streams * pieces / measured.batches().size()),
                    Latencies.of(measured.batches()).summary(),
                    Latencies.of(measured.first()).summary(),
                    before / MEBIBYTE,
                    measured.heap() / MEBIBYTE,
                    Math.max(0, measured.heap() - before) / 1024 / streams));
        } finally {
            Folders.delete(folder);
        }
    }

    /**
     * What came of it.
     *
     * @param batches milliseconds, one for each batch
     * @param first the same for the first batch of each stream
     * @param heap bytes in use half-way, after a collection
     */
    private record Measured(List<Double> batches, List<Double> first, long heap) {}

    private Measured measure(KafkaClients kafka, Path folder, String prefix, PacedModel model)
            throws InterruptedException, ExecutionException, BrokerUnavailableException {
        Topics topics = new Topics(prefix);
        TopicSetup.ensure(
                kafka.settings(),
                topics,
                new TopicSettings(BacklogWorkload.PARTITIONS, TopicSettings.BROKER_DEFAULT, true),
                PATIENCE);
        TailSettings tail = new TailSettings(
                BacklogWorkload.PARTITIONS, 4 * MEBIBYTE, Duration.ofSeconds(30), Duration.ofSeconds(10), 16);
        AgentRuntime machine = Machine.start(
                kafka.with(clients.settings()),
                topics,
                folder,
                true,
                new Machine.Load(
                        model,
                        streams,
                        new DispatcherLimits(
                                streams, 1, Duration.ofMinutes(5), Duration.ofMillis(500), Duration.ofSeconds(20))));
        MailboxBudget budget = new MailboxBudget(64L * MEBIBYTE);
        Cluster cluster = new Cluster(kafka.settings(), topics);
        ForgottenTopic forgotten = new ForgottenTopic(cluster);
        TopicEnds ends = new TopicEnds(kafka.settings(), "ends");
        JournalTail.Shared shared = new JournalTail.Shared(budget, forgotten, ends);
        try (forgotten;
                ends;
                JournalTail journal = new JournalTail(cluster, tail, shared);
                EventStreams live = new EventStreams(journal, JournalTail.ofTokens(cluster, tail, shared));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                KafkaProducer<String, byte[]> producer = kafka.producer()) {
            List<Future<List<Double>>> reading = new ArrayList<>();
            for (int i = 0; i < streams; i++) {
                Event task = Event.root("task-" + i, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                        .source("bench")
                        .payload(Map.of("text", "say something"))
                        .build();
                FactListener listener = live.listen(task, PATIENCE);
                reading.add(threads.submit(() -> read(listener)));
                producer.send(EventCodec.toRecord(topics.lane(task.lane()), task))
                        .get();
            }
            Thread.sleep(model.takes().dividedBy(2));
            long heap = usedMemory();
            List<Double> batches = new ArrayList<>();
            List<Double> first = new ArrayList<>();
            for (Future<List<Double>> one : reading) {
                List<Double> millis = one.get();
                first.add(millis.getFirst());
                batches.addAll(millis);
            }
            return new Measured(batches, first, heap);
        } finally {
            machine.close();
        }
    }

    /** How late each batch of one task came, in milliseconds. */
    private static List<Double> read(FactListener listener) throws InterruptedException, ListenerDroppedException {
        List<Double> millis = new ArrayList<>();
        try (listener) {
            while (true) {
                Heard heard = listener.next(PATIENCE);
                if (heard == null || heard.event().type() == KnownEventType.TASK_FAILED) {
                    throw new IllegalStateException("a stream came to no good end: " + heard);
                }
                if (heard.event().type() == KnownEventType.TASK_COMPLETED) {
                    return millis;
                }
                String delta = heard.event().text("delta");
                if (heard.event().type() == StreamType.TEXT && delta != null) {
                    millis.add((System.nanoTime() - Long.parseLong(delta.substring(0, delta.indexOf(' ')))) / 1e6);
                }
            }
        }
    }

    private static long usedMemory() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** Says what time it is, again and again. */
    record PacedModel(int pieces, int pauseMs) implements LanguageModel {

        /** For weeks, says nothing. */
        static final PacedModel SILENT = new PacedModel(1, Integer.MAX_VALUE);

        Duration takes() {
            return Duration.ofMillis((long) pieces * pauseMs);
        }

        @Override
        public ModelReply chat(ModelRequest request) throws ModelCallException {
            return stream(request, StreamListener.NONE);
        }

        @Override
        public ModelReply stream(ModelRequest request, StreamListener listener) throws ModelCallException {
            StringBuilder text = new StringBuilder();
            try {
                for (int i = 0; i < pieces; i++) {
                    Thread.sleep(pauseMs);
                    String piece = System.nanoTime() + " ";
                    text.append(piece);
                    listener.onDelta(new ModelDelta.Text(piece));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ModelCallException(ModelErrorCode.CANCELLED, "interrupted");
            }
            return new ModelReply(
                    text.toString(), null, List.of(), FinishReason.STOP, new ModelReply.Usage(1, pieces), name());
        }

        @Override
        public String name() {
            return "paced";
        }

        @Override
        public String description() {
            return "says what time it is";
        }
    }
}
