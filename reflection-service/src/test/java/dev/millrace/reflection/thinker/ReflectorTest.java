package dev.millrace.reflection.thinker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.engine.ReplyLimits;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.reflection.topology.ReflectionCall;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ReflectorTest {

    private static final Instant NOW = Instant.parse("2026-02-01T00:00:00Z");
    private static final ReflectionCall CALL = new ReflectionCall(
            "reflection/1/1",
            Event.root("r1", KnownEventType.REFLECTION_REQUESTED, NOW)
                    .taskId("t1")
                    .build(),
            0,
            0);

    @Test
    @DisplayName("H8: arguments that no event can have are told back to the model")
    void shouldTakeArgumentsThatNoEventCanHaveAsMalformed() {
        Event event = replied(
                "",
                new ToolCallRequest("c", "memory_write", Map.of("n", new BigDecimal("1e400"))),
                new ToolCallRequest("c", "memory_write\ud83d", Map.of(), "no JSON"));

        assertThat(event.type()).isEqualTo(KnownEventType.REASON_DONE);
        assertThat(EventSchemas.problems(event)).isEmpty();
        assertThat(String.valueOf(event.fields().get("toolCalls")))
                .contains("malformedArguments=one with a number", "malformedArguments=no JSON");
    }

    @Test
    @DisplayName("H8: a reply that no event can tell fails the call, and is counted")
    void shouldFailWhatCannotBeTold() {
        Event event = replied("x".repeat(ReplyLimits.MAX_TEXT_BYTES + 1));

        assertThat(event.type()).isEqualTo(KnownEventType.MODEL_CALL_FAILED);
        assertThat(EventSchemas.problems(event)).isEmpty();
        assertThat(event.fields())
                .containsEntry("code", "bad_response")
                .containsEntry("usage", Map.of("inputTokens", 7, "outputTokens", 3));
    }

    private static Event replied(String text, ToolCallRequest... calls) {
        ModelReply reply =
                new ModelReply(text, null, List.of(calls), FinishReason.STOP, new ModelReply.Usage(7, 3), "test-model");
        return Reflector.reply(CALL, new ModelOutcome.Replied(reply, 1), NOW);
    }
}
