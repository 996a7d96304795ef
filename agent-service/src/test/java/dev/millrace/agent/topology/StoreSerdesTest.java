package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.Plan;
import dev.millrace.agent.core.TaskContext;
import dev.millrace.agent.core.TaskError;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.ToolCall;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.Usage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StoreSerdesTest {

    private static final Path RELEASED = Path.of("src/test/resources/states/v1");
    private static final TaskContext CONTEXT = new TaskContext("t1", "general", 100, 2, 1, 0, 3, 42, new Usage(10, 20));
    private static final TaskState.Reasoning REASONING = new TaskState.Reasoning(CONTEXT, "t1/2/0-00000000");
    private static final TaskState.Acting ACTING = new TaskState.Acting(
            CONTEXT,
            new Plan(List.of(
                    new Plan.CallStep(0, "t1/2/1-00000000", "c1", "read_file", true),
                    new Plan.RespondStep(1, null, false))));

    static Stream<TaskState> states() {
        return Stream.of(
                TaskState.ABSENT,
                new TaskState.Idle(CONTEXT),
                REASONING,
                ACTING,
                new TaskState.Suspended(REASONING, "", null, null),
                new TaskState.Suspended(
                        REASONING,
                        "lunch",
                        new TaskState.KeptReply(
                                "text",
                                List.of(
                                        new ToolCall(
                                                "c1",
                                                "read_file",
                                                "{}",
                                                new ToolCall.Run("tool", 30_000, new ToolCall.Approval(60_000, true))),
                                        new ToolCall("c2", "x", "{}", new ToolCall.Refuse("tool_not_found", "no")))),
                        null),
                new TaskState.Suspended(
                        ACTING,
                        "",
                        null,
                        new TaskState.Question("how many?", "q1", List.of(new TranscriptEntry.Call("c", "t", "{}")))),
                new TaskState.Completed(CONTEXT),
                new TaskState.Failed(CONTEXT, new TaskError("iteration_limit", "too many")),
                new TaskState.Cancelled(CONTEXT, "no longer needed"));
    }

    @ParameterizedTest
    @MethodSource("states")
    @DisplayName("F-124: every state survives the store")
    void shouldKeepStates(TaskState state) {
        StoredTask task = new StoredTask("default", "t1", "s1", "m1", "e1", 1_800_000_000_000L, state);

        byte[] stored = StoreSerdes.TASK.serializer().serialize("tasks", task);

        assertThat(StoreSerdes.TASK.deserializer().deserialize("tasks", stored)).isEqualTo(task);
    }

    @ParameterizedTest
    @MethodSource("states")
    @DisplayName("what version 1 wrote is readable for ever")
    void shouldReadWhatWasReleased(TaskState state) throws IOException {
        StoredTask task = new StoredTask("default", "t1", "s1", "m1", "e1", 1_800_000_000_000L, state);
        Path file = RELEASED.resolve(
                state.label() + "-" + Integer.toHexString(state.toString().hashCode()) + ".json");
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.createDirectories(RELEASED);
            Files.write(file, StoreSerdes.TASK.serializer().serialize("tasks", task));
        }

        assertThat(StoreSerdes.TASK.deserializer().deserialize("tasks", Files.readAllBytes(file)))
                .isEqualTo(task);
    }

    @Test
    @DisplayName("transcript entries survive the store, fields of a later version are passed over")
    void shouldKeepTranscripts() {
        List<TranscriptEntry> entries = List.of(
                new TranscriptEntry.UserText("hi \u0001 \"there\""),
                new TranscriptEntry.AssistantTurn(null, List.of(new TranscriptEntry.Call("c", "t", "{\"a\":1}"))),
                new TranscriptEntry.ToolResult("c", "t", "Error: no", true));

        assertThat(entries)
                .allSatisfy(entry -> assertThat(StoreSerdes.TRANSCRIPT_ENTRY
                                .deserializer()
                                .deserialize(
                                        "t",
                                        StoreSerdes.TRANSCRIPT_ENTRY
                                                .serializer()
                                                .serialize("t", entry)))
                        .isEqualTo(entry));
        assertThat(StoreSerdes.TRANSCRIPT_ENTRY
                        .deserializer()
                        .deserialize(
                                "t",
                                "{\"role\":\"user\",\"text\":\"hi\",\"image\":\"later\"}"
                                        .getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(new TranscriptEntry.UserText("hi"));
    }
}
