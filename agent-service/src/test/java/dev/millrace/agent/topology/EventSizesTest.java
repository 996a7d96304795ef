package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.TOPICS;
import static dev.millrace.agent.topology.TestMachine.event;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.Usage;
import dev.millrace.agent.topology.AdmissionSettings.Policy;
import dev.millrace.engine.MachineStreams;
import dev.millrace.engine.ReplyLimits;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.InputTemplate;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * C2: the largest events that anybody may send, in the encodings that take most room, and what the machine makes of them:
 * each record against what its topic takes.
 */
class EventSizesTest {

    /** Of a record and its batch, beside key, value and headers. */
    private static final int FRAME = 512;

    @TempDir
    Path stateDir;

    private TestMachine machine;

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void start() {
        machine = new TestMachine(
                stateDir,
                new AdmissionSettings(9, Policy.QUEUE),
                List.of(tool("large_tool"), tool("watched_tool").withApproval(new ToolDefinition.Approval.Always())));
    }

    @AfterEach
    void stop() {
        machine.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "\u0001", "\"", "水", "😀"})
    @DisplayName("a task with the longest names, input and answer: completed, reflected on, and its owner told")
    void shouldRepeatTheLongestTaskWithinItsTopics(String character) {
        machine.send(longest("m")
                .payload(Map.of(
                        "text",
                        character.repeat(100_000 / character.length()),
                        "callbackUrl",
                        "http://h/" + "水".repeat(2_000))));
        answer(character.repeat(longestAnswer(character)), List.of());

        assertFits(TOPICS.requests("webhook"), 1);
        assertFits(TOPICS.reflectionRequests(), 1);
        assertThat(assertFits(TOPICS.journal(), 5)).anyMatch(type -> type.equals("TASK_COMPLETED"));
        assertThat(machine.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("what is cut says how much, and the answer is kept before the question")
    void shouldSayWhatWasCut() {
        machine.send(event("m", KnownEventType.MESSAGE_RECEIVED)
                .payload(Map.of("text", "\u0001".repeat(100_000), "callbackUrl", "http://h/")));
        answer("a".repeat(900_000), List.of());

        Map<?, ?> told = toldToTheOwner();
        assertThat(told.get("response")).isEqualTo("a".repeat(900_000));
        assertThat(String.valueOf(told.get("input")))
                .endsWith("characters left out)")
                .hasSizeLessThan(17_000);
        Event reflection = sent(TOPICS.reflectionRequests()).getFirst();
        assertThat(reflection.text("response")).endsWith("characters left out)").hasSizeLessThan(400_000);
        assertThat(reflection.text("input")).endsWith("characters left out)").hasSizeLessThan(67_000);
        assertThat(EventSchemas.problems(reflection)).isEmpty();
    }

    @Test
    @DisplayName("what fits is repeated whole")
    void shouldRepeatWholeWhatFits() {
        machine.send(event("m", KnownEventType.MESSAGE_RECEIVED)
                .payload(Map.of("text", "x".repeat(100_000), "callbackUrl", "http://h/")));
        answer("a".repeat(400_000), List.of());

        Map<?, ?> told = toldToTheOwner();
        assertThat(told.get("response")).isEqualTo("a".repeat(400_000));
        assertThat(told.get("input")).isEqualTo("x".repeat(100_000));
        Event reflection = sent(TOPICS.reflectionRequests()).getFirst();
        assertThat(reflection.text("response")).isEqualTo("a".repeat(400_000));
        assertThat(reflection.text("input")).isEqualTo("x".repeat(100_000));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "\u0001", "\"", "水"})
    @DisplayName("arguments of the largest size reach their worker; larger ones are refused, and the model is told")
    void shouldSendTheLargestArguments(String character) {
        machine.send(longest("m").payload(Map.of("text", "do", "callbackUrl", "http://h/" + "水".repeat(2_000))));
        int room = ReplyLimits.MAX_ARGUMENTS_BYTES - "{\"entry\":\"\"}".length();
        String fits = character.repeat((int) (room / JsonText.bytes(character)));
        answer("", List.of(toolCall("a".repeat(512), fits)));
        assertFits(TOPICS.requests("test"), 1);
        assertFits(TOPICS.journal(), 4);
        assertRowsFit();
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "\u0001", "\"", "水"})
    @DisplayName("a person is asked about, and agrees to, a call with arguments of the largest size")
    void shouldHaveTheLargestArgumentsApproved(String character) {
        machine.send(longest("m").payload(Map.of("text", "do", "callbackUrl", "http://h/" + "水".repeat(2_000))));
        int room = ReplyLimits.MAX_ARGUMENTS_BYTES - "{\"entry\":\"\"}".length();
        String fits = character.repeat((int) (room / JsonText.bytes(character)));
        answer("", List.of(toolCall("a".repeat(512), "watched_tool", fits)));
        assertFits(TOPICS.requests("webhook"), 1);
        Event asked = machine.journal().stream()
                .filter(event -> event.type() == KnownEventType.APPROVAL_REQUESTED)
                .findFirst()
                .orElseThrow();
        machine.send(asked.derive(KnownEventType.APPROVAL_DECIDED, 0, TestMachine.START)
                .payload(Map.of(
                        "callId",
                        String.valueOf(asked.text("callId")),
                        "decision",
                        "approve",
                        "params",
                        Map.of("entry", fits + (character.equals("x") ? "x" : "")))));

        if (character.equals("x")) {
            assertThat(machine.deadLetters()).as("one byte too many").containsExactly("bad_payload");
        } else {
            assertFits(TOPICS.requests("test"), 1);
        }
        assertRowsFit();
    }

    @Test
    void shouldRefuseArgumentsThatLeaveNoRoom() {
        machine.send(event("m", KnownEventType.MESSAGE_RECEIVED).payload(Map.of("text", "do")));
        answer("", List.of(toolCall("c1", "x".repeat(ReplyLimits.MAX_ARGUMENTS_BYTES))));

        assertThat(machine.journal())
                .filteredOn(event -> event.type() == KnownEventType.TOOL_CALL_FAILED)
                .singleElement()
                .satisfies(failed -> assertThat(failed.text("error")).contains("1000000 bytes of JSON"));
        assertThat(machine.called()).hasSize(2);
    }

    @Test
    @DisplayName("numbers that grow when they are written again stay within the journal")
    void shouldTakeNumbersThatGrow() {
        byte[] growing = ("{\"text\":\"t\",\"metadata\":{\"n\":[" + "1e5,".repeat(250_000) + "1]}}")
                .getBytes(StandardCharsets.UTF_8);
        machine.sendRaw(event("m", KnownEventType.MESSAGE_RECEIVED).build(), growing);

        assertThat(assertFits(TOPICS.journal(), 2)).anyMatch(type -> type.equals("TASK_CREATED"));
    }

    @Test
    @DisplayName("X-12: a template makes a text of 100000 characters, and none that is longer")
    void shouldNotFillATemplateBeyondTheLongestInput() {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("a", "x".repeat(1_000));
        assertThat(new InputTemplate("{{a}}".repeat(100))
                        .fill(JsonObject.of(payload))
                        .orElseThrow())
                .hasSize(100_000);
        assertThat(new InputTemplate("{{a}}".repeat(100) + "y").fill(JsonObject.of(payload)))
                .isEmpty();
        assertThat(new InputTemplate("y" + "{{a}}".repeat(100)).fill(JsonObject.of(payload)))
                .isEmpty();
        assertThat(new InputTemplate("{{a}}".repeat(3_000)).fill(JsonObject.of(payload)))
                .isEmpty();

        machine.send(event("w", KnownEventType.WEBHOOK_TRIGGERED)
                .payload(Map.of("template", "{{a}}".repeat(3_000), "a", "x".repeat(1_000))));
        machine.send(event("w2", KnownEventType.SCHEDULE_FIRED)
                .payload(Map.of("template", "{{a}}".repeat(100), "a", "\u0001".repeat(1_000))));

        assertThat(machine.deadLetters()).containsExactly("bad_payload");
        assertThat(machine.called()).containsExactly("w2");
        assertFits(TOPICS.journal(), 2);
    }

    @Test
    @DisplayName("a template of many large values costs no more than one of them")
    void shouldNotBuildWhatItRefuses() {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("a", "x".repeat(1_000_000));

        long before = System.nanoTime();
        assertThat(new InputTemplate("{{a}}".repeat(20_000)).fill(JsonObject.of(payload)))
                .isEmpty();

        assertThat(System.nanoTime() - before).isLessThan(2_000_000_000L);
    }

    @Test
    @DisplayName("half of a surrogate pair, which JSON can say and UTF-8 cannot, does not stop the machine")
    void shouldTakeHalfOfASurrogatePair() {
        byte[] half =
                "{\"text\":\"a\\ud83d\",\"metadata\":{\"\\udc00\":\"\\ud800b\"}}".getBytes(StandardCharsets.UTF_8);
        machine.sendRaw(event("m", KnownEventType.MESSAGE_RECEIVED).build(), half);

        machine.send(TestMachine.message("next"));

        assertThat(machine.called()).contains("next");
    }

    @Test
    @DisplayName("arguments that are no JSON are shown to the model up to a whole character")
    void shouldNotPartASurrogatePairOfMalformedArguments() {
        machine.send(event("m", KnownEventType.MESSAGE_RECEIVED).payload(Map.of("text", "do")));
        Map<String, @Nullable Object> call = new LinkedHashMap<>(toolCall("c1", ""));
        call.put("arguments", Map.of());
        call.put("malformedArguments", "x" + "😀".repeat(200));
        answer("", List.of(call));

        assertThat(machine.called()).hasSize(2);
        assertRowsFit();
    }

    @Test
    @DisplayName("the parent of a sub-task that failed is told the beginning of the longest error")
    void shouldTellAParentTheBeginningOfALongError() {
        Parentage parent = new Parentage("boss", null, "boss/1/0-x", false, Usage.NONE);
        Event failed = event("f", KnownEventType.TASK_FAILED)
                .taskId("child")
                .payload(Map.of("error", "e".repeat(100_000), "code", "internal_error"))
                .build();

        Event told = new TaskRecords(failed).answer(parent, StoredTask.absent(failed, "child", 0));

        assertThat(EventSchemas.problems(told)).isEmpty();
        assertThat(told.text("error")).hasSize(TaskRecords.MAX_CHILD_ERROR);
    }

    /** With ids, a source and a trace of the longest kind. */
    private static Event.Builder longest(String id) {
        return Event.root(id + "水".repeat(199), KnownEventType.MESSAGE_RECEIVED, TestMachine.START)
                .sessionId("話".repeat(200))
                .namespace("名".repeat(200))
                .source("源".repeat(2_048))
                .traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                .tracestate("t".repeat(512));
    }

    /** How often a character may stand in an answer. */
    private static int longestAnswer(String character) {
        long most = ReplyLimits.MAX_TEXT_BYTES / JsonText.bytes(character);
        return (int) Math.min(most, 1_000_000 / character.length());
    }

    private static ToolDefinition tool(String name) {
        return new ToolDefinition(
                name,
                "Takes anything.",
                JsonObject.of(Map.of("type", "object")),
                "test",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    private static Map<String, @Nullable Object> toolCall(String id, String entry) {
        return toolCall(id, "large_tool", entry);
    }

    private static Map<String, @Nullable Object> toolCall(String id, String toolName, String entry) {
        Map<String, @Nullable Object> call = new LinkedHashMap<>();
        call.put("toolCallId", id);
        call.put("toolName", toolName);
        call.put("arguments", Map.of("entry", entry));
        return call;
    }

    private void answer(String text, List<Map<String, @Nullable Object>> toolCalls) {
        OutstandingCall call = machine.model.requested.getLast();
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", call.callId());
        payload.put("response", text);
        payload.put("toolCalls", toolCalls);
        payload.put("usage", Map.of("inputTokens", 3, "outputTokens", 2));
        machine.send(call.reply(KnownEventType.REASON_DONE, TestMachine.START).payload(payload));
    }

    private Map<?, ?> toldToTheOwner() {
        return sent(TOPICS.requests("webhook")).getFirst().fields().get("result") instanceof Map<?, ?> result
                ? result
                : Map.of();
    }

    private List<Event> sent(String topic) {
        List<Event> events = new ArrayList<>();
        for (TestRecord<byte[], byte[]> entry : machine.output(topic).readRecordsToList()) {
            try {
                events.add(EventCodec.fromRecord(entry.headers(), entry.value(), TestMachine.START));
            } catch (MalformedEventException e) {
                throw new AssertionError(e);
            }
        }
        return events;
    }

    /** The types of the records that have come to this topic, none of which is larger than the topic takes. */
    private List<String> assertFits(String topic, int atLeast) {
        int most = TOPICS.all().stream()
                .filter(known -> known.name().equals(topic))
                .findFirst()
                .map(Topics.Topic::maxMessageBytes)
                .orElse(Topics.MAX_EVENT_BYTES);
        List<TestRecord<byte[], byte[]>> records = machine.output(topic).readRecordsToList();
        assertThat(records).as(topic).hasSizeGreaterThanOrEqualTo(atLeast);
        assertThat(records).as(topic).allMatch(record -> bytes(record) <= most);
        return records.stream()
                .map(record -> new String(record.headers().lastHeader("ce_type").value(), StandardCharsets.UTF_8))
                .toList();
    }

    private void assertRowsFit() {
        var rows = machine.driver.getKeyValueStore(TaskStores.ROWS);
        try (var all = rows.all()) {
            all.forEachRemaining(row -> assertThat((byte[]) row.value)
                    .as("%s", row.key)
                    .hasSizeLessThan(MachineStreams.MAX_RECORD_BYTES - FRAME));
        }
    }

    private static int bytes(TestRecord<byte[], byte[]> record) {
        int bytes = FRAME + record.key().length + record.value().length;
        for (Header header : record.headers()) {
            bytes += header.key().length() + header.value().length + 10;
        }
        return bytes;
    }
}
