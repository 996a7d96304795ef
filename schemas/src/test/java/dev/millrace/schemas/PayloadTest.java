package dev.millrace.schemas;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PayloadTest {

    private static Event event(EventType type, Map<String, @Nullable Object> fields) {
        return Event.root("e1", type, Instant.EPOCH).payload(fields).build();
    }

    /** The types that have a record, and those records. */
    private static Map<EventType, Class<? extends Payload>> records() {
        Map<EventType, Class<? extends Payload>> records = new LinkedHashMap<>();
        Arrays.stream(KnownEventType.values()).forEach(type -> records.put(type, type.payload()));
        Arrays.stream(StreamType.values())
                .filter(type -> type != StreamType.TOKEN)
                .forEach(type -> records.put(type, type.payload()));
        return records;
    }

    private static Stream<EventType> types() {
        return records().keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("types")
    void shouldHaveTheFieldsOfItsSchema(EventType type) {
        Class<? extends Payload> record = requireNonNull(records().get(type));
        JsonNode schema = EventSchemas.payloadSchema(type).orElseThrow();

        assertThat(differences(record, schema, "")).isEmpty();
        assertThat(names(record))
                .containsExactlyInAnyOrderElementsOf(EventSchemas.fields(type).orElseThrow());
    }

    private static List<String> names(Class<?> payload) {
        return Arrays.stream(payload.getRecordComponents())
                .map(RecordComponent::getName)
                .toList();
    }

    /** A part that several types share may have optional fields that one of their schemas has not. */
    private static List<String> differences(Class<?> payload, JsonNode schema, String place) {
        List<String> found = new ArrayList<>();
        List<String> required = new ArrayList<>();
        schema.path("required").forEach(name -> required.add(name.asText()));
        Set<String> known = new HashSet<>(names(payload));
        schema.path("properties").fieldNames().forEachRemaining(name -> {
            if (!known.contains(name)) {
                found.add(place + "/" + name + ": not in the record");
            }
        });
        for (RecordComponent component : payload.getRecordComponents()) {
            String name = place + '/' + component.getName();
            JsonNode field = schema.path("properties").path(component.getName());
            boolean there = required.contains(component.getName())
                    && !field.path("type").toString().contains("null");
            boolean always = !component.getAnnotatedType().isAnnotationPresent(Nullable.class)
                    && component.getType() != List.class;
            if (always != there && component.getType() != List.class && component.getType() != Object.class) {
                found.add(name + ": required in one of both");
            }
            if (!field.isMissingNode()) {
                found.addAll(kinds(component.getGenericType(), field, name));
            }
        }
        return found;
    }

    private static List<String> kinds(Type type, JsonNode schema, String place) {
        if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
            return kinds(list.getActualTypeArguments()[0], schema.path("items"), place + "[]");
        }
        if (type instanceof Class<?> part && part.isRecord()) {
            return differences(part, schema, place);
        }
        String kind =
                switch (type.getTypeName().replaceAll("<.*", "")) {
                    case "java.lang.String" -> "string";
                    case "long", "java.lang.Long" -> "integer";
                    case "boolean", "java.lang.Boolean" -> "boolean";
                    case "dev.millrace.schemas.JsonObject" -> "object";
                    case "java.lang.Object" -> "any";
                    case String other -> throw new AssertionError("no kind of JSON: " + other);
                };
        JsonNode named = schema.path("type");
        String expected = schema.has("enum")
                ? "string"
                : schema.has("const")
                        ? "boolean"
                        : named.isMissingNode()
                                ? "any"
                                : named.isArray() ? named.get(0).asText() : named.asText();
        return kind.equals(expected) ? List.of() : List.of(place + ": " + kind + " for " + expected);
    }

    private static Stream<Event> examples() {
        return types().flatMap(type -> {
            List<Event> examples = new ArrayList<>();
            EventSchemas.payloadSchema(type)
                    .orElseThrow()
                    .path("examples")
                    .forEach(example -> examples.add(event(type, JsonValues.frozenObject(example))));
            return examples.stream();
        });
    }

    @ParameterizedTest
    @MethodSource("examples")
    void shouldSayTheSameAsItsFields(Event example) {
        Event typed = example.toBuilder().payload(example.payload()).build();
        Map<String, @Nullable Object> said = new LinkedHashMap<>(example.fields());
        said.values().removeIf(List.of()::equals); // which is as if it were absent

        assertThat(example.payload()).isNotInstanceOf(Payload.Unknown.class);
        assertThat(typed.fields()).containsAllEntriesOf(said);
        assertThat(EventSchemas.problems(typed)).isEmpty();
    }

    @Test
    void shouldKeepTheBytesThatAStrangerSent() throws Exception {
        // given: odd white space, a field that nobody knows, a whole number with a point
        byte[] sent = "{ \"text\" : \"hi\",\n\"mine\":{\"deep\":[1.0,2e1]} }".getBytes(StandardCharsets.UTF_8);
        RecordHeaders headers = new RecordHeaders();
        headers.add("ce_id", "m1".getBytes(StandardCharsets.UTF_8));
        headers.add("ce_type", "MESSAGE_RECEIVED".getBytes(StandardCharsets.UTF_8));

        // when
        Event event = EventCodec.fromRecord(headers, sent, Instant.EPOCH).withTaskId("t1");
        ProducerRecord<String, byte[]> record = EventCodec.toRecord("journal", event);

        // then
        assertThat(event.payload())
                .isInstanceOfSatisfying(
                        Payload.MessageReceived.class,
                        message -> assertThat(message.text()).isEqualTo("hi"));
        assertThat(event.fields()).containsKey("mine");
        assertThat(EventSchemas.problems(event)).isEmpty();
        assertThat(record.value()).isEqualTo(sent);
    }

    @Test
    void shouldReplaceHalfOfASurrogatePairHoweverItComes() throws Exception {
        // given
        Event typed = Event.root("e1", KnownEventType.TASK_NOTIFY, Instant.EPOCH)
                .payload(new Payload.TaskNotify("a\ud800b"))
                .build();
        RecordHeaders headers = new RecordHeaders();
        headers.add("ce_id", "e1".getBytes(StandardCharsets.UTF_8));
        headers.add("ce_type", "TASK_NOTIFY".getBytes(StandardCharsets.UTF_8));

        // when
        Event read = EventCodec.fromRecord(
                headers, "{\"message\":\"a\\ud800b\"}".getBytes(StandardCharsets.UTF_8), Instant.EPOCH);

        // then
        assertThat(typed.fields()).isEqualTo(Map.of("message", "a\ufffdb"));
        assertThat(read.payload()).isEqualTo(new Payload.TaskNotify("a\ufffdb"));
        assertThat(EventCodec.toRecord("t", typed).value())
                .isEqualTo(EventCodec.toRecord("t", read).value());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"callId\":5,\"code\":\"timeout\",\"error\":\"x\"}",
                "{\"callId\":\"c\",\"code\":\"timeout\",\"error\":\"x\",\"usage\":{\"inputTokens\":1}}",
                "{\"callId\":\"c\",\"code\":\"timeout\",\"error\":\"x\",\"usage\":\"much\"}",
                "{\"callId\":\"c\",\"code\":\"timeout\",\"error\":\"x\",\"retryable\":\"yes\"}",
                "{\"callId\":\"c\",\"code\":\"timeout\",\"error\":\"x\",\"failedAttempts\":{}}"
            })
    void shouldBeUnknownIfItIsNotAsTheSchemaHasIt(String json) throws Exception {
        Event event = event(KnownEventType.MODEL_CALL_FAILED, Json.readObject(json.getBytes(StandardCharsets.UTF_8)));

        assertThat(EventSchemas.problems(event)).isNotEmpty();
        assertThat(event.payload()).isEqualTo(new Payload.Unknown(event.fields()));
    }

    @Test
    void shouldBeUnknownForTypesOfOtherPeople() {
        Event event = event(EventType.of("order.shipped"), Map.of("order", 7));

        assertThat(event.payload()).isEqualTo(new Payload.Unknown(event.fields()));
        assertThat(event.fields()).isEqualTo(Map.of("order", 7));
    }

    @Test
    void shouldKeepEventsWithoutAnyPayloadApart() {
        Event strange =
                Event.root("e1", EventType.of("time.passed"), Instant.EPOCH).build();
        Event started =
                Event.root("e2", KnownEventType.SYSTEM_STARTED, Instant.EPOCH).build();
        Event cancel = Event.root("e3", KnownEventType.TASK_CANCEL_REQUESTED, Instant.EPOCH)
                .build();

        assertThat(strange.payload()).isInstanceOf(Payload.Unknown.class);
        assertThat(started.payload()).isEqualTo(new Payload.SystemStarted(null, null));
        assertThat(cancel.payload()).isEqualTo(new Payload.TaskCancelRequested(null));
        assertThat(cancel.toBuilder().build()).isEqualTo(cancel);
    }

    @Test
    void shouldNotTakeThePayloadOfAnotherType() {
        Event.Builder builder =
                Event.root("e1", KnownEventType.TASK_NOTIFY, Instant.EPOCH).payload(new Payload.TaskCancelled("why"));

        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("payload: expected that of TASK_NOTIFY, found a TaskCancelled");
    }

    @Test
    @DisplayName("F-010: nothing that is reachable from an event can change")
    void shouldBeImmutable() {
        // given
        Map<String, @Nullable Object> result = new LinkedHashMap<>(Map.of("rows", new ArrayList<>(List.of(1))));

        // when
        Payload.ToolCallCompleted payload = new Payload.ToolCallCompleted("c1", "search", result, null, null);
        result.put("more", true);

        // then
        assertThat(payload.result()).isEqualTo(Map.of("rows", List.of(1)));
        assertThat(payload.result())
                .isInstanceOfSatisfying(
                        Map.class,
                        fields -> assertThatThrownBy(fields::clear).isInstanceOf(UnsupportedOperationException.class));
    }
}
