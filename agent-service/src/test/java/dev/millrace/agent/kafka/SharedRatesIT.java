package dev.millrace.agent.kafka;

import static dev.millrace.agent.kafka.RatedInstance.MARGIN;
import static dev.millrace.agent.kafka.RatedInstance.REQUESTS;
import static dev.millrace.agent.kafka.RatedInstance.WINDOW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.RateLimiter;
import dev.millrace.llm.rates.RateLimit;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The limits of a key, kept by several instances over a real broker. */
@RequiresBroker
@Timeout(60)
class SharedRatesIT {

    private String bootstrapServers = "";
    private Topics topics = new Topics("");

    @BeforeEach
    void prepare(TestBroker broker) {
        topics = broker.createTopics();
        bootstrapServers = broker.bootstrapServers();
    }

    private SharedRates rates(RateLimit limit) {
        SharedRates rates = new SharedRates(ClientSettings.at(bootstrapServers), topics.rates(), Map.of("stub", limit));
        rates.start();
        return rates;
    }

    @Test
    @DisplayName(
            "no sliding window sees more than the limit, with three instances of which one joins and one is killed in"
                    + " the middle of its requests")
    void shouldKeepToTheLimitTogether(@TempDir Path folder) throws Exception {
        warmUp();
        Map<String, Queue<Long>> asked = new ConcurrentHashMap<>();
        try (StubModelServer stub = StubModelServer.start(request -> {
            long now = System.currentTimeMillis();
            asked.computeIfAbsent(request.last("user"), name -> new ConcurrentLinkedQueue<>())
                    .add(now);
            return StubModelServer.Answer.text("hello").after(Duration.ofMillis(100));
        })) {
            try (ServiceProcess first =
                            RatedInstance.process(folder, bootstrapServers, topics.rates(), stub.baseUrl(), "first");
                    RatedInstance second = instance(stub, "second")) {
                assertThat(stub.awaitCalls(REQUESTS, Duration.ofSeconds(20))).isTrue();
                await().atMost(Duration.ofSeconds(20)).until(() -> asked.containsKey("first"));
                try (RatedInstance third = instance(stub, "third")) {
                    int before = stub.calls();
                    assertThat(stub.awaitCalls(before + REQUESTS / 2, Duration.ofSeconds(20)))
                            .isTrue();

                    // when
                    first.kill();
                    int atTheKill = stub.calls();

                    // then
                    assertThat(stub.awaitCalls(atTheKill + 2 * REQUESTS, Duration.ofSeconds(20)))
                            .as("the others go on")
                            .isTrue();
                    assertThat(second.ended).hasPositiveValue();
                    assertThat(third.ended).hasPositiveValue();
                    assertThat(second.rates.used("stub").requests()).isLessThanOrEqualTo(REQUESTS + 6);
                }
            }
        }
        List<Long> arrivals =
                asked.values().stream().flatMap(Queue::stream).sorted().toList();
        assertThat(spans(arrivals))
                .as("ms between a request and the %dth after it, at the provider", REQUESTS)
                .allSatisfy(span -> assertThat(span).isGreaterThanOrEqualTo(WINDOW.toMillis()));
        Claims claims = claims();
        assertThat(spans(claims.used()))
                .as("the same for their claims, by the broker's clock")
                .allSatisfy(span -> assertThat(span)
                        .isGreaterThanOrEqualTo(WINDOW.plus(MARGIN).toMillis()));
        assertThat(claims.kept()).as("a claim for each request").hasSizeGreaterThanOrEqualTo(arrivals.size());
        for (int i = 0; i < arrivals.size(); i++) {
            assertThat(arrivals.get(i))
                    .as("request %d, after its claim", i)
                    .isGreaterThanOrEqualTo(claims.kept().get(i));
        }
    }

    private RatedInstance instance(StubModelServer stub, String name) {
        return new RatedInstance(bootstrapServers, topics.rates(), stub.baseUrl(), name);
    }

    /** How long after each the one comes that must not be in its window any more. */
    private static List<Long> spans(List<Long> times) {
        return IntStream.range(REQUESTS, times.size())
                .mapToObj(i -> times.get(i) - times.get(i - REQUESTS))
                .toList();
    }

    /**
     * When claims were written that nobody released.
     *
     * @param used without the last ones of each instance, about which it may not have decided when it ended
     */
    private record Claims(List<Long> kept, List<Long> used) {}

    private Claims claims() throws Exception {
        Map<String, Long> kept = new LinkedHashMap<>();
        Map<String, String> last = new HashMap<>();
        try (TopicReader reader = TestBroker.shared().read(topics.rates())) {
            String end = "end";
            TestBroker.shared().produceRaw(topics.rates(), "stub", Map.of(), end.getBytes(StandardCharsets.UTF_8));
            for (var written : reader.until(
                    all -> !all.isEmpty() && end.equals(new String(all.getLast().value(), StandardCharsets.UTF_8)),
                    Duration.ofSeconds(20))) {
                if (end.equals(new String(written.value(), StandardCharsets.UTF_8))) {
                    continue;
                }
                Map<String, @Nullable Object> entry = Json.readObject(written.value());
                String claim = String.valueOf(entry.get("claim"));
                switch (String.valueOf(entry.get("op"))) {
                    case "CLAIM" -> {
                        kept.put(claim, written.timestamp());
                        last.put(claim.substring(0, claim.lastIndexOf('-')), claim);
                    }
                    case "RELEASE" -> kept.remove(claim);
                    default -> {}
                }
            }
        }
        List<Long> all = List.copyOf(kept.values());
        kept.keySet().removeAll(last.values());
        return new Claims(all, List.copyOf(kept.values()));
    }

    /** A slow machine may make a claim too old to be used; then it is asked again. */
    private static RateLimiter.Granted granted(SharedRates rates, long tokens) throws Exception {
        for (int i = 0; i < 20; i++) {
            if (rates.ask("stub", tokens) instanceof RateLimiter.Granted granted) {
                return granted;
            }
        }
        throw new AssertionError("nothing granted");
    }

    /** So that the first requests are not late because their classes are still being loaded. */
    private static void warmUp() throws Exception {
        try (StubModelServer stub = StubModelServer.start(request -> StubModelServer.Answer.text("hello"))) {
            var unused = RatedInstance.model(stub.baseUrl())
                    .chat(new ModelRequest("warm", null, List.of(new ChatMessage.UserMessage("hello")), List.of()));
        }
    }

    @Test
    @DisplayName("M6: what is no claim stops nobody, now or after a restart; no claim makes room")
    void shouldReadOverWhatIsNoClaim(TestBroker broker) throws Exception {
        // given
        List<String> odd = List.of(
                "null",
                "{}",
                "[]",
                "7",
                "nonsense",
                "{\"op\":\"CLAIM\"}",
                "{\"op\":\"SELL\",\"claim\":\"x\",\"tokens\":1}",
                "{\"op\":\"CLAIM\",\"claim\":\"\",\"tokens\":1}",
                "{\"op\":\"CLAIM\",\"claim\":\"x\",\"tokens\":-1000000}",
                "{\"op\":\"CLAIM\",\"claim\":\"x\",\"tokens\":1e400}",
                "{\"op\":\"CLAIM\",\"claim\":\"x\",\"tokens\":9223372036854775807}",
                "{\"op\":\"SETTLE\",\"claim\":null,\"tokens\":1}",
                "{\"op\":\"CLAIM\",\"claim\":\"" + "x".repeat(1_000_000) + "\",\"tokens\":1}");
        try (SharedRates rates = rates(RatedInstance.limit(1_000L))) {
            // when
            odd.forEach(value ->
                    broker.produceRaw(topics.rates(), "stub", Map.of(), value.getBytes(StandardCharsets.UTF_8)));
            broker.produceRaw(topics.rates(), null, Map.of(), "{}".getBytes(StandardCharsets.UTF_8));
            broker.produceRaw(topics.rates(), "\ud800 no such key", Map.of(), new byte[] {-1, -2});
            broker.produce(new ProducerRecord<>(topics.rates(), "stub".getBytes(StandardCharsets.UTF_8), null));

            // then
            assertThat(granted(rates, 400).tokens()).isEqualTo(400);
            assertThat(rates.reader().orElseThrow().skipped()).isEqualTo(odd.size());
            assertThat(rates.reader().orElseThrow().problem()).isEmpty();
        }
        try (SharedRates after = rates(RatedInstance.limit(1_000L))) {
            assertThat(granted(after, 400).tokens()).isEqualTo(400);
            assertThat(after.ask("stub", 400)).isInstanceOf(RateLimiter.Refused.class);
        }
    }

    @Test
    @DisplayName(
            "an instance that starts knows what was asked before; tokens count as used; what is given back is free")
    void shouldKnowWhatWasAskedBefore() throws Exception {
        try (SharedRates before = rates(RatedInstance.limit(1_000L))) {
            before.settle(granted(before, 900), 700);
        }
        try (SharedRates after = rates(RatedInstance.limit(1_000L))) {
            assertThat(after.ask("stub", 301))
                    .isInstanceOfSatisfying(
                            RateLimiter.Refused.class,
                            refused -> assertThat(refused.roomIn())
                                    .isBetween(Duration.ofMillis(1), WINDOW.multipliedBy(2)));
            RateLimiter.Granted rest = granted(after, 300);
            assertThat(after.used("stub").requests()).isEqualTo(2);
            assertThat(after.used("stub").tokens()).isEqualTo(1_000);
            after.release(rest);
            long[] nanos = new long[100];
            for (int i = 0; i < nanos.length; i++) {
                long start = System.nanoTime();
                if (after.ask("stub", 300) instanceof RateLimiter.Granted again) {
                    nanos[i] = System.nanoTime() - start;
                    after.release(again);
                }
            }
            java.util.Arrays.sort(nanos);
            System.getLogger("rates")
                    .log(
                            System.Logger.Level.INFO,
                            "a decision took p50 " + nanos[50] / 1_000 + " us, p99 " + nanos[98] / 1_000 + " us");
            assertThat(nanos[50]).isLessThan(Duration.ofSeconds(1).toNanos());
        }
    }
}
