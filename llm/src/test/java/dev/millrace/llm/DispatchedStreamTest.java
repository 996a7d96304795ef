package dev.millrace.llm;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams, fallbacks and cancellations through the dispatcher. */
@Timeout(30)
class DispatchedStreamTest {

    private static final DispatcherLimits LIMITS =
            new DispatcherLimits(1, 2, Duration.ofMinutes(3), Duration.ofMillis(500), Duration.ofSeconds(20));

    private final BlockingQueue<ModelOutcome> ended = new LinkedBlockingQueue<>();
    private final List<Object> heard = new CopyOnWriteArrayList<>();
    private final ManualClock clock = new ManualClock();
    private final StreamListener listener = new StreamListener() {
        @Override
        public void onDelta(ModelDelta delta) {
            heard.add(delta);
        }

        @Override
        public void onAttempt(int attempt) {
            heard.add(attempt);
        }
    };

    /** Does what the test wrote down, attempt by attempt; {@code second} is the fallback of the default model. */
    private static final class Playing implements LanguageModel {

        final Deque<Attempt> attempts = new ArrayDeque<>();
        final List<@Nullable String> asked = new CopyOnWriteArrayList<>();

        interface Attempt {
            ModelReply run(StreamListener listener) throws ModelCallException;
        }

        @Override
        public ModelReply chat(ModelRequest request) throws ModelCallException {
            return stream(request, StreamListener.NONE);
        }

        @Override
        public ModelReply stream(ModelRequest request, StreamListener listener) throws ModelCallException {
            asked.add(request.model());
            return attempts.removeFirst().run(listener);
        }

        @Override
        public String name() {
            return "first";
        }

        @Override
        public String description() {
            return "a model that does as it is told";
        }

        @Override
        public @Nullable String fallbackFor(@Nullable String model) {
            return model == null ? "second" : null;
        }
    }

    private final Playing model = new Playing();

    private static Playing.Attempt saying(String text) {
        return listener -> {
            listener.onDelta(new ModelDelta.Text(text));
            return GatedModel.reply(text);
        };
    }

    private static Playing.Attempt failing(ModelErrorCode code) {
        return listener -> {
            throw new ModelCallException(code, "on demand");
        };
    }

    private ModelCall call(@Nullable String model, @Nullable StreamListener to) {
        return new ModelCall("c", 200, 0, () -> Requests.user("hi").build(model), ended::add, to);
    }

    private ModelOutcome outcomeOf(ModelCall call) throws InterruptedException {
        try (ModelDispatcher dispatcher = new ModelDispatcher(model, LIMITS, clock)) {
            dispatcher.submit(call);
            ModelOutcome outcome = ended.poll(20, TimeUnit.SECONDS);
            assertThat(dispatcher.fallbacks())
                    .isEqualTo(model.asked.contains("second") || model.asked.contains("third") ? 1 : 0);
            return outcome == null
                    ? new ModelOutcome.Failed(new ModelCallException(ModelErrorCode.TIMEOUT, ""), 0)
                    : outcome;
        }
    }

    @Test
    void shouldTellTheListenerWhereAnAttemptBegins() throws Exception {
        // given
        model.attempts.add(to -> {
            to.onDelta(new ModelDelta.Text("hal"));
            throw new ModelCallException(ModelErrorCode.MODEL_UNAVAILABLE, "half a stream");
        });
        model.attempts.add(saying("whole"));

        // when
        ModelOutcome outcome = outcomeOf(call(null, listener));

        // then
        assertThat(outcome).isEqualTo(new ModelOutcome.Replied(GatedModel.reply("whole"), 2));
        assertThat(heard).containsExactly(1, new ModelDelta.Text("hal"), 2, new ModelDelta.Text("whole"));
    }

    @Test
    void shouldAskTheFallbackWhenTheFirstFailsForGood() throws Exception {
        // given
        model.attempts.add(failing(ModelErrorCode.RATE_LIMITED));
        model.attempts.add(failing(ModelErrorCode.MODEL_UNAVAILABLE));
        model.attempts.add(failing(ModelErrorCode.TIMEOUT));
        model.attempts.add(saying("instead"));

        // when
        ModelOutcome outcome = outcomeOf(call(null, listener));

        // then
        assertThat(outcome).isInstanceOfSatisfying(ModelOutcome.Replied.class, replied -> {
            assertThat(replied.reply().text()).isEqualTo("instead");
            assertThat(replied.attempts()).isEqualTo(4);
            assertThat(replied.insteadOf())
                    .isNotNull()
                    .extracting(ModelCallException::code)
                    .isEqualTo(ModelErrorCode.MODEL_UNAVAILABLE);
        });
        assertThat(model.asked).containsExactly(null, null, "second", "second");
        assertThat(heard).containsExactly(1, 2, 3, 4, new ModelDelta.Text("instead"));
    }

    @Test
    @DisplayName("a spent quota is not worth another attempt, but another model")
    void shouldAskTheFallbackForAFailureThatIsNotRetried() throws Exception {
        // given
        model.attempts.add(to -> {
            throw new ModelCallException(ModelErrorCode.RATE_LIMITED, "all spent", false, null, null);
        });
        model.attempts.add(saying("instead"));

        // when
        ModelOutcome outcome = outcomeOf(call(null, null));

        // then
        assertThat(outcome.attempts()).isEqualTo(2);
        assertThat(model.asked).containsExactly(null, "second");
    }

    @Test
    void shouldNotAskTheFallbackWhatTheRequestIsToBlameFor() throws Exception {
        // given
        model.attempts.add(failing(ModelErrorCode.CONTEXT_OVERFLOW));

        // when
        ModelOutcome outcome = outcomeOf(call(null, null));

        // then
        assertThat(outcome).isInstanceOf(ModelOutcome.Failed.class);
        assertThat(model.asked).hasSize(1);
    }

    @Test
    void shouldFailWithTheFallbacksFailure() throws Exception {
        // given
        model.attempts.add(failing(ModelErrorCode.RATE_LIMITED));
        model.attempts.add(failing(ModelErrorCode.RATE_LIMITED));
        model.attempts.add(failing(ModelErrorCode.AUTH_FAILED));

        // when
        ModelOutcome outcome = outcomeOf(call(null, null));

        // then
        assertThat(outcome).isInstanceOfSatisfying(ModelOutcome.Failed.class, failed -> {
            assertThat(failed.error().code()).isEqualTo(ModelErrorCode.AUTH_FAILED);
            assertThat(failed.attempts()).isEqualTo(3);
        });
    }

    @Test
    void shouldNotRetryAListenerThatBreaks() throws Exception {
        // given
        model.attempts.add(to -> {
            try {
                to.onDelta(new ModelDelta.Text("x"));
            } catch (RuntimeException e) {
                throw ModelCallException.brokenListener(e);
            }
            return GatedModel.reply("x");
        });

        // when
        ModelOutcome outcome = outcomeOf(call(null, delta -> {
            throw new IllegalStateException("no room");
        }));

        // then
        assertThat(outcome).isInstanceOfSatisfying(ModelOutcome.Failed.class, failed -> {
            assertThat(failed.error().code()).isEqualTo(ModelErrorCode.INTERNAL_ERROR);
            assertThat(failed.attempts()).isEqualTo(1);
        });
    }

    @Test
    void shouldDeliverNoDeltaAfterACancel() throws Exception {
        // given
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        model.attempts.add(to -> {
            to.onDelta(new ModelDelta.Text("before"));
            first.countDown();
            boolean waited = false;
            while (!waited) {
                try {
                    waited = cancelled.await(20, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    // a model that does not listen
                }
            }
            to.onDelta(new ModelDelta.Text("after"));
            over.countDown();
            return GatedModel.reply("late");
        });

        // when
        try (ModelDispatcher dispatcher = new ModelDispatcher(model, LIMITS, clock)) {
            dispatcher.submit(call(null, listener));
            assertThat(first.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(dispatcher.cancel("c")).isTrue();
            cancelled.countDown();
            assertThat(over.await(20, TimeUnit.SECONDS)).isTrue();
        }

        // then
        assertThat(heard).containsExactly(1, new ModelDelta.Text("before"));
        assertThat(ended).isEmpty();
    }

    @Test
    @DisplayName("a call that waits for its next attempt ends at once when it is cancelled, and gives its permit back")
    void shouldCancelACallInItsPause() throws Exception {
        // given
        CountDownLatch failed = new CountDownLatch(1);
        model.attempts.add(to -> {
            failed.countDown();
            throw new ModelCallException(ModelErrorCode.RATE_LIMITED, "on demand", true, Duration.ofMinutes(2), null);
        });
        model.attempts.add(saying("the next one"));
        try (ModelDispatcher dispatcher = new ModelDispatcher(model, LIMITS)) {
            dispatcher.submit(call(null, null));
            assertThat(failed.await(20, TimeUnit.SECONDS)).isTrue();

            // when
            boolean cancelled = dispatcher.cancel("c");
            dispatcher.submit(call("other", null));

            // then
            assertThat(cancelled).isTrue();
            assertThat(ended.poll(20, TimeUnit.SECONDS))
                    .isEqualTo(new ModelOutcome.Replied(GatedModel.reply("the next one"), 1));
        }
    }

    @Test
    void shouldGiveAWholeReplyInOneDeltaOfEachKind() throws Exception {
        // given
        GatedModel whole = new GatedModel();
        whole.gate.release();

        // when
        ModelReply reply = whole.stream(Requests.user("hi").build(), listener);

        // then
        assertThat(heard).containsExactly(new ModelDelta.Text(String.valueOf(reply.text())));
    }

    @Test
    @DisplayName("an agent's own fallback is asked before the one that is configured for the model")
    void shouldPreferTheFallbackOfTheRequest() throws Exception {
        // given
        model.attempts.add(failing(ModelErrorCode.RATE_LIMITED));
        model.attempts.add(failing(ModelErrorCode.RATE_LIMITED));
        model.attempts.add(saying("from the third"));

        // when
        ModelOutcome outcome = outcomeOf(new ModelCall(
                "c", 200, 0, () -> Requests.user("hi").build(null).fallingBackTo("third"), ended::add, listener));

        // then
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        ModelOutcome.Replied.class,
                        replied -> assertThat(replied.reply().text()).isEqualTo("from the third"));
        assertThat(model.asked).endsWith("third");
    }

    @Test
    @DisplayName("a reply that a review turns down is asked for once more, in the same call; the usage of both counts")
    void shouldAskOnceMore() throws Exception {
        // given
        model.attempts.add(saying("wrong"));
        model.attempts.add(saying("still wrong"));

        // when
        ModelOutcome outcome = outcomeOf(call(null, listener)
                .reviewedBy((request, reply) -> Optional.of(request.with(
                        Requests.user("not " + reply.text()).build().messages()))));

        // then
        assertThat(outcome)
                .isEqualTo(new ModelOutcome.Replied(
                        GatedModel.reply("still wrong"),
                        2,
                        null,
                        List.of(new ModelCharge(
                                "gated", GatedModel.reply("wrong").usage()))));
        assertThat(heard).containsExactly(1, new ModelDelta.Text("wrong"), 2, new ModelDelta.Text("still wrong"));
    }
}
