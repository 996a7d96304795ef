package dev.millrace.bench;

import dev.millrace.bench.Fleet.Durability;
import dev.millrace.bench.Fleet.Mode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.KnownEventType;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import picocli.CommandLine.Option;

/**
 * Many items in the queue, and how soon a page of them and one of them are told over HTTP. The items are written into
 * the journal as the task machine would have it: of ten, four are open events that are done, two tasks stand in line,
 * two have failed and two were cancelled, in 1 000 sessions.
 */
final class QueueWorkload implements Workload {

    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);
    private static final Duration PROJECTION_LIMIT = Duration.ofMinutes(20);
    private static final int SESSIONS = 1_000;
    private static final int OK = 200;
    private static final int LAST = 50;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @Option(names = "--items", description = "Items in the queue.")
    private int items = 1_000_000;

    @Option(names = "--questions", description = "How often each kind of question is asked.")
    private int questions = 500;

    /** The row of the results; pages are of 50 items. */
    private record Row(
            int items,
            double fillSeconds,
            Latencies.Summary item,
            Latencies.Summary all,
            Latencies.Summary byStatus,
            Latencies.Summary bySession) {}

    @Override
    public String name() {
        return "queue";
    }

    @Override
    public String summary() {
        return "a million items: how soon one of them and a page of them are told";
    }

    @Override
    public void run(Report report) throws Exception {
        Path folder = Files.createTempDirectory("millrace-bench-");
        try {
            Path script = Files.writeString(folder.resolve("script.yaml"), "rules:\n  - text: \"done\"\n");
            try (Fleet fleet = Fleet.start(Mode.ONE, Durability.CACHE, folder.resolve("one"), script, List.of())) {
                long begun = System.nanoTime();
                fill(fleet, report);
                awaitLast(fleet.http(), report);
                double fillSeconds = Rounded.to(10, (System.nanoTime() - begun) / 1e9);
                report.progress("queue: filled after " + fillSeconds + " s, asking");
                Random random = new Random(7);
                List<String> statuses = List.of("pending", "completed", "failed", "cancelled");
                report.row(new Row(
                        items,
                        fillSeconds,
                        ask(fleet.http(), () -> "/v1/queue/" + id(random.nextInt(items))),
                        ask(fleet.http(), () -> "/v1/queue?limit=50"),
                        ask(fleet.http(), () -> "/v1/queue?limit=50&status=" + statuses.get(random.nextInt(4))),
                        ask(fleet.http(), () -> "/v1/sessions/s" + random.nextInt(SESSIONS) + "/queue?limit=50")));
            }
        } finally {
            client.close();
            Folders.delete(folder);
        }
    }

    private static String id(int number) {
        return "item-" + number;
    }

    private void fill(Fleet fleet, Report report) {
        Instant start = Instant.now();
        try (KafkaProducer<String, byte[]> producer = fleet.kafka()
                .with(Map.of("linger.ms", 20, "batch.size", 256_000))
                .producer()) {
            for (int i = 0; i < items; i++) {
                for (Event event : events(i, start)) {
                    Future<RecordMetadata> unused =
                            producer.send(EventCodec.toRecord(fleet.topics().journal(), event));
                }
                if (i % 100_000 == 0) {
                    report.progress("queue: " + i + " of " + items + " items written");
                }
            }
            producer.flush();
        }
    }

    /** What the journal has of an item. */
    private static List<Event> events(int number, Instant at) {
        boolean open = number % 10 < 4;
        Event first = Event.root(id(number), open ? EventType.of("order.placed") : KnownEventType.MESSAGE_RECEIVED, at)
                .source("bench")
                .taskId(open ? null : id(number))
                .sessionId("s" + number % SESSIONS)
                .payload(open ? Map.of("n", number) : Map.of("text", "What time is it?"))
                .build();
        List<Event> events = new ArrayList<>(List.of(first));
        if (number % 10 >= 8) {
            events.add(first.derive(KnownEventType.TASK_CANCELLED, 0, at)
                    .payload(Map.of("reason", "no longer wanted"))
                    .build());
        } else if (number % 10 >= 6) {
            events.add(first.derive(KnownEventType.TASK_FAILED, 0, at)
                    .payload(Map.of("error", "It broke.", "code", "llm_error"))
                    .build());
        }
        return events;
    }

    private void awaitLast(URI http, Report report) throws IOException, InterruptedException {
        long end = System.nanoTime() + PROJECTION_LIMIT.toNanos();
        for (int number = Math.max(0, items - LAST); number < items; number++) {
            while (get(http, "/v1/queue/" + id(number)) != OK) {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException("not all items are known after " + PROJECTION_LIMIT);
                }
                report.progress("queue: waiting until all are known");
                Thread.sleep(Duration.ofSeconds(1));
            }
        }
    }

    /** What is asked for next. */
    private interface Question {
        String path();
    }

    private Latencies.Summary ask(URI http, Question question) throws IOException, InterruptedException {
        for (int i = 0; i < LAST; i++) {
            requireAnswer(http, question.path());
        }
        Latencies latencies = new Latencies();
        for (int i = 0; i < questions; i++) {
            String path = question.path();
            long start = System.nanoTime();
            requireAnswer(http, path);
            latencies.note((System.nanoTime() - start) / 1e6);
        }
        return latencies.summary();
    }

    private void requireAnswer(URI http, String path) throws IOException, InterruptedException {
        int status = get(http, path);
        if (status != OK) {
            throw new IllegalStateException(path + ": expected 200, found " + status);
        }
    }

    private int get(URI http, String path) throws IOException, InterruptedException {
        return client.send(
                        HttpRequest.newBuilder(URI.create(http + path))
                                .timeout(ANSWER_LIMIT)
                                .build(),
                        BodyHandlers.ofByteArray())
                .statusCode();
    }
}
