package dev.millrace.agent.thinker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.ModelDelta;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class LiveTextTest {
    private static final CallStream.Asker ASKER = new CallStream.Asker("general", null);

    private final BlockingQueue<Event> sent = new LinkedBlockingQueue<>();
    private final Semaphore flushes = new Semaphore(0);

    @Test
    void shouldGatherAllButTheFirstWords() throws InterruptedException {
        try (LiveText live = live(Duration.ofMillis(50))) {
            // given
            CallStream stream = begin(live, "t/1/0");
            stream.onAttempt(1);
            String start = next();
            stream.onDelta(new ModelDelta.Text("first words"));
            String first = next();

            // when
            for (String piece : List.of("a", "b", "c")) {
                stream.onDelta(new ModelDelta.Text(piece));
            }

            // then
            assertThat(start).isEqualTo("stream.start null");
            assertThat(first).isEqualTo("stream.text first words");
            assertThat(next()).isEqualTo("stream.text abc");
        }
    }

    @Test
    void shouldSendTheFirstWordsOfEachAttemptAtOnce() throws InterruptedException {
        // given
        try (LiveText live = live(Duration.ofHours(1))) {
            CallStream stream = begin(live, "t/1/0");
            stream.onAttempt(1);
            assertThat(next()).isEqualTo("stream.start null");

            // when
            stream.onDelta(new ModelDelta.Text("first"));
            String first = next();
            stream.onDelta(new ModelDelta.Text(" words"));
            stream.onAttempt(2);
            String restart = next();
            stream.onDelta(new ModelDelta.Text("second"));

            // then
            assertThat(first).isEqualTo("stream.text first");
            assertThat(restart).isEqualTo("stream.restart null");
            assertThat(next()).isEqualTo("stream.text second");
        }
    }

    @Test
    void shouldGoOnAfterWhatCouldNotBeSent() throws InterruptedException {
        // given
        LiveText.Settings settings = new LiveText.Settings(true, Duration.ZERO);
        try (LiveText live = new LiveText(
                settings,
                event -> {
                    if ("bad".equals(event.text("delta"))) {
                        throw new IllegalStateException("no broker");
                    }
                    sent.add(event);
                },
                Clock.systemUTC())) {
            CallStream stream = begin(live, "t/1/0");
            stream.onAttempt(1);
            assertThat(next()).isEqualTo("stream.start null");

            // when
            stream.onDelta(new ModelDelta.Text("bad"));
            live.end("t/1/0", stream, reply());

            // then
            assertThat(next()).isEqualTo("stream.completed null");
        }
    }

    @Test
    void shouldLetNothingBeKeptBackWhileFewHaveSomethingToSay() throws InterruptedException {
        try (LiveText live = live(Duration.ofHours(1))) {
            CallStream stream = begin(live, "t/1/0");

            // when
            stream.onAttempt(1);
            boolean start = flushes.tryAcquire(10, TimeUnit.SECONDS);
            stream.onDelta(new ModelDelta.Text("first words"));

            // then
            assertThat(start).isTrue();
            assertThat(flushes.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
            assertThat(sent).hasSize(2);
        }
    }

    @Test
    void shouldTellTheEndOfACancelledCallAndNotOfItsSuccessor() throws InterruptedException {
        try (LiveText live = live(Duration.ZERO)) {
            // given
            CallStream first = begin(live, "t/1/0");
            first.onAttempt(1);
            assertThat(next()).isEqualTo("stream.start null");
            CallStream refused = Objects.requireNonNull(live.listen(call("t/1/0"), ASKER));
            assertThat(live.watch("t/1/0", refused, () -> false)).isFalse();

            // when
            live.cancel("t/1/0");
            CallStream second = begin(live, "t/1/0");
            live.end("t/1/0", first, reply());
            second.onAttempt(1);

            // then
            assertThat(next()).isEqualTo("stream.error null");
            assertThat(next()).isEqualTo("stream.start null");
            assertThat(second.isOver()).isFalse();
        }
    }

    @Test
    void shouldGatherWhatManyCallsHaveToSayAtOnce() throws InterruptedException {
        // given
        int attempts = 100;
        try (LiveText live = live(Duration.ofMillis(20))) {
            CallStream watched = begin(live, "watched");

            // when: each of these is to be told at once, and makes the one before void
            for (int attempt = 1; attempt <= attempts; attempt++) {
                for (int other = 0; other < LiveText.FEW; other++) {
                    begin(live, attempt + "/" + other).onAttempt(1);
                }
                watched.onAttempt(attempt);
                Thread.sleep(1);
            }
        }

        // then
        List<String> told = sent.stream()
                .filter(event -> "watched".equals(event.text("callId")))
                .map(event -> event.type().wireName())
                .toList();
        assertThat(told).isNotEmpty().hasSizeLessThan(attempts / 2);
        assertThat(sent).hasSize(attempts * LiveText.FEW + told.size());
        assertThat(flushes.availablePermits()).isLessThan(attempts / 4);
    }

    @Test
    void shouldSendWhatIsThereBeforeItCloses() throws InterruptedException {
        // given
        LiveText live = live(Duration.ofMillis(200));
        CallStream stream = begin(live, "t/1/0");
        stream.onAttempt(1);
        next();
        stream.onDelta(new ModelDelta.Text("first words"));
        next();
        stream.onDelta(new ModelDelta.Text("last words"));

        // when
        live.close();

        // then
        assertThat(sent).hasSize(1);
        assertThat(live.listen(call("t/2/0"), ASKER)).isNull();
    }

    @Test
    void shouldListenToNothingIfItIsTurnedOff() {
        try (LiveText live = new LiveText(new LiveText.Settings(false, Duration.ZERO), sent::add, Clock.systemUTC())) {
            assertThat(live.listen(call("t/1/0"), ASKER)).isNull();
        }
    }

    private LiveText live(Duration batch) {
        return new LiveText(new LiveText.Settings(true, batch), new Told(), Clock.systemUTC());
    }

    private static CallStream begin(LiveText live, String callId) {
        CallStream stream = Objects.requireNonNull(live.listen(call(callId), ASKER));
        assertThat(live.watch(callId, stream, () -> true)).isTrue();
        return stream;
    }

    private String next() throws InterruptedException {
        @Nullable Event event = sent.poll(10, TimeUnit.SECONDS);
        return event == null ? "nothing" : event.type() + " " + event.text("delta");
    }

    private static OutstandingCall call(String callId) {
        return new OutstandingCall(
                callId,
                Event.DEFAULT_NAMESPACE,
                "t",
                null,
                "r",
                "c",
                null,
                AgentPin.NONE,
                100,
                1,
                1,
                OutstandingCall.Shown.ALL,
                0,
                0);
    }

    private static Event reply() {
        return Event.root("r", KnownEventType.REASON_DONE, Instant.EPOCH)
                .payload(Map.of("callId", "t/1/0"))
                .build();
    }

    /** Where live text goes; to flush it always fails. */
    private final class Told implements LiveText.Sink {
        @Override
        public void take(Event event) {
            sent.add(event);
        }

        @Override
        public void flush() {
            flushes.release();
            throw new IllegalStateException("no broker");
        }
    }
}
