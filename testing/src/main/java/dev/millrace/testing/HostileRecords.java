package dev.millrace.testing;

import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.record.AbstractRecords;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.RecordBatch;
import org.jspecify.annotations.Nullable;

/**
 * Records as somebody sends them who means harm, or knows no better: broken, of odd types, sizes, dates and keys, for
 * every topic that others write to. A seed gives the same ones again. None of them is addressed to a task, session or
 * namespace of anybody else, drains the system or changes a tool that exists: what may be done by right is not what is
 * tried here. For one thread.
 */
public final class HostileRecords {

    /** Header of each: its number, to find it again wherever it ends. */
    public static final String NUMBER = "hostile-number";

    /** The namespace of those that are well-formed enough to have one. */
    public static final String NAMESPACE = "hostile";

    private static final List<KnownEventType> TYPES = Arrays.stream(KnownEventType.values())
            .filter(type -> type != KnownEventType.SYSTEM_STARTED && type != KnownEventType.SYSTEM_SHUTTING_DOWN)
            .sorted(Comparator.comparing(KnownEventType::wireName))
            .toList();

    private static final int MAX_PADDING = Topics.MAX_EVENT_BYTES;

    private final Topics topics;
    private final Random random;
    private final Kind kind;
    private final List<String> eventTopics;
    private final List<String> configurationTopics;
    private int number;

    /** What is wanted. */
    public enum Kind {
        /** Whatever comes; some of it is accepted, and starts tasks. */
        ALL,
        /** Only what cannot be accepted, so that nothing comes of it. */
        BAD
    }

    /**
     * One record.
     *
     * @param number also in the header {@link #NUMBER}
     * @param what for people
     * @param bad whether it must be among the dead letters; if not, it may be, or be accepted, or change nothing
     */
    public record Hostile(int number, String what, ProducerRecord<byte[], byte[]> record, boolean bad) {}

    /** A sender to these topics. */
    public HostileRecords(Topics topics, long seed, Kind kind) {
        this.topics = topics;
        this.random = new Random(seed);
        this.kind = kind;
        this.eventTopics = new ArrayList<>(topics.lanes());
        eventTopics.addAll(List.of(
                topics.requests(Topics.BUILT_IN_TOOLSET),
                topics.memoryRequests(),
                topics.reflectionRequests(),
                topics.webhookRequests()));
        this.configurationTopics = List.of(topics.definitions(), topics.rates(), topics.variables(), topics.memory());
    }

    /** The next one. */
    public Hostile next() {
        number++;
        if (kind == Kind.ALL && random.nextInt(5) == 0) {
            return configuration();
        }
        String topic = pick(eventTopics);
        KnownEventType type = pick(TYPES);
        Draft draft = new Draft(topic, type, payload(type));
        boolean onLane = topics.lanes().contains(topic);
        // only lanes are for everybody: what is well-formed elsewhere is work, and is done
        boolean bad = kind == Kind.BAD || !onLane || random.nextInt(3) > 0;
        String what = bad ? spoil(draft) : bend(draft);
        return draft.hostile(type.wireName() + " with " + what, bad);
    }

    /** What once stopped, froze, drove or silenced a whole installation, each by itself. */
    public List<Hostile> known() {
        List<Hostile> known = new ArrayList<>();
        Map<String, @Nullable Object> swelling = Map.of("template", "{{a}}".repeat(3_000), "a", "x".repeat(1_000));
        for (KnownEventType type : List.of(KnownEventType.WEBHOOK_TRIGGERED, KnownEventType.SCHEDULE_FIRED)) {
            known.add(draft(type, Segment.EXTERNAL, swelling).hostile("a template that swells to 3 MB", true));
        }
        known.add(draft(
                        KnownEventType.MESSAGE_RECEIVED,
                        Segment.EXTERNAL,
                        Map.of("text", "ping", "taskType", "no-such-agent"))
                .hostile("an agent that nobody knows", true));
        Draft old = draft(KnownEventType.MESSAGE_RECEIVED, Segment.BACKGROUND, Map.of("text", "ping"));
        old.timestamp = 1L;
        old.headers.put("ce_time", bytes("1970-01-01T00:00:00Z"));
        known.add(old.hostile("a date of 1970", false));
        Draft forget = draft(KnownEventType.FORGET_REQUESTED, Segment.SYSTEM, Map.of("scope", "namespace"));
        forget.headers.put("ce_time", bytes("9998-01-01T00:00:00Z"));
        known.add(forget.hostile("a request to forget from the year 9998", false));
        Draft first = draft(KnownEventType.MESSAGE_RECEIVED, Segment.SYSTEM, Map.of("text", "ping"));
        first.headers.put("ce_priority", bytes("0"));
        known.add(first.hostile("a task on the lane of cancels", false));
        for (String value : List.of("null", "{}", "[]", "\"x\"", "{\"op\":null}")) {
            number++;
            ProducerRecord<byte[], byte[]> claim = new ProducerRecord<>(topics.rates(), bytes("openai"), bytes(value));
            claim.headers().add(NUMBER, bytes(Integer.toString(number)));
            known.add(new Hostile(number, "a claim that is none", claim, false));
        }
        return known;
    }

    private Draft draft(KnownEventType type, Segment lane, Map<String, @Nullable Object> payload) {
        number++;
        return new Draft(topics.lane(lane), type, payload);
    }

    /** The largest legal record of each type for its own lane, in the order of their names. */
    public List<Hostile> largest() {
        List<Hostile> records = new ArrayList<>();
        for (KnownEventType type : TYPES) {
            number++;
            Segment segment = type.segment();
            Draft draft = new Draft(topics.lane(segment), type, payload(type));
            draft.padTo(Topics.MAX_EVENT_BYTES, random.nextBoolean() ? "x" : "\u0001");
            records.add(draft.hostile(type.wireName() + " as large as it may be", false));
        }
        return records;
    }

    /** A record that may be anything but an event: definitions, claims, variables, documents. */
    private Hostile configuration() {
        String topic = pick(configurationTopics);
        byte @Nullable [] value =
                switch (random.nextInt(9)) {
                    case 0 -> null;
                    case 1 -> noise();
                    case 2 -> bytes("null");
                    case 3 -> bytes("{}");
                    case 4 -> bytes("[[],{}]");
                    case 5 -> bytes("{\"name\":" + oddJson() + ",\"key\":" + oddJson() + ",\"at\":" + oddJson() + '}');
                    case 6 -> nested(random.nextInt(2_000));
                    case 7 -> bytes(oddJson());
                    default ->
                        bytes("{\"namespace\":\"hostile\",\"kind\":\"session\",\"id\":\"h\",\"name\":\"V\",\"value\":"
                                + oddJson() + ",\"text\":\"" + "x".repeat(random.nextInt(100_000)) + "\"}");
                };
        byte @Nullable [] key =
                switch (random.nextInt(5)) {
                    case 0 -> null;
                    case 1 -> noise();
                    case 2 -> bytes("tool/hostile" + random.nextInt(10));
                    case 3 -> bytes("agent/hostile" + random.nextInt(10));
                    default -> bytes("hostile/facts/" + random.nextInt(10) + ".md");
                };
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, key, value);
        record.headers().add(NUMBER, bytes(Integer.toString(number)));
        return new Hostile(number, "configuration", record, false);
    }

    /** Makes what nobody can accept of it. */
    private String spoil(Draft draft) {
        return switch (random.nextInt(11)) {
            case 0 -> {
                draft.value = noise();
                yield "noise";
            }
            case 1 -> {
                draft.value = null;
                yield "no value";
            }
            case 2 -> {
                draft.value =
                        bytes(pick(List.of("null", "[]", "1", "\"x\"", "true", "1e400", "", " ", "{\"a\":1,\"a\":2}")));
                yield "no JSON object";
            }
            case 3 -> {
                byte[] whole = Json.write(draft.payload);
                draft.value = Arrays.copyOf(whole, random.nextInt(whole.length));
                yield "half a value";
            }
            case 4 -> {
                draft.value = nested(1_001 + random.nextInt(100_000));
                yield "deep nesting";
            }
            case 5 -> {
                draft.headers.remove("ce_type");
                yield "no type";
            }
            case 6 -> {
                draft.headers.remove("ce_id");
                yield "no id";
            }
            case 7 -> {
                draft.headers.put(pick(List.of("ce_type", "ce_id", "ce_subject")), new byte[] {'a', (byte) 0xC3, '('});
                yield "broken UTF-8";
            }
            case 8 -> {
                draft.headers.put("ce_specversion", bytes(pick(List.of("0.3", "2.0", "one"))));
                yield "another version";
            }
            case 9 -> {
                draft.headers.put(
                        pick(List.of("ce_id", "ce_subject", "ce_sessionid", "ce_namespace")),
                        bytes("h" + "x".repeat(1_000 + random.nextInt(5_000))));
                yield "an id that is too long";
            }
            default -> {
                draft.headers.put("ce_priority", bytes(pick(List.of("-1", "x", "10000000000", "1.5", "0x10"))));
                yield "an odd priority";
            }
        };
    }

    /** Makes something odd of it, which may be accepted. */
    private String bend(Draft draft) {
        return switch (random.nextInt(8)) {
            case 0 -> {
                draft.headers.put(
                        "ce_time",
                        bytes(pick(List.of(
                                "1970-01-01T00:00:00Z",
                                "9999-12-31T23:59:59Z",
                                "0001-01-01T00:00:00Z",
                                "2026-11-23T00:00:00+18:00",
                                "yesterday"))));
                yield "an odd time";
            }
            case 1 -> {
                draft.timestamp = pick(List.of(0L, 1L, 1_000_000_000_000L));
                yield "an odd date";
            }
            case 2 -> {
                draft.key = random.nextBoolean() ? null : noise();
                yield "another key";
            }
            case 3 -> {
                draft.twice = true;
                yield "headers doubled";
            }
            case 4 -> {
                draft.padTo(Topics.MAX_EVENT_BYTES - random.nextInt(100), pick(List.of("x", "\u0001", "\u00fc")));
                yield "a size at the limit";
            }
            case 5 -> {
                draft.padTo(random.nextInt(MAX_PADDING), pick(List.of("x", "\u0001")));
                draft.headers.put("hostile-more", new byte[random.nextInt(100_000)]);
                yield "large headers";
            }
            case 6 -> {
                draft.headers.put(
                        "ce_expirytime", bytes(pick(List.of("1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "never"))));
                yield "an odd expiry";
            }
            default -> {
                List<String> fields = List.copyOf(draft.payload.keySet());
                String field = fields.isEmpty() ? "text" : pick(fields);
                byte[] whole = Json.write(draft.payload);
                draft.value = bytes(new String(whole, StandardCharsets.UTF_8)
                        .replaceFirst("\\{", Matcher.quoteReplacement("{\"" + field + "Odd\":" + oddJson() + ",")));
                yield "an odd field";
            }
        };
    }

    private String oddJson() {
        return pick(List.of(
                "null",
                "true",
                "[]",
                "{}",
                "\"\"",
                "-0",
                "1e308",
                "1e400",
                "1e999999999",
                "-1",
                "9223372036854775808",
                "1" + "0".repeat(400),
                "0.1",
                "\"" + "\\u0000".repeat(10) + "\"",
                "\"\\ud800\"",
                "[[[[[[[[[[]]]]]]]]]]",
                "\"" + "x".repeat(random.nextInt(200_000)) + "\""));
    }

    private byte[] noise() {
        byte[] noise = new byte[1 + random.nextInt(200)];
        random.nextBytes(noise);
        noise[0] = (byte) 0xFF;
        return noise;
    }

    private static byte[] nested(int depth) {
        return bytes("{\"a\":" + "[".repeat(depth) + "]".repeat(depth) + '}');
    }

    private <T> T pick(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }

    /** What the schema gives as an example. */
    private static JsonObject payload(KnownEventType type) {
        return EventSchemas.payloadSchema(type)
                .map(schema -> schema.path("examples").path(0).toString())
                .filter(example -> example.startsWith("{"))
                .map(example -> {
                    try {
                        return Json.readObject(bytes(example));
                    } catch (MalformedEventException e) {
                        throw new IllegalStateException("an example of " + type.wireName() + " is no JSON", e);
                    }
                })
                .orElseGet(JsonObject::empty);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A record that is still being made. */
    private final class Draft {

        private final int of = number;
        private final String topic;
        private final Map<String, @Nullable Object> payload;
        private final Map<String, byte[]> headers = new LinkedHashMap<>();
        private byte @Nullable [] key;
        private byte @Nullable [] value;
        private @Nullable Long timestamp;
        private boolean twice;

        Draft(String topic, KnownEventType type, Map<String, @Nullable Object> payload) {
            this.topic = topic;
            this.payload = new LinkedHashMap<>(payload);
            String session = "hostile-" + random.nextInt(50);
            headers.put("ce_specversion", bytes("1.0"));
            headers.put("ce_id", bytes("hostile-" + number));
            headers.put("ce_type", bytes(type.wireName()));
            headers.put("ce_source", bytes("elsewhere"));
            headers.put("ce_namespace", bytes(NAMESPACE));
            headers.put("ce_sessionid", bytes(session));
            headers.put("content-type", bytes("application/json"));
            headers.put(NUMBER, bytes(Integer.toString(number)));
            key = bytes(NAMESPACE + '/' + session);
            value = Json.write(this.payload);
        }

        Hostile hostile(String what, boolean bad) {
            return new Hostile(of, what, record(), bad);
        }

        /** Makes the value so long that the record has this size. */
        void padTo(int size, String with) {
            payload.put("padding", "");
            value = Json.write(payload);
            int room = size - size(record());
            int unit = Json.write(Map.of("p", with)).length - Json.write(Map.of("p", "")).length;
            payload.put("padding", with.repeat(Math.max(0, room / unit - 1)));
            value = Json.write(payload);
        }

        ProducerRecord<byte[], byte[]> record() {
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, null, timestamp, key, value);
            Headers all = record.headers();
            headers.forEach(all::add);
            if (twice) {
                headers.forEach(all::add);
            }
            return record;
        }

        private static int size(ProducerRecord<byte[], byte[]> record) {
            return AbstractRecords.estimateSizeInBytesUpperBound(
                    RecordBatch.CURRENT_MAGIC_VALUE,
                    CompressionType.NONE,
                    record.key(),
                    record.value(),
                    record.headers().toArray());
        }
    }
}
