package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class EventSchemasTest {
    private static final Instant NOW = Instant.ofEpochMilli(1_800_000_000_000L);

    @Test
    void shouldHaveOneSchemaForEachTypeAndNoneThatBelongsToNoType() throws IOException, URISyntaxException {
        // given
        URL folder = Objects.requireNonNull(EventSchemas.class.getResource("payloads"));

        // when
        Set<String> files;
        try (Stream<Path> paths = Files.list(Path.of(folder.toURI()))) {
            files = paths.map(path -> String.valueOf(path.getFileName())).collect(Collectors.toUnmodifiableSet());
        }

        // then
        assertThat(files)
                .isEqualTo(allTypes().map(type -> type.name() + ".json").collect(Collectors.toUnmodifiableSet()));
        assertThat(allTypes())
                .allSatisfy(type -> assertThat(EventSchemas.payloadSchema(type)
                                .map(schema -> schema.path("$id").asText()))
                        .hasValue("urn:millrace:payload:" + type.name()));
    }

    @Test
    @DisplayName("F-182, F-183, F-292: live text has schemas like any other event")
    void shouldHaveOneSchemaForEachTypeOfLiveTextAndNoneThatBelongsToNoType() throws IOException, URISyntaxException {
        // given
        URL folder = Objects.requireNonNull(EventSchemas.class.getResource("streams"));

        // when
        Set<String> files;
        try (Stream<Path> paths = Files.list(Path.of(folder.toURI()))) {
            files = paths.map(path -> String.valueOf(path.getFileName())).collect(Collectors.toUnmodifiableSet());
        }

        // then
        assertThat(files)
                .isEqualTo(Arrays.stream(StreamType.values())
                        .map(type -> type.wireName() + ".json")
                        .collect(Collectors.toUnmodifiableSet()));
        assertThat(StreamType.values())
                .allSatisfy(type -> assertThat(EventSchemas.payloadSchema(type)
                                .map(schema -> schema.path("$id").asText()))
                        .hasValue("urn:millrace:stream:" + type.wireName()));
    }

    @ParameterizedTest
    @EnumSource(EnvironmentType.class)
    @DisplayName("F-182, F-252: environment types say what to expect, and refuse nothing")
    void shouldSayWhatToExpectOfTheEnvironment(EnvironmentType type) {
        // given
        JsonNode schema = EventSchemas.expected(type);
        Map<String, @Nullable Object> otherwise = new HashMap<>();
        schema.path("properties").fieldNames().forEachRemaining(name -> otherwise.put(name, List.of(true)));

        // then
        assertThat(schema.path("$id").asText()).isEqualTo("urn:millrace:environment:" + type.wireName());
        assertThat(EventSchemas.unexpected(
                        type, event(type, object(schema.path("examples").path(0)))))
                .isEmpty();
        assertThat(EventSchemas.unexpected(type, event(type, otherwise))).isNotEmpty();
        assertThat(EventSchemas.problems(event(type, otherwise))).isEmpty();
        assertThat(EventSchemas.payloadSchema(type)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("allSchemas")
    void shouldBeAValidSchemaOfDraft202012(JsonNode schema) {
        // given
        SchemaRegistry registry = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

        // when
        var errors = registry.getSchema(SchemaLocation.of("https://json-schema.org/draft/2020-12/schema"))
                .validate(schema);

        // then
        assertThat(errors).isEmpty();
        assertThat(schema.path("$schema").asText()).isEqualTo("https://json-schema.org/draft/2020-12/schema");
    }

    @ParameterizedTest
    @MethodSource("allSchemas")
    void shouldDescribeEveryFieldAndGiveOneExample(JsonNode schema) {
        assertThat(schema.path("title").asText()).isNotBlank();
        assertThat(schema.path("examples")).hasSize(1);
        assertThat(undescribed("", schema)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("everyType")
    void shouldAcceptItsOwnExample(EventType type) {
        // given
        JsonNode example =
                EventSchemas.payloadSchema(type).orElseThrow().path("examples").path(0);

        // then
        assertThat(EventSchemas.problems(event(type, object(example)))).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("everyType")
    void shouldAcceptTheValidExample(EventType type) throws IOException {
        assertThat(EventSchemas.problems(event(type, example("valid", type.wireName()))))
                .isEmpty();
    }

    @ParameterizedTest
    @MethodSource("everyType")
    void shouldRefuseTheInvalidExample(EventType type) throws IOException {
        assertThat(EventSchemas.problems(event(type, example("invalid", type.wireName()))))
                .isNotEmpty()
                .allSatisfy(sentence -> assertThat(sentence).matches("/.*: expected .*, found .*"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            MESSAGE_RECEIVED     | {}                             | /: expected one of the fields text, content, found none of them
            MESSAGE_RECEIVED     | {"text": ""}                   | /text: expected at least 1 character, found 0
            MESSAGE_RECEIVED     | {"text": 7}                    | /text: expected a text, found the number 7
            MESSAGE_RECEIVED     | {"text": "a", "metadata": []}  | /metadata: expected an object, found a list
            MESSAGE_RECEIVED     | {"text": "a", "model": null}   | /model: expected a text, found null; leave the field out instead
            WEBHOOK_TRIGGERED    | {"body": 1}                    | /: expected one of the fields text, template, found none of them
            HEARTBEAT            | {}                             | /instance: expected a value, found none
            STEP_COMPLETED       | {"stepIndex": 1.5, "actionsCount": 0}  | /stepIndex: expected a whole number, found the number 1.5
            STEP_COMPLETED       | {"stepIndex": -1, "actionsCount": 0}   | /stepIndex: expected 0 or more, found -1
            STEP_COMPLETED       | {"stepIndex": 9007199254740992, "actionsCount": 0} | /stepIndex: expected 9007199254740991 or less, found 9007199254740992
            STEP_COMPLETED       | {"stepIndex": 99999999999999999999, "actionsCount": 0} | /stepIndex: expected 9007199254740991 or less, found 99999999999999999999
            STEP_COMPLETED       | {"stepIndex": 1e300, "actionsCount": 0} | /stepIndex: expected 9007199254740991 or less, found one of 301 characters
            REASON_DONE          | {"callId": "c", "approach": "both"}    | /approach: expected one of tool_use, direct, found "both"
            REASON_DONE          | {"callId": "c", "response": 1}         | /response: expected a text or null, found the number 1
            REASON_DONE          | {"callId": "c", "needsClarification": true} | /needsClarification: expected false, found true
            REASON_DONE          | {"callId": "c", "toolCalls": [{"toolCallId": "1", "toolName": "t"}]} | /toolCalls/0/arguments: expected a value, found none
            TOOL_CALL_FAILED     | {"callId": "c", "toolName": "t", "error": "e", "code": "Not Found"} | /code: expected a text that matches ^[a-z][a-z0-9_]{0,63}$, found "Not Found"
            """)
    void shouldSayWhereAndWhatIsWrong(KnownEventType type, String payload, String sentence) throws Exception {
        // given
        Event event = event(type, Json.readObject(payload.getBytes(java.nio.charset.StandardCharsets.UTF_8)));

        // then
        assertThat(EventSchemas.problems(event)).containsExactly(sentence);
    }

    @Test
    void shouldTakeATextOfOneTo100000Characters() {
        assertThat(messageProblems("x")).isEmpty();
        assertThat(messageProblems("x".repeat(100_000))).isEmpty();
        assertThat(messageProblems("😀".repeat(100_000))).isEmpty();
        assertThat(messageProblems("x".repeat(100_001)))
                .containsExactly("/text: expected at most 100000 characters, found 100001");
    }

    @Test
    void shouldNotRepeatALongTextInTheSentence() {
        // given
        String secret = "my password is hunter2 and I repeat it: hunter2";

        // when
        List<String> problems = EventSchemas.problems(
                event(KnownEventType.TASK_FAILED, Map.of("error", "e", "code", secret, "iterations", 1)));

        // then
        assertThat(problems)
                .hasSize(1)
                .allSatisfy(sentence -> assertThat(sentence).doesNotContain("hunter2"));
    }

    @Test
    void shouldTellAtMostTenProblems() {
        // given
        List<Map<String, @Nullable Object>> calls = IntStream.range(0, 50)
                .mapToObj(i -> Map.<String, @Nullable Object>of())
                .toList();

        // when
        List<String> problems =
                EventSchemas.problems(event(KnownEventType.REASON_DONE, Map.of("callId", "c", "toolCalls", calls)));

        // then
        assertThat(problems).hasSize(10);
    }

    @Test
    @DisplayName("F-184: a type that the catalogue does not know takes any payload")
    void shouldTakeAnyPayloadOfAnUnknownType() {
        assertThat(EventSchemas.problems(event(EventType.of("file.changed"), Map.of("text", 7))))
                .isEmpty();
    }

    @Test
    void shouldRefuseAPayloadThatIsNestedTooDeep() {
        assertThat(EventSchemas.problems(event(EventType.of("file.changed"), nested(100))))
                .isEmpty();
        assertThat(EventSchemas.problems(event(EventType.of("file.changed"), nested(101))))
                .containsExactly("/: expected at most 100 levels of objects and lists in each other, found more");
    }

    @Test
    void shouldAnswerManyThreadsAtOnce() {
        // when
        List<Boolean> rightAnswers = IntStream.range(0, 2000)
                .parallel()
                .mapToObj(i -> messageProblems("x".repeat(i % 2)).isEmpty() == (i % 2 == 1))
                .toList();

        // then
        assertThat(rightAnswers).hasSize(2000).containsOnly(true);
    }

    @Test
    void shouldGiveFieldsOfOneNameOneShape() {
        // given
        List<String> shared = List.of(
                "callId",
                "usage",
                "code",
                "toolCalls",
                "durationMs",
                "iterations",
                "taskType",
                "callbackUrl",
                "expiresAt");

        // then
        assertThat(shared)
                .allSatisfy(field -> assertThat(everyType()
                                .map(type -> EventSchemas.payloadSchema(type).orElseThrow())
                                .map(schema -> schema.path("properties").path(field))
                                .filter(JsonNode::isObject)
                                .map(EventSchemasTest::withoutDescription)
                                .distinct())
                        .as(field)
                        .hasSize(1));
    }

    @Test
    void shouldAcceptEveryEventAsOneObject() throws IOException {
        // given
        Event small = event(KnownEventType.HEARTBEAT, Map.of("instance", "a"));

        // then
        assertThat(EventSchemas.envelopeProblems(EventJson.toJson(small))).isEmpty();
        assertThat(EventSchemas.envelopeProblems(JsonObject.of(example("valid", "event"))))
                .isEmpty();
        assertThat(EventSchemas.envelopeProblems(
                        object(EventSchemas.envelopeSchema().path("examples").path(0))))
                .isEmpty();
    }

    @Test
    void shouldRefuseAnObjectThatIsNoEvent() throws IOException {
        // given
        JsonObject invalid = example("invalid", "event");

        // then
        assertThat(EventSchemas.envelopeProblems(JsonObject.of(invalid)))
                .containsExactlyInAnyOrder(
                        "/timestamp: expected a whole number, found a text",
                        "/namespace: expected a text without the characters [/\\u0000-\\u001f\\u007f-\\u009f], found \"ac/me\"",
                        "/payload: expected an object, found a list");
        assertThatThrownBy(() -> EventJson.fromJson(JsonObject.of(invalid)))
                .isInstanceOf(MalformedEventException.class);
    }

    static Stream<KnownEventType> allTypes() {
        return Arrays.stream(KnownEventType.values());
    }

    /** Facts and live text. */
    static Stream<EventType> everyType() {
        return Stream.concat(allTypes(), Arrays.stream(StreamType.values()));
    }

    static Stream<JsonNode> allSchemas() {
        return Stream.concat(
                Stream.of(EventSchemas.envelopeSchema()),
                Stream.concat(
                        everyType().map(type -> EventSchemas.payloadSchema(type).orElseThrow()),
                        Arrays.stream(EnvironmentType.values()).map(EventSchemas::expected)));
    }

    private static List<String> messageProblems(String text) {
        return EventSchemas.problems(event(KnownEventType.MESSAGE_RECEIVED, Map.of("text", text)));
    }

    private static List<String> undescribed(String path, JsonNode schema) {
        List<String> missing = new ArrayList<>();
        if (schema.path("description").asText().isBlank()) {
            missing.add(path);
        }
        schema.path("properties")
                .properties()
                .forEach(field -> missing.addAll(undescribed(path + "/" + field.getKey(), field.getValue())));
        if (schema.has("items")) {
            missing.addAll(undescribed(path + "/*", schema.path("items")));
        }
        return missing;
    }

    private static String withoutDescription(JsonNode schema) {
        return schema.toString().replaceFirst("\"description\":\"[^\"]*\",", "");
    }

    private static Map<String, @Nullable Object> nested(int levels) {
        Map<String, @Nullable Object> inner = Map.of();
        for (int i = 1; i < levels; i++) {
            inner = Map.of("inner", inner);
        }
        return inner;
    }

    private static Event event(EventType type, Map<String, @Nullable Object> payload) {
        return Event.root("e1", type, NOW).payload(payload).build();
    }

    private static JsonObject object(JsonNode node) {
        try {
            return Json.readObject(Json.write(node));
        } catch (MalformedEventException e) {
            throw new AssertionError(e);
        }
    }

    private static JsonObject example(String kind, String name) throws IOException {
        try (InputStream in = Objects.requireNonNull(
                EventSchemasTest.class.getResourceAsStream("examples/" + kind + "/" + name + ".json"))) {
            return Json.readObject(in.readAllBytes());
        } catch (MalformedEventException e) {
            throw new AssertionError(e);
        }
    }
}
