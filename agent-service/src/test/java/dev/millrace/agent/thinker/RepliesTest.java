package dev.millrace.agent.thinker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.engine.ReplyLimits;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelCharge;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
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
        assertThat(event.fields())
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
    @DisplayName("F-083, F-146: a reply says of what kind it is, and its plan")
    void shouldSayWhatAReplyIs() {
        // when
        Event direct = replied("hello");
        Event tools = replied(
                "let me see",
                new ToolCallRequest("c1", "read_file", Map.of("path", "a")),
                new ToolCallRequest("c2", "list_files", Map.of()));
        Event question = replied("hm", asking("Which one?"));

        // then
        assertThat(List.of(direct, tools, question)).allSatisfy(event -> {
            assertThat(EventSchemas.problems(event)).isEmpty();
            assertThat(event.source()).isEqualTo("cognitive.reason");
            assertThat(event.fields())
                    .containsEntry("callId", CALL.callId())
                    .containsEntry("reasoning", "thought")
                    .containsEntry("finishReason", "tool_calls")
                    .containsEntry("contextWindow", 1_000);
        });
        assertThat(direct.fields())
                .containsEntry("response", "hello")
                .containsEntry("approach", "direct")
                .containsEntry("needsClarification", false)
                .containsEntry("toolCalls", List.of())
                .containsEntry(
                        "steps",
                        List.of(Map.of("index", 0, "description", "Respond to the user", "actionType", "respond")));
        assertThat(tools.fields())
                .containsEntry("response", "let me see")
                .containsEntry("approach", "tool_use")
                .containsEntry("needsClarification", false)
                .containsEntry("steps", List.of(step(0, "read_file"), step(1, "list_files")));
        assertThat(toolCalls(tools))
                .containsExactly(
                        Map.of("toolCallId", "c1", "toolName", "read_file", "arguments", Map.of("path", "a")),
                        Map.of("toolCallId", "c2", "toolName", "list_files", "arguments", Map.of()));
        assertThat(question.type()).isEqualTo(KnownEventType.NEED_MORE_INFO);
        assertThat(question.fields())
                .containsEntry("question", "Which one?")
                .containsEntry("toolCallId", "c1")
                .containsEntry("response", "hm")
                .containsEntry("approach", "tool_use")
                .containsEntry("needsClarification", true)
                .doesNotContainKey("steps");
    }

    private static Map<String, Object> step(int index, String tool) {
        return Map.of("index", index, "description", "Call tool: " + tool, "actionType", "tool_call", "toolName", tool);
    }

    @Test
    void shouldLeaveOutWhatTheProviderDoesNotSay() {
        // given
        ModelOutcome outcome = new ModelOutcome.Replied(reply(new Usage(100, 20)), 1);

        // when
        Event event = Replies.of(CALL, outcome, 1_000, NOW);

        // then
        assertThat(event.fields()).containsEntry("usage", Map.of("inputTokens", 100, "outputTokens", 20));
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
        assertThat(event.fields())
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
        assertThat(event.fields())
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
        assertThat(charged.fields())
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
        assertThat(free.fields())
                .containsEntry(
                        "usage", Map.of("inputTokens", 0, "outputTokens", 0, "attempts", 2, "uncountedAttempts", 2));
        assertThat(unasked.fields()).doesNotContainKey("usage");
    }

    @Test
    void shouldCountAReplyThatIsTooLargeForARecord() {
        // given
        ModelOutcome outcome = new ModelOutcome.Replied(reply(new Usage(100, 20)), 1);

        // when
        Event event = Replies.tooLarge(CALL, outcome, NOW);

        // then
        assertThat(EventSchemas.problems(event)).isEmpty();
        assertThat(event.fields())
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
        assertThat(event.fields())
                .containsEntry("code", "cancelled")
                .containsEntry("usage", Map.of("inputTokens", 7, "outputTokens", 3, "costMicros", 11));
        assertThat(again.id()).isNotEqualTo(event.id());
    }

    private static ModelReply reply(Usage usage) {
        return new ModelReply("Hello.", null, List.of(), FinishReason.STOP, usage, "test-model");
    }

    @Test
    @DisplayName("H8: arguments that no event can have are told back to the model, which may do better")
    void shouldTakeArgumentsThatNoEventCanHaveAsMalformed() {
        for (Object odd : List.of(
                new BigDecimal("1e400"),
                new BigDecimal("1e-400"),
                BigInteger.TWO.pow(1_024),
                Double.POSITIVE_INFINITY,
                nested(98),
                "x".repeat(ReplyLimits.MAX_ARGUMENTS_BYTES))) {
            Event event = replied("ok", new ToolCallRequest("c1", "write_file", Map.of("n", odd)));

            assertThat(event.type()).isEqualTo(KnownEventType.REASON_DONE);
            assertThat(EventSchemas.problems(event)).isEmpty();
            assertThat(toolCalls(event))
                    .singleElement()
                    .satisfies(call -> assertThat(call)
                            .containsEntry("arguments", Map.of())
                            .extracting("malformedArguments")
                            .asString()
                            .startsWith("one ")
                            .hasSizeLessThan(300));
            assertThat(event.fields()).containsKey("usage");
        }
    }

    @Test
    void shouldTakeArgumentsAtTheLimits() {
        int frame = "{\"n\":\"\"}".length();
        for (Object fitting :
                List.of(new BigDecimal("1.7e308"), nested(96), "x".repeat(ReplyLimits.MAX_ARGUMENTS_BYTES - frame))) {
            Event event = replied("", new ToolCallRequest("c1", "write_file", Map.of("n", fitting)));

            assertThat(EventSchemas.problems(event)).isEmpty();
            assertThat(toolCalls(event).getFirst()).doesNotContainKey("malformedArguments");
        }
    }

    @Test
    @DisplayName("H8: ids and names of any kind make a legal reply, in which each call has an id of its own")
    void shouldMakeIdsThatDiffer() {
        Event event = replied(
                "ok",
                new ToolCallRequest("", "a", Map.of()),
                new ToolCallRequest("i".repeat(513), "n".repeat(200_000), Map.of()),
                new ToolCallRequest("same", "b", Map.of()),
                new ToolCallRequest("same", "b\ud83d", Map.of("k\udc00", "v\ud800")),
                new ToolCallRequest("same", "", Map.of(), "m".repeat(2_000_000)));

        assertThat(EventSchemas.problems(event)).isEmpty();
        assertThat(toolCalls(event)).extracting(call -> call.get("toolCallId")).doesNotHaveDuplicates();
        assertThat(toolCalls(event).get(1).get("toolName"))
                .asString()
                .hasSize(ReplyLimits.MAX_TOOL_NAME)
                .endsWith("…");
        assertThat(toolCalls(event).get(2)).containsEntry("toolCallId", "same");
        assertThat(EventCodec.toRecord("lane", event).value()).isNotEmpty();
    }

    @Test
    @DisplayName("H8: what no event can tell fails the call at once, and is counted")
    void shouldFailWhatCannotBeTold() {
        ToolCallRequest[] many = IntStream.rangeClosed(0, ReplyLimits.MAX_TOOL_CALLS)
                .mapToObj(i -> new ToolCallRequest("c" + i, "t", Map.of()))
                .toArray(ToolCallRequest[]::new);
        for (Event event : List.of(
                replied("x".repeat(ReplyLimits.MAX_TEXT_BYTES + 1)),
                replied("\u0001".repeat(ReplyLimits.MAX_TEXT_BYTES / 6 + 1)),
                replied("", many))) {
            assertThat(event.type()).isEqualTo(KnownEventType.MODEL_CALL_FAILED);
            assertThat(EventSchemas.problems(event)).isEmpty();
            assertThat(event.fields())
                    .containsEntry("code", "bad_response")
                    .containsEntry("usage", Map.of("inputTokens", 100, "outputTokens", 20));
        }
        assertThat(replied("x".repeat(ReplyLimits.MAX_TEXT_BYTES)).type()).isEqualTo(KnownEventType.REASON_DONE);
        assertThat(replied("", Arrays.copyOf(many, ReplyLimits.MAX_TOOL_CALLS)).type())
                .isEqualTo(KnownEventType.REASON_DONE);
    }

    @Test
    @DisplayName("H8: whatever a provider counts, says about a failure, or calls its model, there is an event of it")
    void shouldTellWhateverAProviderSays() {
        Usage odd = new Usage(Long.MAX_VALUE, -5, Long.MAX_VALUE, 0, 7, Long.MIN_VALUE);
        ModelReply reply = new ModelReply("ok", null, List.of(), FinishReason.STOP, odd, "m".repeat(300));
        ModelCallException failure = new ModelCallException(ModelErrorCode.REFUSED, "no".repeat(100_000));
        List<ModelCharge> charges = List.of(new ModelCharge("", odd), new ModelCharge("m".repeat(300), odd));

        for (ModelOutcome outcome : List.of(
                new ModelOutcome.Replied(reply, 2, failure, charges), new ModelOutcome.Failed(failure, 2, charges))) {
            assertThat(EventSchemas.problems(Replies.of(CALL, outcome, 1_000, NOW)))
                    .isEmpty();
            assertThat(EventSchemas.problems(Replies.ofSummary(CALL, outcome, "request", NOW)))
                    .isEmpty();
            assertThat(EventSchemas.problems(Replies.abandoned(CALL, outcome, NOW)))
                    .isEmpty();
            assertThat(EventSchemas.problems(Replies.tooLarge(CALL, outcome, NOW)))
                    .isEmpty();
            assertThat(EventSchemas.problems(Replies.mismatch(CALL, outcome, List.of("p".repeat(200_000)), NOW)))
                    .isEmpty();
        }
    }

    @Test
    @DisplayName("a question too long to be shown is no question, and the model is told")
    void shouldAskNoQuestionThatNobodyCanBeShown() {
        assertThat(replied("", asking("q".repeat(Replies.MAX_QUESTION))).type())
                .isEqualTo(KnownEventType.NEED_MORE_INFO);
        Event tooLong = replied("", asking("q".repeat(Replies.MAX_QUESTION + 1)));
        assertThat(tooLong.type()).isEqualTo(KnownEventType.REASON_DONE);
        assertThat(EventSchemas.problems(tooLong)).isEmpty();
    }

    private static ToolCallRequest asking(String question) {
        return new ToolCallRequest("c1", Prompts.ASK_USER, Map.of("question", question));
    }

    private static Event replied(String text, ToolCallRequest... calls) {
        ModelReply reply = new ModelReply(
                text, "thought", List.of(calls), FinishReason.TOOL_CALLS, new Usage(100, 20), "test-model");
        return Replies.of(CALL, new ModelOutcome.Replied(reply, 1), 1_000, NOW);
    }

    private static Object nested(int levels) {
        Object inner = "x";
        for (int i = 0; i < levels; i++) {
            inner = List.of(inner);
        }
        return inner;
    }

    private static List<Map<String, Object>> toolCalls(Event event) {
        List<Map<String, Object>> calls = new ArrayList<>();
        if (event.fields().get("toolCalls") instanceof List<?> list) {
            for (Object item : list) {
                Map<String, Object> call = new LinkedHashMap<>();
                ((Map<?, ?>) item).forEach((name, value) -> call.put(String.valueOf(name), value));
                calls.add(call);
            }
        }
        return calls;
    }
}
