package dev.millrace.reflection.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.millrace.engine.JsonSerdes;
import dev.millrace.engine.MachineStreams;
import dev.millrace.reflection.core.Capacity;
import dev.millrace.reflection.core.Documents;
import dev.millrace.reflection.core.Reflection;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** C2: what memory can grow to, in the encodings that take most room, against the records that topics and stores take. */
@Tag("slow")
class MemorySizesTest {

    /** Of a record and its batch, beside key, value and headers. */
    private static final int FRAME = 512;

    @TempDir
    Path stateDir;

    private @Nullable TestMemory memory;

    @AfterEach
    void close() {
        if (memory != null) {
            memory.close();
        }
    }

    private TestMemory memory() {
        if (memory == null) {
            memory = new TestMemory(stateDir, 2);
        }
        return memory;
    }

    private TestMemory memory(Capacity capacity) {
        memory = new TestMemory(stateDir, new MemorySettings(TestMemory.TOPICS, 1, 2, capacity));
        return memory;
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "\u0001", "\"", "水", "😀"})
    @DisplayName("memory_list of documents with the longest summaries fits its lane, and so does the longest document")
    void shouldAnswerWithinALane(String character) {
        String line = "> Summary: " + character.repeat(500).strip();
        for (int i = 0; i < 200; i++) {
            memory().send(call("w" + i, "memory_write", write("facts/" + "f".repeat(70) + i + ".md", line)));
        }
        String longest = character.repeat(100 * 1024 / character.getBytes(StandardCharsets.UTF_8).length);
        memory().send(call("long", "memory_write", write("episodes/2026-11.md", longest)));
        assertThat(memory().replies()).allMatch(reply -> reply.type() == KnownEventType.TOOL_CALL_COMPLETED);
        assertThat(memory().documents()).allMatch(record -> bytes(record) < topic(TestMemory.TOPICS.memory()));

        memory().send(call("l", "memory_list", Map.of("limit", 1_000)));
        memory().send(call("r", "memory_read", Map.of("path", "episodes/2026-11.md")));
        memory().send(call("v", "memory_append", Map.of("path", "episodes/2026-11.md", "entry", "x")));

        List<TestRecord<byte[], byte[]>> replies =
                memory().output(TestMemory.TOPICS.lane(Segment.TOOL)).readRecordsToList();
        assertThat(replies).hasSize(3).allMatch(record -> bytes(record) < Topics.MAX_EVENT_BYTES);
        assertThat(bytes(replies.getFirst())).isLessThan(Topics.MAX_EVENT_BYTES / 3);
    }

    @Test
    @DisplayName("at the limit of documents a new one is refused, and what is there can be changed and read")
    void shouldRefuseOneDocumentTooMany() {
        try (TestMemory full = memory(new Capacity(3, 1_000_000))) {
            memory = null;
            for (int i = 1; i <= 3; i++) {
                full.send(call("w" + i, "memory_write", write("facts/f" + i + ".md", "x")));
            }
            full.send(call("w4", "memory_write", write("facts/f4.md", "x")));
            full.send(call("a", "memory_append", Map.of("path", "facts/f3.md", "entry", "y")));
            full.send(edit("e1", "facts/f4.md", "x"));
            full.send(edit("e2", "facts/f1.md", null));
            full.send(edit("e3", "facts/f4.md", "x"));
            full.send(edit("e4", "facts/f5.md", "x"));

            assertThat(full.replies())
                    .extracting(Event::type, reply -> String.valueOf(reply.text("code")))
                    .containsExactly(
                            tuple(KnownEventType.TOOL_CALL_COMPLETED, "null"),
                            tuple(KnownEventType.TOOL_CALL_COMPLETED, "null"),
                            tuple(KnownEventType.TOOL_CALL_COMPLETED, "null"),
                            tuple(KnownEventType.TOOL_CALL_FAILED, "memory_full"),
                            tuple(KnownEventType.TOOL_CALL_COMPLETED, "null"));
            assertThat(full.documents().stream()
                            .filter(record -> record.headers().lastHeader("millrace-answer") != null)
                            .map(record ->
                                    header(record, "millrace-answer") + " " + header(record, "millrace-outcome")))
                    .containsExactly("e1 memory_full", "e2 2", "e3 1", "e4 memory_full");
        }
    }

    @Test
    @DisplayName("at the limit of bytes nothing makes memory larger, and everything may make it smaller")
    void shouldRefuseOneByteTooMany() {
        try (TestMemory full = memory(new Capacity(10, 1_000))) {
            memory = null;
            full.send(call("w1", "memory_write", write("facts/a.md", "ä".repeat(250))));
            full.send(call("w2", "memory_write", write("facts/b.md", "x".repeat(500))));
            full.send(call("w3", "memory_write", write("facts/b.md", "x".repeat(501))));
            full.send(call("w4", "memory_write", write("facts/b.md", "x".repeat(499))));
            full.send(call("w5", "memory_write", write("facts/c.md", "y")));
            full.send(call("w6", "memory_write", write("facts/d.md", "z")));

            assertThat(full.replies())
                    .extracting(reply -> String.valueOf(reply.text("code")))
                    .containsExactly("null", "null", "memory_full", "null", "null", "memory_full");
        }
    }

    @Test
    @DisplayName("a namespace that an older version has written is counted before the first change")
    void shouldCountWhatIsThere() {
        memory().send(call("w1", "memory_write", write("facts/a.md", "ä")));
        memory().send(call("w2", "memory_write", write("facts/b.md", "x")));
        memory().rows(MemoryStores.EXTENTS).delete("default");

        memory().send(call("w3", "memory_write", write("facts/c.md", "x")));

        assertThat(memory().rows(MemoryStores.EXTENTS).get("default")).isEqualTo(new Documents.Extent(3, 4));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "\u0001", "\"", "水", "😀"})
    @DisplayName(
            "the row of a reflection on the longest task, in a full memory, whose model reads all that it may, fits its"
                    + " changelog; and so does what it ends with")
    void shouldBoundARow(String character) {
        int size = character.getBytes(StandardCharsets.UTF_8).length;
        for (int i = 0; i < 300; i++) {
            memory().send(call(
                    "w" + i, "memory_write", write("facts/f" + i + ".md", character.repeat(15 * 1024 / size))));
        }
        for (int month = 1; month <= 9; month++) {
            memory().send(call(
                    "e" + month,
                    "memory_write",
                    write("episodes/2026-0" + month + ".md", character.repeat(100 * 1024 / size))));
        }
        memory().reflect(Event.root("r1", KnownEventType.REFLECTION_REQUESTED, TestMemory.START)
                .taskId("t1")
                .payload(Map.of(
                        "taskId",
                        "t1",
                        "input",
                        character.repeat(100_000 / character.length()),
                        "response",
                        character.repeat(150_000 / character.length()),
                        "iterations",
                        2,
                        "actionsCount",
                        1))
                .build());
        for (int round = 1; round <= 4; round++) {
            List<Map<String, Object>> calls = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                calls.add(Map.of(
                        "toolCallId",
                        character.repeat(500 / character.length()) + i,
                        "toolName",
                        "memory_read",
                        "arguments",
                        Map.of("path", "episodes/2026-0" + (i % 9 + 1) + ".md")));
            }
            reply(character.repeat(100_000 / character.length()), calls);
            ReflectionRow row =
                    memory().rows(MemoryStores.REFLECTIONS).get(MemoryStores.reflectionKey("default", "r1"));
            assertThat(row.reflection().rounds()).hasSize(round);
            assertThat(row.reflection().rounds().getLast().text()).contains("calls were left out");
            assertThat(JsonSerdes.of(JsonSerdes.WITH_EVENTS, ReflectionRow.class)
                            .serializer()
                            .serialize("rows", row))
                    .as("the row after round %d", round)
                    .hasSizeLessThan(MachineStreams.MAX_RECORD_BYTES - FRAME);
        }
        reply(character.repeat(150_000 / character.length()), List.of());

        assertThat(memory().completions()).singleElement().satisfies(complete -> {
            assertThat(EventSchemas.problems(complete)).isEmpty();
            assertThat(complete.text("assessment")).hasSizeLessThan(Reflection.MAX_ASSESSMENT_CHARS + 100);
        });
    }

    @Test
    @DisplayName(
            "the largest document of control characters can be read in a task, and a reflection that cannot take it says so")
    void shouldTellAReflectionThatAResultIsTooLarge() {
        memory().send(call("w", "memory_write", write("episodes/2026-11.md", "\u0001".repeat(100 * 1024))));
        memory().reflect(Event.root("r1", KnownEventType.REFLECTION_REQUESTED, TestMemory.START)
                .taskId("t1")
                .payload(Map.of("taskId", "t1", "input", "x", "response", "y", "iterations", 2, "actionsCount", 1))
                .build());

        reply(
                "",
                List.of(Map.of(
                        "toolCallId",
                        "c",
                        "toolName",
                        "memory_read",
                        "arguments",
                        Map.of("path", "episodes/2026-11.md"))));

        ReflectionRow row = memory().rows(MemoryStores.REFLECTIONS).get(MemoryStores.reflectionKey("default", "r1"));
        assertThat(row.reflection().rounds().getFirst().calls())
                .singleElement()
                .satisfies(call -> assertThat(call.result()).startsWith("Error: the result has 614402 characters"));
    }

    @Test
    @DisplayName("arguments that the model got wrong are told back to it")
    void shouldTellAReflectionAboutMalformedArguments() {
        memory().reflect(Event.root("r1", KnownEventType.REFLECTION_REQUESTED, TestMemory.START)
                .taskId("t1")
                .payload(Map.of("taskId", "t1", "input", "x", "response", "y", "iterations", 2, "actionsCount", 1))
                .build());

        reply(
                "",
                List.of(Map.of(
                        "toolCallId",
                        "c",
                        "toolName",
                        "memory_write",
                        "arguments",
                        Map.of(),
                        "malformedArguments",
                        "one with a number beyond")));

        ReflectionRow row = memory().rows(MemoryStores.REFLECTIONS).get(MemoryStores.reflectionKey("default", "r1"));
        assertThat(row.reflection().rounds().getFirst().calls()).singleElement().satisfies(call -> {
            assertThat(call.failed()).isTrue();
            assertThat(call.result())
                    .isEqualTo(
                            "Error: INVALID JSON ARGUMENTS: expected a JSON object, found: one with a number beyond");
        });
    }

    @Test
    @DisplayName("a summary whose longest part ends within a character does not stop the machine")
    void shouldPublishASummaryOfEmoji() {
        memory().send(call("w", "memory_write", write("facts/a.md", "> Summary: " + "😀".repeat(300))));

        assertThat(memory().documents()).hasSize(1);
        assertThat(memory().replies()).hasSize(1);
    }

    private void reply(String text, List<Map<String, Object>> toolCalls) {
        ReflectionCall call = memory().calls.requested.getLast();
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", call.callId());
        payload.put("response", text);
        payload.put("toolCalls", toolCalls);
        payload.put("usage", Map.of("inputTokens", 1, "outputTokens", 1));
        memory().reflect(call.reply(KnownEventType.REASON_DONE, TestMemory.START)
                .payload(payload)
                .build());
    }

    private static Event call(String callId, String tool, Map<String, Object> params) {
        return TestMemory.call(callId, tool, params).build();
    }

    private static Map<String, Object> write(String path, String content) {
        return Map.of("path", path, "content", content);
    }

    private static Event edit(String id, String path, @Nullable String content) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("path", path);
        if (content != null) {
            payload.put("content", content);
        }
        return Event.root(id, KnownEventType.MEMORY_EDIT_REQUESTED, TestMemory.START)
                .payload(payload)
                .build();
    }

    private static String header(TestRecord<String, byte[]> record, String name) {
        return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }

    private static int topic(String name) {
        return TestMemory.TOPICS.all().stream()
                .filter(topic -> topic.name().equals(name))
                .findFirst()
                .orElseThrow()
                .maxMessageBytes();
    }

    private static int bytes(TestRecord<?, byte[]> record) {
        int bytes = FRAME + (record.value() == null ? 0 : record.value().length);
        for (var header : record.headers()) {
            bytes += header.key().length() + header.value().length + 10;
        }
        return bytes;
    }
}
