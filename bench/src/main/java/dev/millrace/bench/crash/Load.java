package dev.millrace.bench.crash;

import dev.millrace.bench.KafkaClients;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.utils.Utils;

/**
 * People who talk to Millrace: each has two tasks in flight in a conversation of its own, and goes on to a new one now
 * and then; every other conversation goes through the gateway, the rest straight on a lane. What is not acknowledged is
 * sent again with the same id until it is, so that the order of a conversation is the order in which its tasks were
 * sent.
 */
final class Load implements AutoCloseable {

    private static final int IN_FLIGHT = 2;
    private static final int TASKS_PER_SESSION = 40;
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(8);
    private static final Duration RETRY_PAUSE = Duration.ofMillis(200);
    private static final Duration POLL = Duration.ofMillis(20);

    private final Settings settings;
    private final Ledger ledger;
    private final Findings findings;
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(2))
            .build();
    private final KafkaProducer<String, byte[]> producer;
    private final List<Thread> people = new ArrayList<>();
    private volatile boolean over;

    /**
     * Where to send what.
     *
     * @param tasks in flight at a time
     */
    record Settings(String bootstrapServers, Topics topics, int partitions, URI gateway, int tasks, long seed) {}

    Load(Settings settings, Ledger ledger, Findings findings) {
        this.settings = settings;
        this.ledger = ledger;
        this.findings = findings;
        this.producer = KafkaClients.at(settings.bootstrapServers())
                .with(Map.of(
                        "request.timeout.ms", 3_000,
                        "delivery.timeout.ms", (int) ANSWER_LIMIT.toMillis(),
                        "max.block.ms", ANSWER_LIMIT.toMillis(),
                        "reconnect.backoff.max.ms", 200,
                        "linger.ms", 0))
                .producer();
    }

    /** Begins. Once. */
    void start() {
        for (int person = 0; person < Math.max(1, settings.tasks() / IN_FLIGHT); person++) {
            int number = person;
            people.add(Thread.ofVirtual().name("person-" + person).start(() -> talk(number)));
        }
    }

    /** Sends nothing new from here on, and returns when what is being sent is acknowledged. */
    @Override
    public void close() {
        over = true;
        try {
            for (Thread person : people) {
                person.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        producer.close(Duration.ZERO);
        http.shutdownNow();
    }

    private void talk(int person) {
        Random random = new Random(settings.seed() * 31 + person);
        Deque<Ledger.Task> inFlight = new ArrayDeque<>();
        try {
            for (int round = 0; !over; round++) {
                String session = session(person, round);
                for (int number = 0; number < TASKS_PER_SESSION && !over; number++) {
                    inFlight.add(submit(session, number, (person + round) % 2 == 1));
                    awaitRoom(inFlight);
                    Thread.sleep(random.nextInt(1_000));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            findings.add("a task that can be submitted", e.toString());
        }
    }

    /** A name whose key lies on a partition that differs from person to person, so that every partition has some. */
    private String session(int person, int round) {
        for (int attempt = 0; ; attempt++) {
            String name = "p" + person + "-" + round + "-" + attempt;
            byte[] key = Event.qualified(name, name).getBytes(StandardCharsets.UTF_8);
            if (Utils.toPositive(Utils.murmur2(key)) % settings.partitions() == person % settings.partitions()) {
                return name;
            }
        }
    }

    private void awaitRoom(Deque<Ledger.Task> inFlight) throws InterruptedException {
        while (!over && inFlight.size() >= IN_FLIGHT) {
            inFlight.removeIf(ledger::hasEnded);
            Thread.sleep(POLL);
        }
    }

    private Ledger.Task submit(String session, int number, boolean straight) throws InterruptedException {
        String id = session + "." + number;
        while (true) {
            if (straight ? produce(id, session) : post(id, session)) {
                return ledger.accepted(id, session);
            }
            Thread.sleep(RETRY_PAUSE);
        }
    }

    private boolean produce(String id, String session) throws InterruptedException {
        Event event = Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                .source("crash")
                .namespace(session)
                .sessionId(session)
                .payload(Map.of("text", text(id)))
                .build();
        try {
            producer.send(EventCodec.toRecord(settings.topics().lane(event.lane()), event))
                    .get();
            return true;
        } catch (ExecutionException e) {
            return false;
        }
    }

    private boolean post(String id, String session) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(settings.gateway().resolve("/v1/tasks"))
                .timeout(ANSWER_LIMIT)
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", id)
                .POST(BodyPublishers.ofByteArray(
                        Json.write(Map.of("text", text(id), "sessionId", session, "namespace", session))))
                .build();
        try {
            HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
            if (answer.statusCode() / 100 == 4) {
                findings.add("202, 5xx or no answer to task " + id, answer.statusCode() + " " + answer.body());
            }
            return answer.statusCode() == 202;
        } catch (IOException e) {
            return false;
        }
    }

    private static String text(String id) {
        return "effect " + id;
    }
}
