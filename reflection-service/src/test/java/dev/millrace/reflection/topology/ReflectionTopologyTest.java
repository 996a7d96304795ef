package dev.millrace.reflection.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReflectionTopologyTest {

    @TempDir
    Path stateDir;

    private @Nullable TestMemory begun;

    @BeforeEach
    void begin() {
        begun = new TestMemory(stateDir, 2);
    }

    @AfterEach
    void stop() {
        memory().close();
    }

    @Test
    @DisplayName("X-03: a reflection writes memory itself and ends with all four fields, and with what it used")
    void shouldReflect() {
        memory().reflect(request());
        reply(Map.of("path", "facts/user.md", "content", "# User\nAda"), "memory_write");
        reply(Map.of("path", "episodes/2026-11.md", "entry", "- met Ada"), "memory_append");
        reply(Map.of("path", "../x"), "memory_read");
        answer("Ada told me her name.");

        assertThat(memory().completions()).singleElement().satisfies(complete -> {
            assertThat(EventSchemas.problems(complete)).isEmpty();
            assertThat(complete.taskId()).isEqualTo("t1");
            assertThat(complete.parentEventId()).isEqualTo("r1");
            assertThat(complete.fields())
                    .containsEntry("factsWritten", 1)
                    .containsEntry("hasEpisode", true)
                    .containsEntry("toolCallsCount", 3)
                    .containsEntry("assessment", "Ada told me her name.")
                    .containsEntry("usage", Map.of("inputTokens", 12, "outputTokens", 8));
            assertThat(modelCalls(complete))
                    .extracting(call -> call.get("callId"))
                    .isEqualTo(memory().calls.requested.stream()
                            .map(ReflectionCall::callId)
                            .toList());
        });
        assertThat(memory().documents())
                .extracting(document -> document.key())
                .containsExactly("default/facts/user.md", "default/episodes/2026-11.md");
        assertThat(memory().calls.requested)
                .extracting(ReflectionCall::callId)
                .doesNotHaveDuplicates()
                .hasSize(4);
        assertThat(memory().rows(MemoryStores.REFLECTIONS).all().hasNext()).isFalse();
        assertThat(memory().rows(MemoryStores.CALLS).all().hasNext()).isFalse();
    }

    @Test
    @DisplayName("F-101: five rounds of tool calls are the end")
    void shouldEndAfterFiveRounds() {
        memory().reflect(request());
        for (int i = 0; i < 5; i++) {
            reply(Map.of("path", "facts/user.md", "entry", "- " + i), "memory_append");
        }

        assertThat(memory().calls.requested).hasSize(5);
        assertThat(memory().completions())
                .singleElement()
                .satisfies(complete -> assertThat(complete.fields())
                        .containsEntry("assessment", "Max reflection rounds reached")
                        .containsEntry("factsWritten", 5)
                        .containsEntry("hasEpisode", false));
    }

    @Test
    @DisplayName("F-099: a model that fails ends the reflection; what was written stays, and what was paid is told")
    void shouldGiveUpAndTellWhatWasPaid() {
        memory().reflect(request());
        reply(Map.of("path", "facts/user.md", "content", "Ada"), "memory_write");
        ReflectionCall call = memory().calls.requested.getLast();
        memory().reflect(call.reply(KnownEventType.MODEL_CALL_FAILED, TestMemory.START)
                .payload(Map.of(
                        "callId",
                        call.callId(),
                        "code",
                        "model_unavailable",
                        "error",
                        "away",
                        "usage",
                        Map.of("inputTokens", 5, "outputTokens", 0, "attempts", 2, "uncountedAttempts", 1),
                        "failedAttempts",
                        List.of(Map.of("model", "test", "usage", Map.of("inputTokens", 5, "outputTokens", 0)))))
                .build());

        assertThat(memory().completions()).singleElement().satisfies(failed -> {
            assertThat(EventSchemas.problems(failed)).isEmpty();
            assertThat(failed.type()).isEqualTo(KnownEventType.REFLECTION_FAILED);
            assertThat(failed.taskId()).isEqualTo("t1");
            assertThat(failed.fields())
                    .containsEntry("code", "model_unavailable")
                    .containsEntry("factsWritten", 1)
                    .containsEntry("usage", Map.of("inputTokens", 8, "outputTokens", 2));
            assertThat(modelCalls(failed))
                    .extracting(one -> one.get("code"))
                    .containsExactly(null, "model_unavailable");
        });
        assertThat(memory().deadLetters()).isEmpty();
        assertThat(memory().documents()).hasSize(1);
        assertThat(memory().rows(MemoryStores.REFLECTIONS).all().hasNext()).isFalse();
        assertThat(memory().rows(MemoryStores.CALLS).all().hasNext()).isFalse();
    }

    @Test
    @DisplayName("a doubled request, a doubled reply and a reply to an earlier round change nothing")
    void shouldTakeEachOnce() {
        memory().reflect(request());
        memory().reflect(request());
        ReflectionCall first = memory().calls.requested.getFirst();
        Event reply = replyTo(first, Map.of("path", "facts/user.md", "entry", "- once"), "memory_append");
        memory().reflect(reply);
        memory().reflect(reply);

        assertThat(memory().calls.requested).hasSize(2);
        assertThat(memory().documents()).hasSize(1);
    }

    @Test
    @DisplayName("F-097: there is no memory_list in a reflection, and no other tool")
    void shouldRefuseOtherTools() {
        memory().reflect(request());
        reply(Map.of(), "memory_list");

        ReflectionRow row = memory().rows(MemoryStores.REFLECTIONS).get(MemoryStores.reflectionKey("default", "r1"));
        assertThat(row.reflection().rounds().getFirst().calls()).singleElement().satisfies(call -> {
            assertThat(call.failed()).isTrue();
            assertThat(call.result()).isEqualTo("Error: Tool \"memory_list\" is not available in a reflection");
        });
    }

    @Test
    @DisplayName("a reply that nobody waits for any more is counted: a call that two instances made was paid twice")
    void shouldTellWhatALateReplyUsed() {
        memory().reflect(request());
        ReflectionCall call = memory().calls.requested.getFirst();
        answer("Nothing worth remembering.");
        memory().completions();
        memory().reflect(reply(call, "the same", List.of()));

        assertThat(memory().completions()).singleElement().satisfies(late -> {
            assertThat(EventSchemas.problems(late)).isEmpty();
            assertThat(late.type()).isEqualTo(KnownEventType.MODEL_CALL_ABANDONED);
            assertThat(late.fields())
                    .containsEntry("callId", call.callId())
                    .containsEntry("usage", Map.of("inputTokens", 3, "outputTokens", 2));
        });
    }

    @SuppressWarnings("unchecked") // by the schema
    private static List<Map<String, Object>> modelCalls(Event ended) {
        return Objects.requireNonNull((List<Map<String, Object>>) ended.fields().get("modelCalls"));
    }

    private TestMemory memory() {
        if (begun == null) {
            throw new IllegalStateException("not begun");
        }
        return begun;
    }

    private static Event request() {
        return Event.root("r1", KnownEventType.REFLECTION_REQUESTED, TestMemory.START)
                .source("agent")
                .taskId("t1")
                .sessionId("s1")
                .payload(Map.of(
                        "taskId",
                        "t1",
                        "input",
                        "I am Ada",
                        "response",
                        "Hello Ada",
                        "iterations",
                        2,
                        "actionsCount",
                        1))
                .build();
    }

    private void reply(Map<String, Object> arguments, String tool) {
        memory().reflect(replyTo(memory().calls.requested.getLast(), arguments, tool));
    }

    private static Event replyTo(ReflectionCall call, Map<String, Object> arguments, String tool) {
        return reply(call, null, List.of(Map.of("toolCallId", "p1", "toolName", tool, "arguments", arguments)));
    }

    private void answer(String text) {
        memory().reflect(reply(memory().calls.requested.getLast(), text, List.of()));
    }

    private static Event reply(ReflectionCall call, @Nullable String text, List<Map<String, Object>> calls) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", call.callId());
        payload.put("response", text);
        payload.put("toolCalls", new ArrayList<>(calls));
        payload.put("model", "test");
        payload.put("finishReason", "stop");
        payload.put("usage", Map.of("inputTokens", 3, "outputTokens", 2));
        return call.reply(KnownEventType.REASON_DONE, TestMemory.START)
                .payload(payload)
                .build();
    }
}
