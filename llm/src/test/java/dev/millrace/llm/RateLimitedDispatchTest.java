package dev.millrace.llm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.llm.rates.RateLimit;
import dev.millrace.llm.rates.RateWindow;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls and the keys that they are made with; the models a and b are asked with the keys of these names. */
@Timeout(30)
class RateLimitedDispatchTest {

    private static final DispatcherLimits LIMITS =
            new DispatcherLimits(2, 3, Duration.ofMinutes(3), Duration.ofMillis(500), Duration.ofSeconds(20));

    private record Ended(String callId, ModelOutcome outcome) {}

    private final ManualClock clock = new ManualClock();
    private final BlockingQueue<Ended> ended = new LinkedBlockingQueue<>();
    private final Models models = new Models();
    private final OneProcess rates = new OneProcess();

    /** Answers at once, or as a call's plan says. */
    private static final class Models implements LanguageModel {

        final BlockingQueue<String> asked = new LinkedBlockingQueue<>();
        final Map<String, Queue<ModelCallException>> failures = new ConcurrentHashMap<>();

        @Nullable
        volatile Duration nextRequestIn;

        @Nullable
        volatile String fallback;

        @Override
        public ModelReply chat(ModelRequest request) throws ModelCallException {
            asked.add(request.callId());
            Queue<ModelCallException> planned = failures.get(request.callId());
            ModelCallException failure = planned == null ? null : planned.poll();
            if (failure != null) {
                throw failure;
            }
            return GatedModel.reply(String.valueOf(request.model()))
                    .using(new ModelReply.Usage(100, 20))
                    .beforeNext(nextRequestIn);
        }

        @Override
        public @Nullable String keyFor(@Nullable String model) {
            return model;
        }

        @Override
        public @Nullable String fallbackFor(@Nullable String model) {
            return "a".equals(model) ? fallback : null;
        }

        @Override
        public String name() {
            return "models";
        }

        @Override
        public String description() {
            return "models with keys";
        }
    }

    /** The limits of a process that is alone, on the test's clock. */
    private final class OneProcess implements RateLimiter {

        private final Map<String, RateLimit> limits = new ConcurrentHashMap<>();
        private final Map<String, RateWindow> windows = new ConcurrentHashMap<>();
        private int claims;

        void limit(String key, @Nullable Integer requests, @Nullable Long tokens) {
            RateLimit limit = new RateLimit(key, requests, tokens, Duration.ofSeconds(58), Duration.ofSeconds(2));
            limits.put(key, limit);
            windows.put(key, new RateWindow(limit));
        }

        private long nowMs() {
            return TimeUnit.NANOSECONDS.toMillis(clock.nanoTime());
        }

        private RateWindow window(String key) {
            return Objects.requireNonNull(windows.get(key));
        }

        @Override
        public boolean limits(String key) {
            return limits.containsKey(key);
        }

        @Override
        public synchronized Answer ask(String key, long tokens) throws ModelCallException {
            Objects.requireNonNull(limits.get(key)).check(tokens);
            String id = "claim" + claims++;
            if (window(key).claim(id, tokens, nowMs())) {
                return new Granted(key, id, tokens);
            }
            window(key).release(id, nowMs());
            return new Refused(window(key).untilRoomFor(tokens));
        }

        @Override
        public synchronized void settle(Granted granted, long tokens) {
            window(granted.key()).settle(granted.claim(), tokens, nowMs());
        }

        @Override
        public synchronized void release(Granted granted) {
            window(granted.key()).release(granted.claim(), nowMs());
        }
    }

    private ModelDispatcher dispatcher() {
        return new ModelDispatcher(models, LIMITS, rates, clock);
    }

    private ModelCall call(String callId, String model, int priority) {
        return new ModelCall(
                        callId,
                        priority,
                        0,
                        () -> Requests.user("hello").callId(callId).build(model),
                        outcome -> ended.add(new Ended(callId, outcome)))
                .asking(model);
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(20, TimeUnit.SECONDS);
        if (next == null) {
            throw new AssertionError("nothing came in 20 s");
        }
        return next;
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; i < 4_000 && !condition.getAsBoolean(); i++) {
            Thread.sleep(5);
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    private static ModelCallException rateLimited(@Nullable Duration retryAfter) {
        return new ModelCallException(ModelErrorCode.RATE_LIMITED, "enough", true, retryAfter, null);
    }

    @Test
    @DisplayName("a call over the limit waits without a permit, by priority, until there is room; other keys go on")
    void shouldWaitForTheRateWithoutAPermit() throws Exception {
        // given
        rates.limit("a", 1, null);
        try (ModelDispatcher dispatcher = dispatcher()) {
            dispatcher.submit(call("first", "a", 200));
            assertThat(next(ended).callId()).isEqualTo("first");

            // when
            dispatcher.submit(call("background", "a", 500));
            dispatcher.submit(call("person", "a", 100));
            await(() -> dispatcher.running() == 0 && dispatcher.heldBack() == 2);
            dispatcher.submit(call("other", "b", 600));

            // then
            assertThat(next(ended).callId()).isEqualTo("other");
            clock.advance(Duration.ofMillis(59_999));
            await(() -> dispatcher.running() == 0);
            assertThat(ended).isEmpty();
            clock.advance(Duration.ofMillis(1));
            assertThat(next(ended).callId()).isEqualTo("person");
            await(() -> dispatcher.running() == 0 && dispatcher.heldBack() == 1);
            clock.advance(Duration.ofSeconds(60));
            assertThat(next(ended).callId()).isEqualTo("background");
            assertThat(models.asked).containsExactly("first", "other", "person", "background");
        }
    }

    @Test
    @DisplayName("a call that only turns out to ask another key when it is built moves to that line")
    void shouldMoveToTheLineOfTheKeyThatIsAsked() throws Exception {
        // given
        rates.limit("a", 1, null);
        rates.limit("b", 1, null);
        try (ModelDispatcher dispatcher = dispatcher()) {
            dispatcher.submit(call("first", "a", 200));
            next(ended);

            // when
            dispatcher.submit(call("moved", "a", 200).asking("b"));

            // then
            await(() -> dispatcher.heldBack() == 1 && dispatcher.running() == 0);
            dispatcher.submit(call("other", "b", 200));
            assertThat(next(ended).callId()).isEqualTo("other");
            clock.advance(Duration.ofMinutes(1));
            assertThat(next(ended).callId()).isEqualTo("moved");
        }
    }

    @Test
    void shouldFailWhatCanNeverFitAndTellWhatIsWrong() throws Exception {
        // given
        rates.limit("a", null, 500L);
        try (ModelDispatcher dispatcher = dispatcher()) {
            // when
            dispatcher.submit(call("large", "a", 200));

            // then
            assertThat(next(ended).outcome()).isInstanceOfSatisfying(ModelOutcome.Failed.class, failed -> {
                assertThat(failed.error().code()).isEqualTo(ModelErrorCode.RATE_LIMITED);
                assertThat(failed.error()).hasMessageContaining("millrace.llm.keys.a.max-tokens");
                assertThat(failed.attempts()).isZero();
            });
            assertThat(models.asked).isEmpty();
        }
    }

    @Test
    void shouldGoToTheFallbackWhenAKeyIsUsedUpForTooLong() throws Exception {
        // given
        models.fallback = "b";
        models.failures.put("c1", new ConcurrentLinkedQueue<>(List.of(rateLimited(Duration.ofMinutes(10)))));
        try (ModelDispatcher dispatcher = dispatcher()) {
            // when
            dispatcher.submit(call("c1", "a", 200));
            Ended first = next(ended);
            dispatcher.submit(call("c2", "a", 200));
            Ended second = next(ended);

            // then: the second does not even ask
            assertThat(first.outcome())
                    .isInstanceOfSatisfying(
                            ModelOutcome.Replied.class,
                            replied -> assertThat(replied.reply().text()).isEqualTo("b"));
            assertThat(second.outcome()).isInstanceOfSatisfying(ModelOutcome.Replied.class, replied -> {
                assertThat(replied.attempts()).isEqualTo(1);
                assertThat(Objects.requireNonNull(replied.insteadOf()).code()).isEqualTo(ModelErrorCode.RATE_LIMITED);
            });
            assertThat(models.asked).containsExactly("c1", "c1", "c2");
        }
    }

    @Test
    @DisplayName("Retry-After of one call holds back all with the same key, and nobody else")
    void shouldHoldAKeyBackForEverybody() throws Exception {
        // given
        models.failures.put("c1", new ConcurrentLinkedQueue<>(List.of(rateLimited(Duration.ofSeconds(42)))));
        try (ModelDispatcher dispatcher = dispatcher()) {
            dispatcher.submit(call("c1", "a", 200));
            await(() -> dispatcher.heldBack() == 1 && dispatcher.running() == 0);

            // when
            dispatcher.submit(call("c2", "a", 100));
            dispatcher.submit(call("c3", "b", 300));

            // then
            assertThat(next(ended).callId()).isEqualTo("c3");
            clock.advance(Duration.ofMillis(41_999));
            assertThat(dispatcher.heldBack()).isEqualTo(2);
            clock.advance(Duration.ofMillis(1));
            assertThat(List.of(next(ended).callId(), next(ended).callId())).containsExactlyInAnyOrder("c1", "c2");
            assertThat(clock.slept).isEmpty();
        }
    }

    @Test
    void shouldNotAskAgainBeforeTheProviderHasARequestLeft() throws Exception {
        // given
        models.nextRequestIn = Duration.ofSeconds(7);
        try (ModelDispatcher dispatcher = dispatcher()) {
            dispatcher.submit(call("c1", "a", 200));
            next(ended);

            // when
            dispatcher.submit(call("c2", "a", 200));

            // then
            assertThat(dispatcher.heldBack()).isEqualTo(1);
            clock.advance(Duration.ofSeconds(7));
            assertThat(next(ended).callId()).isEqualTo("c2");
        }
    }

    @Test
    @DisplayName("a call waits for its key within its budget, which began with its first permit")
    void shouldTimeOutWhileItWaitsForItsKey() throws Exception {
        // given
        models.failures.put(
                "c1",
                new ConcurrentLinkedQueue<>(
                        List.of(rateLimited(Duration.ofSeconds(100)), rateLimited(Duration.ofSeconds(79)))));
        try (ModelDispatcher dispatcher = dispatcher()) {
            dispatcher.submit(call("c1", "a", 200));
            await(() -> dispatcher.heldBack() == 1 && dispatcher.running() == 0);
            clock.advance(Duration.ofSeconds(100));
            await(() -> models.asked.size() == 2 && dispatcher.heldBack() == 1 && dispatcher.running() == 0);
            models.nextRequestIn = Duration.ofSeconds(30);
            clock.advance(Duration.ofSeconds(78));
            assertThat(ended).isEmpty();

            // when
            clock.advance(Duration.ofSeconds(2));

            // then: due in the same moment, whichever comes first; it ends once and for good
            Ended end = next(ended);
            assertThat(end.callId()).isEqualTo("c1");
            assertThat(ended).isEmpty();
            assertThat(dispatcher.queued()).isZero();
        }
    }

    @Test
    void shouldForgetACallThatIsCancelledWhileItWaitsForItsKey() throws Exception {
        // given
        models.failures.put("c1", new ConcurrentLinkedQueue<>(List.of(rateLimited(Duration.ofSeconds(42)))));
        try (ModelDispatcher dispatcher = dispatcher()) {
            dispatcher.submit(call("c1", "a", 200));
            await(() -> dispatcher.heldBack() == 1 && dispatcher.running() == 0);

            // when
            boolean cancelled = dispatcher.cancel("c1");
            clock.advance(Duration.ofMinutes(5));

            // then
            assertThat(cancelled).isTrue();
            assertThat(dispatcher.queued()).isZero();
            assertThat(ended).isEmpty();
        }
    }

    @Test
    void shouldCountWhatARequestReallyUsed() throws Exception {
        // given: an estimate of more than a thousand tokens, a use of 120
        rates.limit("a", null, 1_200L);
        try (ModelDispatcher dispatcher = dispatcher()) {
            for (int i = 0; i < 2; i++) {
                // when
                dispatcher.submit(call("c" + i, "a", 200));

                // then
                assertThat(next(ended).callId()).isEqualTo("c" + i);
            }
            dispatcher.submit(call("c2", "a", 200));
            await(() -> dispatcher.heldBack() == 1 && dispatcher.running() == 0);
        }
    }
}
