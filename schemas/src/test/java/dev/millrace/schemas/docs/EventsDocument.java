package dev.millrace.schemas.docs;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.core.util.Separators;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectWriter;
import dev.millrace.schemas.CustomEventType;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.EnvironmentType;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.StreamType;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.Topics.Cleanup;
import dev.millrace.schemas.Topics.Topic;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;

/** {@code docs/events.md}: the template with its {@code {{places}}} filled in. */
final class EventsDocument {
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final ObjectWriter PRETTY = Json.MAPPER.writer(new DefaultPrettyPrinter(
                    Separators.createDefaultInstance().withObjectFieldValueSpacing(Separators.Spacing.AFTER))
            .withObjectIndenter(new DefaultIndenter("  ", "\n"))
            .withArrayIndenter(new DefaultIndenter("  ", "\n")));

    private EventsDocument() {}

    static String text() throws IOException {
        Map<String, String> places = new LinkedHashMap<>();
        places.put("topics", topics());
        places.put("custom-code", Integer.toString(CustomEventType.CODE));
        places.put("catalogue", catalogue());
        places.put("max-depth", Integer.toString(EventSchemas.MAX_DEPTH));
        places.put("payloads", payloads());
        places.put("environment", environment());
        places.put("streams", streams());
        places.put("tokens-retention", Long.toString(Topics.TOKENS_RETENTION.toMinutes()));
        places.put("envelope", fields(EventSchemas.envelopeSchema()) + "\n\n" + example(EventSchemas.envelopeSchema()));
        places.put("tool-definition", toolDefinition());
        places.put("default-timeout", Long.toString(ToolDefinition.DEFAULT_TIMEOUT_MS));
        Event request = Samples.request();
        places.put(
                "request",
                wire(TOPICS.requests("weather"), String.valueOf(request.fields().get("callId")), request));
        Event reply = Samples.reply(request);
        places.put("reply", wire(TOPICS.lane(reply.lane()), reply.sessionKey(), reply));
        places.put("dead-letter-headers", deadLetterHeaders());
        places.put("codes", codes());

        String text = template();
        for (Map.Entry<String, String> place : places.entrySet()) {
            String mark = "{{" + place.getKey() + "}}";
            if (!text.contains(mark)) {
                throw new AssertionError("the template has no " + mark);
            }
            text = text.replace(mark, place.getValue());
        }
        return "<!-- Made from schemas/src/test/resources/dev/millrace/schemas/docs/events.template.md, the catalogue and"
                + " the JSON Schemas. Rewrite it with " + GeneratedDocsTest.COMMAND + " -->\n" + text;
    }

    private static String template() throws IOException {
        try (InputStream in = Objects.requireNonNull(EventsDocument.class.getResourceAsStream("events.template.md"))) {
            return new String(in.readAllBytes(), UTF_8);
        }
    }

    private static String topics() {
        return table(
                "topic | holds | key | partitions | kept | written by | read by",
                TOPICS.all().stream().map(EventsDocument::topicRow));
    }

    private static String environment() {
        return table(
                "type | meaning | to expect in the payload",
                Arrays.stream(EnvironmentType.values())
                        .map(type -> "`" + type.wireName() + "` | " + type.summary() + " | "
                                + Stream.of(EventSchemas.expected(type).path("properties"))
                                        .flatMap(fields -> fields.propertyStream())
                                        .map(field -> "`" + field.getKey() + "`")
                                        .collect(Collectors.joining(", "))));
    }

    private static String streams() {
        return table(
                        "type | meaning",
                        Arrays.stream(StreamType.values())
                                .map(type -> "[`" + type + "`](#" + GeneratedDocsTest.anchor(type.wireName()) + ") | "
                                        + type.summary()))
                + "\n\n"
                + Arrays.stream(StreamType.values())
                        .map(type ->
                                section(type, EventSchemas.payloadSchema(type).orElseThrow()))
                        .collect(Collectors.joining("\n\n"));
    }

    private static String topicRow(Topic topic) {
        String kept = topic.cleanup() == Cleanup.COMPACT
                ? "the newest of each key"
                : topic.retention().toDays() == 0
                        ? topic.retention().toMinutes() + " minutes"
                        : topic.retention().toDays() == 1
                                ? "1 day"
                                : topic.retention().toDays() + " days";
        return String.join(
                " | ",
                "`" + topic.name() + "`",
                topic.purpose(),
                topic.key(),
                topic.coPartitioned() ? "*n*" : "any",
                kept,
                topic.writtenBy(),
                topic.readBy());
    }

    private static String catalogue() {
        return Arrays.stream(Segment.values())
                .map(segment -> "### " + title(segment) + ", lane `" + TOPICS.lane(segment) + "`\n\n"
                        + table(
                                "type | code | meaning | written by",
                                typesOf(segment).map(EventsDocument::typeRow)))
                .collect(Collectors.joining("\n\n"));
    }

    private static String title(Segment segment) {
        String name = segment.laneSuffix();
        return Character.toUpperCase(name.charAt(0)) + name.substring(1);
    }

    private static String typeRow(KnownEventType type) {
        String name = "[`" + type + "`](#" + type.name().toLowerCase(Locale.ROOT) + ")";
        String aliases = type.aliases().isEmpty()
                ? ""
                : " Also taken as "
                        + type.aliases().stream()
                                .map(alias -> "`" + alias + "`")
                                .collect(Collectors.joining(", ")) + ".";
        return String.join(
                " | ",
                name,
                Integer.toString(type.code()),
                type.summary() + aliases,
                type.machineOnly() ? "Millrace" : "anyone");
    }

    private static Stream<KnownEventType> typesOf(Segment segment) {
        return Arrays.stream(KnownEventType.values()).filter(type -> type.segment() == segment);
    }

    private static String payloads() {
        return Arrays.stream(KnownEventType.values())
                .flatMap(type -> EventSchemas.payloadSchema(type).stream().map(schema -> section(type, schema)))
                .collect(Collectors.joining("\n\n"));
    }

    private static String section(EventType type, JsonNode schema) {
        return "### " + type + "\n\n"
                + schema.path("description").asText() + "\n\n" + fields(schema) + oneOf(schema) + "\n\n"
                + example(schema);
    }

    private static String oneOf(JsonNode schema) {
        return schema.has("anyOf")
                ? "\n\nOne of "
                        + SchemaWords.names(schema.path("anyOf")).stream()
                                .map(name -> "`" + name + "`")
                                .collect(Collectors.joining(" and "))
                        + " must be there."
                : "";
    }

    private static String fields(JsonNode schema) {
        return table(
                "field | kind | must be there | meaning",
                SchemaWords.fields(schema).stream()
                        .map(field -> String.join(
                                " | ",
                                "`" + field.path() + "`",
                                field.kind(),
                                field.required() ? "yes" : "",
                                field.meaning())));
    }

    private static String example(JsonNode schema) {
        return "```json\n" + pretty(schema.path("examples").path(0)) + "\n```";
    }

    private static String toolDefinition() {
        return pretty(Json.MAPPER.valueToTree(Samples.definition()))
                .lines()
                .map(line -> "   " + line)
                .collect(Collectors.joining("\n"));
    }

    /** A record as kcat would print it: topic and key, the headers in order, the value. */
    private static String wire(String topic, String key, Event event) {
        ProducerRecord<String, byte[]> bare = EventCodec.toRecord(topic, event);
        StringBuilder text = new StringBuilder("topic            ")
                .append(topic)
                .append("\nkey              ")
                .append(key);
        Stream.of(bare.headers().toArray())
                .sorted(Comparator.comparing(Header::key))
                .forEach(header ->
                        text.append(String.format("\n%-16s %s", header.key(), new String(header.value(), UTF_8))));
        return text.append("\n\n")
                .append(pretty(Json.MAPPER.valueToTree(event.fields())))
                .toString();
    }

    private static String deadLetterHeaders() {
        return Stream.of(
                        Map.entry(DeadLetters.REASON, "Why, as a [code](#codes)"),
                        Map.entry(
                                DeadLetters.DETAIL,
                                "Why, for people: what was expected and what was found. At most "
                                        + DeadLetters.MAX_DETAIL_LENGTH
                                        + " characters. Absent = there is no more to say"),
                        Map.entry(DeadLetters.ORIGIN_TOPIC, "The topic that it was read from"),
                        Map.entry(DeadLetters.ORIGIN_PARTITION, "The partition"),
                        Map.entry(DeadLetters.ORIGIN_OFFSET, "The offset"),
                        Map.entry(DeadLetters.ORIGIN_TIMESTAMP, "The record's timestamp, in Unix milliseconds"))
                .map(entry -> "| `" + entry.getKey() + "` | " + entry.getValue() + " |")
                .collect(Collectors.joining("\n"));
    }

    private static String codes() {
        return table(
                "code | where | meaning",
                Arrays.stream(ErrorCode.values())
                        .map(code -> String.join(
                                " | ",
                                "`" + code.code() + "`",
                                Arrays.stream(ErrorCode.Place.values())
                                        .filter(code::foundIn)
                                        .map(place -> "`" + place.label() + "`")
                                        .collect(Collectors.joining(", ")),
                                code.meaning())));
    }

    private static String table(String heading, Stream<String> rows) {
        String line = heading.replaceAll("[^|]+", "---");
        return "| " + heading + " |\n|" + line + "|\n"
                + rows.map(row -> "| " + row + " |").collect(Collectors.joining("\n"));
    }

    private static String pretty(JsonNode json) {
        try {
            return PRETTY.writeValueAsString(json);
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }
}
