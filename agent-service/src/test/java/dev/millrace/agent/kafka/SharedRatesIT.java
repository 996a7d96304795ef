package dev.millrace.agent.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCall;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.RateLimiter;
import dev.millrace.llm.config.LanguageModels;
import dev.millrace.llm.config.LlmSettings;
import dev.millrace.llm.config.LlmSettings.Budget;
import dev.millrace.llm.config.LlmSettings.Endpoint;
import dev.millrace.llm.config.LlmSettings.Kind;
import dev.millrace.llm.config.LlmSettings.NamedModel;
import dev.millrace.llm.config.LlmSettings.Scripted;
import dev.millrace.llm.rates.RateLimit;
import dev.millrace.llm.remote.RemoteSettings.Timeouts;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.TestBroker;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The limits of a key, kept by several instances over a real broker. */
@RequiresBroker
@Timeout(60)
class SharedRatesIT {

    private static final int REQUESTS = 20;
    private static final Duration WINDOW = Duration.ofSeconds(2);

    private String bootstrapServers = "";
    private Topics topics = new Topics("");

    @BeforeEach
    void prepare(TestBroker broker) {
        topics = broker.createTopics();
        bootstrapServers = broker.bootstrapServers();
    }

    private static RateLimit limit(@Nullable Long tokens) {
        return new RateLimit("stub", REQUESTS, tokens, WINDOW, WINDOW);
    }

    private SharedRates rates(RateLimit limit) {
        SharedRates rates =
                new SharedRates(Map.of("bootstrap.servers", bootstrapServers), topics.rates(), Map.of("stub", limit));
        rates.start();
        return rates;
    }

    private static LanguageModel model(URI model) {
        NamedModel stub = new NamedModel(
                Kind.OPENAI,
                new Endpoint("m", model, null, null, "stub"),
                Timeouts.DEFAULTS,
                Budget.DEFAULTS,
                null,
                null,
                Scripted.DEFAULTS,
                null);
        return LanguageModels.fromEnvironment(
                new LlmSettings(
                        null,
                        Map.of("stub", stub),
                        Scripted.DEFAULTS,
                        DispatcherLimits.DEFAULTS,
                        Map.of("stub", limit(null))),
                Map.of());
    }

    /** An instance as far as model calls go. */
    private final class Instance implements AutoCloseable {

        final AtomicInteger ended = new AtomicInteger();
        final SharedRates rates = rates(limit(null));
        final ModelDispatcher dispatcher;

        Instance(URI model, String name) {
            dispatcher = new ModelDispatcher(model(model), DispatcherLimits.DEFAULTS, rates);
            for (int i = 0; i < 100; i++) {
                String callId = name + i;
                dispatcher.submit(new ModelCall(
                        callId,
                        200,
                        i,
                        () -> new ModelRequest(callId, null, List.of(new ChatMessage.UserMessage("hello")), List.of()),
                        outcome -> ended.incrementAndGet()));
            }
        }

        @Override
        public void close() {
            dispatcher.close();
            rates.close();
        }
    }

    @Test
    @DisplayName("no sliding window sees more than the limit, with three instances of which one joins and one dies")
    void shouldKeepToTheLimitTogether() throws Exception {
        warmUp();
        ConcurrentLinkedQueue<Long> asked = new ConcurrentLinkedQueue<>();
        try (StubModelServer stub = StubModelServer.start(request -> {
                    asked.add(System.nanoTime());
                    return StubModelServer.Answer.text("hello");
                });
                Instance second = new Instance(stub.baseUrl(), "second")) {
            // when
            Instance third;
            try (Instance first = new Instance(stub.baseUrl(), "first")) {
                assertThat(stub.awaitCalls(REQUESTS, Duration.ofSeconds(20))).isTrue();
                third = new Instance(stub.baseUrl(), "third");
                assertThat(stub.awaitCalls(REQUESTS + REQUESTS / 2, Duration.ofSeconds(20)))
                        .isTrue();
                assertThat(first.ended.get() + second.ended.get()).isPositive();
            }
            try (third) {
                assertThat(stub.awaitCalls(3 * REQUESTS, Duration.ofSeconds(20)))
                        .isTrue();
                assertThat(third.ended).hasPositiveValue();
                assertThat(second.rates.used("stub").requests()).isLessThanOrEqualTo(REQUESTS + 6);
            }
        }

        // then
        List<Long> times = new ArrayList<>(asked);
        times.sort(null);
        for (int i = REQUESTS; i < times.size(); i++) {
            assertThat(times.get(i) - times.get(i - REQUESTS)).isGreaterThanOrEqualTo(WINDOW.toNanos());
        }
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
            var unused = model(stub.baseUrl())
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
        try (SharedRates rates = rates(limit(1_000L))) {
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
        try (SharedRates after = rates(limit(1_000L))) {
            assertThat(granted(after, 400).tokens()).isEqualTo(400);
            assertThat(after.ask("stub", 400)).isInstanceOf(RateLimiter.Refused.class);
        }
    }

    @Test
    @DisplayName(
            "an instance that starts knows what was asked before; tokens count as used; what is given back is free")
    void shouldKnowWhatWasAskedBefore() throws Exception {
        try (SharedRates before = rates(limit(1_000L))) {
            before.settle(granted(before, 900), 700);
        }
        try (SharedRates after = rates(limit(1_000L))) {
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
