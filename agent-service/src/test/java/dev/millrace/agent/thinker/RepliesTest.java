package dev.millrace.agent.thinker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelCharge;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RepliesTest {

    private static final Instant NOW = Instant.parse("2026-02-01T00:00:00Z");
    private static final OutstandingCall CALL = new OutstandingCall(
            "m1/1/0-abc",
            "default",
            "m1",
            "s1",
            "m1",
            "e1",
            null,
            new AgentPin("clerk@v1", null, Map.of()),
            100,
            1,
            1,
            null,
            NOW.toEpochMilli(),
            0);
    private static final ModelCharge REFUSED = new ModelCharge("other", new Usage(7, 3, 0, 0, 0, 11L));

    @Test
    void shouldSayWhatACallUsed() {
        // given
        ModelOutcome outcome = new ModelOutcome.Replied(reply(new Usage(100, 20, 60, 5, 8, 42L)), 1);

        // when
        Event event = Replies.of(CALL, outcome, 1_000, NOW);

        // then
        assertThat(event.type()).isEqualTo(KnownEventType.REASON_DONE);
        assertThat(EventSchemas.problems(event)).isEmpty();
        assertThat(event.payload())
                .containsEntry(
                        "usage",
                        Map.of(
                                "inputTokens",
                                100,
                                "outputTokens",
                                20,
                                "cachedInputTokens",
                                60,
                                "reasoningTokens",
                                8,
                                "costMicros",
                                42))
                .containsEntry("agent", "clerk")
                .containsEntry("model", "test-model")
                .doesNotContainKey("failedAttempts");
    }

    @Test
    void shouldLeaveOutWhatTheProviderDoesNotSay() {
        // given
        ModelOutcome outcome = new ModelOutcome.Replied(reply(new Usage(100, 20)), 1);

        // when
        Event event = Replies.of(CALL, outcome, 1_000, NOW);

        // then
        assertThat(event.payload()).containsEntry("usage", Map.of("inputTokens", 100, "outputTokens", 20));
    }

    @Test
    void shouldCountAttemptsThatGaveNoReplyInTheSum() {
        // given
        ModelOutcome outcome =
                new ModelOutcome.Replied(reply(new Usage(100, 20, 0, 0, 0, 42L)), 3, null, List.of(REFUSED));

        // when
        Event event = Replies.of(CALL, outcome, 1_000, NOW);

        // then
        assertThat(EventSchemas.problems(event)).isEmpty();
        assertThat(event.payload())
                .containsEntry(
                        "usage",
                        Map.of(
                                "inputTokens",
                                107,
                                "outputTokens",
                                23,
                                "costMicros",
                                53,
                                "attempts",
                                3,
                                "uncountedAttempts",
                                1))
                .containsEntry(
                        "failedAttempts",
                        List.of(Map.of(
                                "model",
                                "other",
                                "usage",
                                Map.of("inputTokens", 7, "outputTokens", 3, "costMicros", 11))));
    }

    @Test
    void shouldCountInstancesThatHadTheCallBefore() {
        // given
        ModelOutcome outcome = new ModelOutcome.Replied(reply(new Usage(100, 20)), 1);

        // when
        Event event = Replies.of(CALL.takenOver(), outcome, 1_000, NOW);

        // then
        assertThat(event.payload())
                .containsEntry(
                        "usage", Map.of("inputTokens", 100, "outputTokens", 20, "attempts", 2, "uncountedAttempts", 1));
    }

    @Test
    void shouldSayWhatAFailedCallUsed() {
        // given
        ModelCallException error = new ModelCallException(ModelErrorCode.REFUSED, "no");

        // when
        Event charged = Replies.of(CALL, new ModelOutcome.Failed(error, 2, List.of(REFUSED)), 1_000, NOW);
        Event free = Replies.of(CALL, new ModelOutcome.Failed(error, 2), 1_000, NOW);
        Event unasked = Replies.of(CALL, new ModelOutcome.Failed(error, 0), 1_000, NOW);

        // then
        assertThat(charged.type()).isEqualTo(KnownEventType.MODEL_CALL_FAILED);
        assertThat(EventSchemas.problems(charged)).isEmpty();
        assertThat(charged.payload())
                .containsEntry(
                        "usage",
                        Map.of(
                                "inputTokens",
                                7,
                                "outputTokens",
                                3,
                                "costMicros",
                                11,
                                "attempts",
                                2,
                                "uncountedAttempts",
                                1));
        assertThat(EventSchemas.problems(free)).isEmpty();
        assertThat(free.payload())
                .containsEntry(
                        "usage", Map.of("inputTokens", 0, "outputTokens", 0, "attempts", 2, "uncountedAttempts", 2));
        assertThat(unasked.payload()).doesNotContainKey("usage");
    }

    @Test
    void shouldCountAReplyThatIsTooLargeForARecord() {
        // given
        ModelOutcome outcome = new ModelOutcome.Replied(reply(new Usage(100, 20)), 1);

        // when
        Event event = Replies.tooLarge(CALL, outcome, NOW);

        // then
        assertThat(EventSchemas.problems(event)).isEmpty();
        assertThat(event.payload())
                .containsEntry("code", "bad_response")
                .containsEntry("model", "test-model")
                .containsEntry("usage", Map.of("inputTokens", 100, "outputTokens", 20));
    }

    @Test
    void shouldSayWhatACallHadUsedThatWasCutOff() {
        // given
        ModelCallException cancelled = new ModelCallException(ModelErrorCode.CANCELLED, "interrupted");
        ModelOutcome outcome = new ModelOutcome.Failed(cancelled, 1, List.of(REFUSED));

        // when
        Event event = Replies.abandoned(CALL, outcome, NOW);
        Event again = Replies.abandoned(CALL, outcome, NOW.plusMillis(1));

        // then
        assertThat(event.type()).isEqualTo(KnownEventType.MODEL_CALL_ABANDONED);
        assertThat(EventSchemas.problems(event)).isEmpty();
        assertThat(event.taskId()).isEqualTo("m1");
        assertThat(event.payload())
                .containsEntry("code", "cancelled")
                .containsEntry("usage", Map.of("inputTokens", 7, "outputTokens", 3, "costMicros", 11));
        assertThat(again.id()).isNotEqualTo(event.id());
    }

    private static ModelReply reply(Usage usage) {
        return new ModelReply("Hello.", null, List.of(), FinishReason.STOP, usage, "test-model");
    }
}
