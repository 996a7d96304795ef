package dev.millrace.llm;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ModelDispatcherTest {

    private static final DispatcherLimits LIMITS =
            new DispatcherLimits(1, 4, Duration.ofMinutes(3), Duration.ofMillis(500), Duration.ofSeconds(20));

    private record Ended(String callId, ModelOutcome outcome) {}

    private final BlockingQueue<Ended> ended = new LinkedBlockingQueue<>();
    private final GatedModel model = new GatedModel();
    private final ManualClock clock = new ManualClock();
    private final ModelDispatcher dispatcher = new ModelDispatcher(model, LIMITS, clock);

    @AfterEach
    void close() {
        dispatcher.close();
    }

    private ModelCall call(String callId, int priority, long arrival) {
        return new ModelCall(
                callId,
                priority,
                arrival,
                () -> Requests.user("hello").callId(callId).build(),
                outcome -> ended.add(new Ended(callId, outcome)));
    }

    private static List<String> take(BlockingQueue<String> queue, int count) throws InterruptedException {
        List<String> taken = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            taken.add(next(queue));
        }
        return taken;
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(20, TimeUnit.SECONDS);
        if (next == null) {
            throw new AssertionError("nothing came in 20 s");
        }
        return next;
    }

    /** A dispatcher over a model whose attempts are the given steps, one after the other. */
    private ModelDispatcher failing(List<Callable<ModelReply>> attempts) {
        AtomicInteger attempt = new AtomicInteger();
        return new ModelDispatcher(
                new LanguageModel() {
                    @Override
                    public ModelReply chat(ModelRequest request) throws ModelCallException {
                        try {
                            return attempts.get(attempt.getAndIncrement()).call();
                        } catch (ModelCallException | RuntimeException e) {
                            throw e;
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                    }

                    @Override
                    public String name() {
                        return "failing";
                    }

                    @Override
                    public String description() {
                        return "a model that fails on demand";
                    }
                },
                LIMITS,
                clock);
    }

    private static Callable<ModelReply> charged(ModelCharge charge) {
        return () -> {
            throw new ModelCallException(ModelErrorCode.BAD_RESPONSE, "on demand", true, null, null).charged(charge);
        };
    }

    private static Callable<ModelReply> failure(ModelErrorCode code, @Nullable Duration retryAfter) {
        return () -> {
            throw new ModelCallException(code, "on demand", code.retryable(), retryAfter, null);
        };
    }

    @Test
    @DisplayName("F-105: calls over the limit wait; the highest priority goes first, then the oldest")
    void shouldStartByPriorityThenByArrival() throws Exception {
        // given
        dispatcher.submit(call("running", 400, 0));
        next(model.started);
        dispatcher.submit(call("late-task", 200, 9));
        dispatcher.submit(call("tool", 400, 1));
        dispatcher.submit(call("system", 10, 8));
        dispatcher.submit(call("early-task", 200, 2));
        dispatcher.submit(call("early-task-too", 200, 2));

        // when
        model.gate.release(6);

        // then
        assertThat(take(model.started, 5))
                .containsExactly("system", "early-task", "early-task-too", "late-task", "tool");
    }

    @Test
    @DisplayName("calls of a group that wait are dropped together; what runs goes on, and each may be asked again")
    void shouldDropWhatWaitsOfAGroup() throws Exception {
        // given
        dispatcher.submit(call("runs", 200, 0).within("given up"));
        next(model.started);
        dispatcher.submit(call("waits", 200, 1).within("given up"));
        dispatcher.submit(call("waits too", 200, 2).within("given up"));
        dispatcher.submit(call("another's", 200, 3).within("kept"));

        // when
        List<String> dropped = dispatcher.dropWaiting("given up");
        boolean again = dispatcher.submit(call("waits", 200, 4).within("given up"));

        // then
        assertThat(dropped).containsExactlyInAnyOrder("waits", "waits too");
        assertThat(again).isTrue();
        assertThat(dispatcher.submit(call("runs", 200, 5))).isFalse();
        model.gate.release(3);
        assertThat(take(model.started, 2)).containsExactly("another's", "waits");
        assertThat(List.of(
                        next(ended).callId(), next(ended).callId(), next(ended).callId()))
                .containsExactly("runs", "another's", "waits");
        assertThat(dispatcher.queued()).isZero();
    }

    @Test
    @DisplayName("of equal priority tenants take turns for permits, however many calls one of them has in line")
    void shouldLetTenantsTakeTurns() throws Exception {
        // given
        dispatcher.submit(call("running", 400, 0));
        next(model.started);
        for (int i = 0; i < 100; i++) {
            dispatcher.submit(call("big-" + i, 200, i).of("big"));
        }
        dispatcher.submit(call("small-0", 200, 200).of("small"));
        dispatcher.submit(call("small-1", 200, 201).of("small"));

        // when
        model.gate.release(6);

        // then
        assertThat(take(model.started, 5)).containsExactly("big-0", "small-0", "big-1", "small-1", "big-2");
    }

    @Test
    @DisplayName("F-103: no more calls run at once than there are permits")
    void shouldNotRunMoreCallsThanPermits() throws Exception {
        // given
        try (var three = new ModelDispatcher(model, DispatcherLimits.DEFAULTS, clock)) {
            for (int i = 0; i < 5; i++) {
                three.submit(call("call-" + i, 200, i));
            }

            // when
            List<String> running = take(model.started, 3);

            // then
            assertThat(running).containsExactlyInAnyOrder("call-0", "call-1", "call-2");
            assertThat(three.running()).isEqualTo(3);
            assertThat(three.queued()).isEqualTo(2);
        }
    }

    @Test
    void shouldBuildTheRequestOnlyWhenAPermitIsFree() throws Exception {
        // given
        dispatcher.submit(call("running", 200, 0));
        next(model.started);
        CountDownLatch built = new CountDownLatch(1);
        dispatcher.submit(new ModelCall(
                "waiting",
                200,
                1,
                () -> {
                    built.countDown();
                    return Requests.user("hello").callId("waiting").build();
                },
                outcome -> ended.add(new Ended("waiting", outcome))));
        boolean builtWhileWaiting = built.getCount() == 0;

        // when
        model.gate.release(2);

        // then
        assertThat(built.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(builtWhileWaiting).isFalse();
    }

    @Test
    void shouldIgnoreASecondCallWithTheSameId() throws Exception {
        // given
        dispatcher.submit(call("running", 200, 0));
        next(model.started);
        dispatcher.submit(call("waiting", 200, 1));

        // when
        boolean runningTaken = dispatcher.submit(call("running", 200, 2));
        boolean waitingTaken = dispatcher.submit(call("waiting", 200, 3));

        // then
        assertThat(runningTaken).isFalse();
        assertThat(waitingTaken).isFalse();
        assertThat(dispatcher.queued()).isEqualTo(1);
    }

    @Test
    void shouldTakeTheSameIdAgainOnceTheCallHasEnded() throws Exception {
        // given
        model.gate.release(2);
        dispatcher.submit(call("again", 200, 0));
        next(ended);

        // when: the id is free a moment after the completion has returned
        boolean taken = false;
        while (!taken) {
            taken = dispatcher.submit(call("again", 200, 1));
        }

        // then
        assertThat(next(ended).callId()).isEqualTo("again");
    }

    @Test
    void shouldForgetACancelledCallThatWaits() throws Exception {
        // given
        dispatcher.submit(call("running", 200, 0));
        next(model.started);
        dispatcher.submit(call("cancelled", 200, 1));
        dispatcher.submit(call("last", 200, 2));

        // when
        boolean cancelled = dispatcher.cancel("cancelled");
        model.gate.release(2);

        // then
        assertThat(cancelled).isTrue();
        assertThat(List.of(next(ended).callId(), next(ended).callId())).containsExactly("running", "last");
    }

    @Test
    @DisplayName("a close with grace delivers what runs, and starts and keeps nothing of what waits")
    void shouldLetWhatRunsComeToItsEnd() throws Exception {
        // given
        dispatcher.submit(call("running", 200, 0));
        next(model.started);
        dispatcher.submit(call("waiting", 200, 1));

        // when
        Thread closing = Thread.ofVirtual().start(() -> dispatcher.close(Duration.ofSeconds(20)));
        while (dispatcher.queued() > 0) {
            Thread.onSpinWait();
        }
        model.gate.release(2);
        closing.join();

        // then
        assertThat(next(ended).callId()).isEqualTo("running");
        assertThat(ended).isEmpty();
        assertThat(model.started).isEmpty();
        assertThat(dispatcher.submit(call("late", 200, 2))).isFalse();
    }

    @Test
    @DisplayName("what has not ended when the grace is over is aborted, silently")
    void shouldAbortWhatOutlastsTheGrace() throws Exception {
        dispatcher.submit(call("running", 200, 0));
        next(model.started);

        dispatcher.close(Duration.ofMillis(1));

        assertThat(ended).isEmpty();
        assertThat(dispatcher.running()).isZero();
    }

    @Test
    void shouldInterruptACancelledCallThatRunsAndStaySilentAboutIt() throws Exception {
        // given
        dispatcher.submit(call("cancelled", 200, 0));
        next(model.started);
        dispatcher.submit(call("next", 200, 1));

        // when
        boolean cancelled = dispatcher.cancel("cancelled");
        String startedNext = next(model.started);
        model.gate.release();

        // then
        assertThat(cancelled).isTrue();
        assertThat(startedNext).isEqualTo("next");
        assertThat(next(ended).callId()).isEqualTo("next");
        assertThat(ended).isEmpty();
    }

    @Test
    void shouldTellWhoeverCancelledARunningCallWhatItHadComeTo() throws Exception {
        // given
        BlockingQueue<ModelOutcome> leftovers = new LinkedBlockingQueue<>();
        dispatcher.submit(call("runs", 200, 0));
        next(model.started);
        dispatcher.submit(call("waits", 200, 1));

        // when
        dispatcher.cancel("waits", leftovers::add);
        dispatcher.cancel("runs", leftovers::add);

        // then
        ModelOutcome leftover = next(leftovers);
        assertThat(leftover.attempts()).isEqualTo(1);
        assertThat(leftover)
                .isInstanceOfSatisfying(
                        ModelOutcome.Failed.class,
                        failed -> assertThat(failed.error().code()).isEqualTo(ModelErrorCode.CANCELLED));
        assertThat(leftovers).as("nothing about a call that never asked").isEmpty();
        assertThat(ended).isEmpty();
    }

    @Test
    void shouldAddUpWhatAttemptsWereChargedThatGaveNoReply() throws Exception {
        // given
        ModelCharge first = new ModelCharge("m", new ModelReply.Usage(7, 3));
        ModelCharge second = new ModelCharge("m", new ModelReply.Usage(7, 0));
        try (var failing = failing(List.of(
                charged(first),
                failure(ModelErrorCode.RATE_LIMITED, null),
                charged(second),
                () -> GatedModel.reply("at last")))) {

            // when
            failing.submit(call("task-1/1/0", 200, 0));
            ModelOutcome outcome = next(ended).outcome();

            // then
            assertThat(outcome)
                    .isEqualTo(new ModelOutcome.Replied(GatedModel.reply("at last"), 4, null, List.of(first, second)));
        }
    }

    @Test
    void shouldNotAskTheModelForACallThatWasCancelledWhileItsRequestWasBuilt() throws Exception {
        // given
        CountDownLatch building = new CountDownLatch(1);
        AtomicBoolean goOn = new AtomicBoolean();
        dispatcher.submit(new ModelCall(
                "cancelled",
                200,
                0,
                () -> {
                    building.countDown();
                    while (!goOn.get()) {
                        Thread.onSpinWait();
                    }
                    return Requests.user("hello").callId("cancelled").build();
                },
                outcome -> ended.add(new Ended("cancelled", outcome))));
        dispatcher.submit(call("next", 200, 1));
        building.await();

        // when
        dispatcher.cancel("cancelled");
        goOn.set(true);

        // then
        assertThat(next(model.started)).isEqualTo("next");
    }

    @Test
    void shouldTakeTheIdOfACancelledCallAgainAtOnce() throws Exception {
        // given
        dispatcher.submit(call("moved", 200, 0));
        next(model.started);
        dispatcher.cancel("moved");

        // when
        boolean taken = dispatcher.submit(call("moved", 200, 1));
        model.gate.release();

        // then
        assertThat(taken).isTrue();
        assertThat(next(ended).outcome()).isInstanceOf(ModelOutcome.Replied.class);
    }

    @Test
    void shouldSayThatThereIsNothingToCancel() {
        // when
        boolean cancelled = dispatcher.cancel("unknown");

        // then
        assertThat(cancelled).isFalse();
    }

    @Test
    @DisplayName("F-261: a model call that fails for a passing reason is tried again")
    void shouldRetryWithGrowingPausesThatTheCallIdDecides() throws Exception {
        // given
        List<List<Duration>> runs = new ArrayList<>();
        List<ModelOutcome> outcomes = new ArrayList<>();

        // when
        for (int run = 0; run < 2; run++) {
            clock.slept.clear();
            try (var failing = failing(List.of(
                    failure(ModelErrorCode.MODEL_UNAVAILABLE, null),
                    failure(ModelErrorCode.RATE_LIMITED, null),
                    failure(ModelErrorCode.TIMEOUT, null),
                    () -> GatedModel.reply("at last")))) {
                failing.submit(call("task-1/1/0", 200, 0));
                outcomes.add(next(ended).outcome());
                runs.add(List.copyOf(clock.slept));
            }
        }

        // then
        assertThat(outcomes).containsOnly(new ModelOutcome.Replied(GatedModel.reply("at last"), 4));
        assertThat(runs.get(0)).isEqualTo(runs.get(1)).hasSize(3);
        assertThat(runs.get(0).get(0)).isBetween(Duration.ofMillis(250), Duration.ofMillis(500));
        assertThat(runs.get(0).get(1)).isBetween(Duration.ofMillis(500), Duration.ofSeconds(1));
        assertThat(runs.get(0).get(2)).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(2));
    }

    @Test
    void shouldWaitAsLongAsTheProviderAsks() throws Exception {
        // given
        try (var failing = failing(
                List.of(failure(ModelErrorCode.RATE_LIMITED, Duration.ofSeconds(42)), () -> GatedModel.reply("now")))) {

            // when
            failing.submit(call("limited", 200, 0));
            next(ended);
        }

        // then
        assertThat(clock.slept).containsExactly(Duration.ofSeconds(42));
    }

    @Test
    void shouldFailAtOnceWhenTheProviderAsksForMoreThanTheBudget() throws Exception {
        // given
        try (var failing = failing(List.of(failure(ModelErrorCode.RATE_LIMITED, Duration.ofMinutes(3))))) {

            // when
            failing.submit(call("limited", 200, 0));
            ModelOutcome outcome = next(ended).outcome();

            // then
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            ModelOutcome.Failed.class,
                            failed -> assertThat(failed.error().code()).isEqualTo(ModelErrorCode.RATE_LIMITED));
            assertThat(clock.slept).isEmpty();
        }
    }

    @Test
    void shouldGiveUpAfterTheLastAttempt() throws Exception {
        // given
        try (var failing = failing(Collections.nCopies(9, failure(ModelErrorCode.MODEL_UNAVAILABLE, null)))) {

            // when
            failing.submit(call("hopeless", 200, 0));
            ModelOutcome outcome = next(ended).outcome();

            // then
            assertThat(outcome.attempts()).isEqualTo(LIMITS.maxAttempts());
            assertThat(outcome).isInstanceOf(ModelOutcome.Failed.class);
        }
    }

    @Test
    void shouldNotRetryWhatCannotSucceed() throws Exception {
        // given
        try (var failing = failing(List.of(failure(ModelErrorCode.AUTH_FAILED, null)))) {

            // when
            failing.submit(call("locked-out", 200, 0));
            ModelOutcome outcome = next(ended).outcome();

            // then
            assertThat(outcome.attempts()).isEqualTo(1);
            assertThat(clock.slept).isEmpty();
        }
    }

    @Test
    void shouldTurnABrokenRequestBuilderIntoAFailureAndGoOn() throws Exception {
        // given
        ModelCall broken = new ModelCall(
                "broken",
                200,
                0,
                () -> {
                    throw new IllegalStateException("the transcript is gone");
                },
                outcome -> ended.add(new Ended("broken", outcome)));

        // when
        dispatcher.submit(broken);
        Ended first = next(ended);
        model.gate.release();
        dispatcher.submit(call("next", 200, 1));

        // then
        assertThat(first.outcome()).isInstanceOfSatisfying(ModelOutcome.Failed.class, failed -> {
            assertThat(failed.error().code()).isEqualTo(ModelErrorCode.INTERNAL_ERROR);
            assertThat(failed.error().retryable()).isFalse();
            assertThat(failed.error()).hasMessageContaining("the transcript is gone");
            assertThat(failed.attempts()).isZero();
        });
        assertThat(next(ended).callId()).isEqualTo("next");
    }

    @Test
    void shouldReportEvenAnErrorThatKillsTheThread() throws Exception {
        // given
        try (var failing = failing(List.of(() -> {
            throw new AssertionError("a missing class, say");
        }))) {

            // when
            failing.submit(call("dying", 200, 0));
            ModelOutcome outcome = next(ended).outcome();

            // then
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            ModelOutcome.Failed.class,
                            failed -> assertThat(failed.error().code()).isEqualTo(ModelErrorCode.INTERNAL_ERROR));
        }
    }

    @Test
    void shouldKeepThePermitWhenACompletionBreaks() throws Exception {
        // given
        model.gate.release(2);
        dispatcher.submit(new ModelCall(
                "broken", 200, 0, () -> Requests.user("hello").callId("broken").build(), outcome -> {
                    throw new IllegalStateException("the producer is closed");
                }));

        // when
        dispatcher.submit(call("next", 200, 1));

        // then
        assertThat(next(ended).callId()).isEqualTo("next");
    }

    @Test
    void shouldFailACallWhoseReplyCannotBeTakenAndStillCountWhatItUsed() throws Exception {
        // given
        model.gate.release();

        // when
        dispatcher.submit(new ModelCall(
                "broken", 200, 0, () -> Requests.user("hello").callId("broken").build(), outcome -> {
                    if (outcome instanceof ModelOutcome.Replied) {
                        throw new IllegalArgumentException("a number that no event can have");
                    }
                    ended.add(new Ended("broken", outcome));
                }));

        // then
        assertThat(next(ended).outcome()).isInstanceOfSatisfying(ModelOutcome.Failed.class, failed -> {
            assertThat(failed.error().code()).isEqualTo(ModelErrorCode.INTERNAL_ERROR);
            assertThat(failed.error().retryable()).isFalse();
            assertThat(failed.attempts()).isEqualTo(1);
            assertThat(failed.charges()).containsExactly(new ModelCharge("gated", new ModelReply.Usage(1, 1)));
        });
    }

    @Test
    void shouldFailACallWhoseReplyBlowsTheStack() throws Exception {
        // given
        model.gate.release();

        // when
        dispatcher.submit(new ModelCall(
                "deep", 200, 0, () -> Requests.user("hello").callId("deep").build(), outcome -> {
                    if (outcome instanceof ModelOutcome.Replied) {
                        throw new StackOverflowError();
                    }
                    ended.add(new Ended("deep", outcome));
                }));

        // then
        assertThat(next(ended).outcome()).isInstanceOf(ModelOutcome.Failed.class);
    }

    @Test
    void shouldCountWhatAReplyUsedThatItsReviewBreaksOn() throws Exception {
        // given
        model.gate.release(2);
        Map<String, Runnable> broken = new LinkedHashMap<>();
        broken.put("with an exception", () -> {
            throw new IllegalStateException("no such form");
        });
        broken.put("with an error", () -> {
            throw new StackOverflowError();
        });

        // when: ids of their own, since one is known until its outcome has been taken
        for (Map.Entry<String, Runnable> breaking : broken.entrySet()) {
            dispatcher.submit(call(breaking.getKey(), 200, 0).reviewedBy((request, reply) -> {
                breaking.getValue().run();
                throw new AssertionError("it breaks");
            }));

            // then
            assertThat(next(ended).outcome()).isInstanceOfSatisfying(ModelOutcome.Failed.class, failed -> {
                assertThat(failed.error().code()).isEqualTo(ModelErrorCode.INTERNAL_ERROR);
                assertThat(failed.attempts()).isEqualTo(1);
                assertThat(failed.charges()).containsExactly(new ModelCharge("gated", new ModelReply.Usage(1, 1)));
            });
        }
    }

    @Test
    void shouldTimeOutAWholeCall() throws Exception {
        // given
        dispatcher.submit(call("slow", 200, 0));
        next(model.started);

        // when
        clock.advance(LIMITS.callTimeout());
        ModelOutcome outcome = next(ended).outcome();
        dispatcher.submit(call("next", 200, 1));

        // then
        assertThat(outcome).isInstanceOfSatisfying(ModelOutcome.Failed.class, failed -> {
            assertThat(failed.error().code()).isEqualTo(ModelErrorCode.TIMEOUT);
            assertThat(failed.error()).hasMessageContaining("millrace.llm.call-timeout");
        });
        assertThat(next(model.started)).isEqualTo("next");
    }

    @Test
    void shouldStopEverythingOnClose() throws Exception {
        // given
        dispatcher.submit(call("running", 200, 0));
        next(model.started);
        dispatcher.submit(call("waiting", 200, 1));

        // when
        dispatcher.close();

        // then
        assertThat(dispatcher.running()).isZero();
        assertThat(dispatcher.queued()).isZero();
        assertThat(dispatcher.submit(call("late", 200, 2))).isFalse();
        assertThat(ended).isEmpty();
    }

    @Test
    @DisplayName("every call that nobody cancelled ends in exactly one outcome, whatever happens beside it")
    void shouldEndEveryCallExactlyOnceUnderConcurrency() throws Exception {
        // given
        long seed = 4_711;
        int calls = 2_000;
        Map<String, AtomicInteger> outcomes = new ConcurrentHashMap<>();
        Map<String, Boolean> cancelled = new ConcurrentHashMap<>();
        AtomicInteger atOnce = new AtomicInteger();
        AtomicInteger mostAtOnce = new AtomicInteger();
        LanguageModel flaky = new LanguageModel() {
            @Override
            public ModelReply chat(ModelRequest request) throws ModelCallException {
                mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                try {
                    LockSupport.parkNanos(10_000);
                    int dice = Math.floorMod(request.callId().hashCode() + (int) seed, 10);
                    if (Thread.interrupted()) {
                        throw new ModelCallException(ModelErrorCode.CANCELLED, "interrupted");
                    }
                    if (dice == 0) {
                        throw new ModelCallException(ModelErrorCode.MODEL_UNAVAILABLE, "flaky");
                    }
                    if (dice == 1) {
                        throw new IllegalStateException("broken");
                    }
                    return GatedModel.reply("done");
                } finally {
                    atOnce.decrementAndGet();
                }
            }

            @Override
            public String name() {
                return "flaky";
            }

            @Override
            public String description() {
                return "a model that fails now and then";
            }
        };

        // when
        try (var busy = new ModelDispatcher(flaky, DispatcherLimits.DEFAULTS, clock)) {
            List<Thread> submitters = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                Random random = new Random(seed + t);
                int from = t * (calls / 4);
                submitters.add(Thread.ofVirtual().start(() -> {
                    for (int i = from; i < from + calls / 4; i++) {
                        String id = "call-" + i;
                        outcomes.put(id, new AtomicInteger());
                        busy.submit(new ModelCall(
                                id,
                                random.nextInt(5) * 100,
                                i,
                                () -> Requests.user("hello").callId(id).build(),
                                outcome -> outcomes.get(id).incrementAndGet()));
                        String victim = "call-" + (from + random.nextInt(i - from + 1));
                        if (random.nextInt(4) == 0 && busy.cancel(victim)) {
                            cancelled.put(victim, true);
                        }
                    }
                }));
            }
            for (Thread submitter : submitters) {
                submitter.join();
            }
            while (busy.running() + busy.queued() > 0) {
                LockSupport.parkNanos(10_000);
            }
        }

        // then
        assertThat(outcomes).hasSize(calls);
        assertThat(outcomes)
                .allSatisfy((id, count) -> assertThat(count.get())
                        .as("outcomes of %s, seed %d", id, seed)
                        .isEqualTo(cancelled.containsKey(id) ? 0 : 1));
        assertThat(cancelled).isNotEmpty();
        assertThat(mostAtOnce.get()).isLessThanOrEqualTo(3);
    }
}
