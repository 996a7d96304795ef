package dev.millrace.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.bench.Fleet.Durability;
import dev.millrace.bench.Fleet.Mode;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
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
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import picocli.CommandLine.Option;

/**
 * Many items in the queue, and how soon a page of them and one of them are told over HTTP. The items are written into
 * the journal as the task machine would have it: of ten, four are open events that are done, one task stands in line
 * and one works, two have failed and two were cancelled, in 1 000 sessions; beside them one dead letter for each
 * hundred.
 */
final class QueueWorkload implements Workload {

    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);
    private static final Duration PROJECTION_LIMIT = Duration.ofMinutes(20);
    private static final int SESSIONS = 1_000;
    private static final int OK = 200;
    private static final int LAST = 50;
    private static final int LARGEST_PAGE = 200;
    private static final int ITEMS_PER_DEAD_LETTER = 100;

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
            Latencies.Summary processing,
            Latencies.Summary deadLetters,
            Latencies.Summary bySession,
            Latencies.Summary bySessionAndStatus,
            Latencies.Summary nextOfSession,
            Latencies.Summary deepPage) {}

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
                String middle = cursor(fleet.http(), items / 2);
                report.row(new Row(
                        items,
                        fillSeconds,
                        ask(fleet.http(), () -> "/v1/queue/" + id(random.nextInt(items))),
                        ask(fleet.http(), () -> "/v1/queue?limit=50"),
                        ask(fleet.http(), () -> "/v1/queue?limit=50&status=" + statuses.get(random.nextInt(4))),
                        ask(fleet.http(), () -> "/v1/queue?limit=50&status=processing"),
                        ask(fleet.http(), () -> "/v1/queue?limit=50&status=dead_letter"),
                        ask(fleet.http(), () -> session(random) + "limit=50"),
                        ask(fleet.http(), () -> session(random) + "limit=50&status=" + statuses.get(random.nextInt(4))),
                        ask(fleet.http(), () -> session(random) + "limit=50&order=work"),
                        ask(fleet.http(), () -> "/v1/queue?limit=50&cursor=" + middle)));
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
                if (i % ITEMS_PER_DEAD_LETTER == 0) {
                    Future<RecordMetadata> unused = producer.send(deadLetter(fleet, i, start));
                }
                if (i % 100_000 == 0) {
                    report.progress("queue: " + i + " of " + items + " items written");
                }
            }
            producer.flush();
        }
    }

    /** One that was not taken. */
    private static ProducerRecord<String, byte[]> deadLetter(Fleet fleet, int number, Instant at) {
        Event event = Event.root("dead-" + number, KnownEventType.MESSAGE_RECEIVED, at)
                .source("bench")
                .sessionId("s" + number % SESSIONS)
                .payload(Map.of("text", " "))
                .build();
        ProducerRecord<String, byte[]> sent = EventCodec.toRecord(fleet.topics().lane(event.lane()), event);
        return new ProducerRecord<>(
                fleet.topics().deadLetters(),
                null,
                sent.key(),
                sent.value(),
                DeadLetters.headers(
                        sent.headers(), new DeadLetters.Origin(sent.topic(), 0, number, 0), "no_text", null));
    }

    /** The queue of one of the sessions. */
    private static String session(Random random) {
        return "/v1/sessions/s" + random.nextInt(SESSIONS) + "/queue?";
    }

    /** Of the page that begins behind so many items. */
    private String cursor(URI http, int depth) throws IOException, InterruptedException {
        String cursor = "";
        for (int passed = 0; passed < depth; passed += LARGEST_PAGE) {
            String path = "/v1/queue?limit=" + LARGEST_PAGE + (cursor.isEmpty() ? "" : "&cursor=" + cursor);
            JsonNode page = Json.MAPPER.readTree(
                    client.send(request(http, path), BodyHandlers.ofByteArray()).body());
            if (!page.hasNonNull("next")) {
                throw new IllegalStateException(path + ": expected a next page, found the last one");
            }
            cursor = URLEncoder.encode(page.path("next").asText(), StandardCharsets.UTF_8);
        }
        return cursor;
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
        if (number % 10 == 5) {
            events.add(first.derive(KnownEventType.TASK_STATE_CHANGED, 0, at)
                    .payload(Map.of(
                            "fromState",
                            "idle",
                            "toState",
                            "reasoning",
                            "triggerEventType",
                            "MESSAGE_RECEIVED",
                            "triggerEventId",
                            first.id()))
                    .build());
        } else if (number % 10 >= 8) {
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
        return client.send(request(http, path), BodyHandlers.ofByteArray()).statusCode();
    }

    private static HttpRequest request(URI http, String path) {
        return HttpRequest.newBuilder(URI.create(http + path))
                .timeout(ANSWER_LIMIT)
                .build();
    }
}
