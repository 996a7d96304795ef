package dev.millrace.agent.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.projection.UsageQuery.Dimension;
import dev.millrace.agent.projection.UsageQuery.Filter;
import dev.millrace.api.UsageSums;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the projection says about what model calls use. */
class UsageTest {
    private static final Topics TOPICS = new Topics("test.");
    private static final Duration RETENTION = Duration.ofDays(30);
    private static final Instant NOON = Instant.parse("2026-02-01T12:00:00Z");
    private static final Filter DEFAULT = new Filter("default", null, null, null, null);
    private static final Filter ALL = new Filter(null, null, null, null, null);

    private TopologyTestDriver driver;
    private TestInputTopic<byte[], byte[]> journal;

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void openDriver(@TempDir Path stateDir) {
        Properties config = new Properties();
        config.putAll(Map.of(
                "application.id", "usage-test", "bootstrap.servers", "none:9", "state.dir", stateDir.toString()));
        driver =
                new TopologyTestDriver(ProjectionTopology.build(TOPICS, new AppliedOffsets(), RETENTION), config, NOON);
        journal = driver.createInputTopic(TOPICS.journal(), new ByteArraySerializer(), new ByteArraySerializer());
    }

    @AfterEach
    void closeDriver() {
        driver.close();
    }

    @Test
    void shouldAddUpWhatCallsUsed() {
        // given
        write(reply("m1", NOON, Map.of("inputTokens", 100, "outputTokens", 10, "cachedInputTokens", 40)));
        write(reply("m2", NOON, Map.of("inputTokens", 7, "outputTokens", 3, "reasoningTokens", 2, "costMicros", 5)));

        // when
        UsageReport report = report(DEFAULT);

        // then
        assertThat(report.total()).isEqualTo(new UsageSums(2, 0, 0, 2, 0, 107, 13, 40, 2, 5, 1));
        assertThat(report.groups()).containsExactly(new UsageReport.Group(List.of(), report.total()));
    }

    @Test
    void shouldCountEachEndOfACallOnce() {
        // given: a reply, the same again, and another one of the same call
        Event reply = reply("m1", NOON, Map.of("inputTokens", 100, "outputTokens", 10));
        write(reply);
        write(abandoned(reply, NOON));
        write(abandoned(reply, NOON.plusSeconds(2)));

        // when
        UsageSums total = report(DEFAULT).total();

        // then
        assertThat(total).isEqualTo(new UsageSums(2, 0, 1, 2, 0, 200, 20, 0, 0, 0, 2));
    }

    @Test
    void shouldCountEachCallOfAReflection() {
        // given: the end of a reflection, told twice
        Event ended = event(
                "r1",
                KnownEventType.REFLECTION_FAILED,
                NOON,
                Map.of(
                        "code",
                        "refused",
                        "error",
                        "no",
                        "modelCalls",
                        List.of(
                                Map.of(
                                        "callId",
                                        "reflection/1",
                                        "repliedAt",
                                        NOON.minusSeconds(5).toEpochMilli(),
                                        "model",
                                        "small",
                                        "agent",
                                        "reflection",
                                        "usage",
                                        Map.of("inputTokens", 30, "outputTokens", 4)),
                                Map.of(
                                        "callId",
                                        "reflection/2",
                                        "code",
                                        "refused",
                                        "agent",
                                        "reflection",
                                        "usage",
                                        Map.of("inputTokens", 5, "outputTokens", 0),
                                        "failedAttempts",
                                        List.of(Map.of(
                                                "model",
                                                "small",
                                                "usage",
                                                Map.of("inputTokens", 5, "outputTokens", 0)))))));
        write(ended);
        write(ended);

        // when
        UsageReport report = report(DEFAULT, Dimension.AGENT);

        // then
        assertThat(report.total()).isEqualTo(new UsageSums(2, 1, 0, 2, 0, 35, 4, 0, 0, 0, 2));
        assertThat(report.groups()).extracting(UsageReport.Group::names).containsExactly(List.of("reflection"));
    }

    @Test
    void shouldCountWhatFailedAndCutOffCallsUsed() {
        // given
        write(event(
                "m1",
                KnownEventType.MODEL_CALL_FAILED,
                NOON,
                Map.of(
                        "callId",
                        "m1/1",
                        "code",
                        "refused",
                        "error",
                        "no",
                        "usage",
                        Map.of("inputTokens", 9, "outputTokens", 1, "attempts", 3, "uncountedAttempts", 1),
                        "failedAttempts",
                        List.of(
                                Map.of("model", "big", "usage", Map.of("inputTokens", 5, "outputTokens", 1)),
                                Map.of("model", "small", "usage", Map.of("inputTokens", 4, "outputTokens", 0))))));
        write(event(
                "m2",
                KnownEventType.MODEL_CALL_ABANDONED,
                NOON,
                Map.of(
                        "callId",
                        "m2/1",
                        "code",
                        "cancelled",
                        "usage",
                        Map.of("inputTokens", 0, "outputTokens", 0, "uncountedAttempts", 1))));
        write(event(
                "m3",
                KnownEventType.MODEL_CALL_FAILED,
                NOON,
                Map.of("callId", "m3/1", "code", "timeout", "error", "the machine waited long enough")));

        // when
        UsageReport report = report(DEFAULT, Dimension.MODEL);

        // then
        assertThat(report.total()).isEqualTo(new UsageSums(2, 1, 1, 4, 2, 9, 1, 0, 0, 0, 1));
        assertThat(report.groups())
                .extracting(UsageReport.Group::names)
                .containsExactly(List.of(""), List.of("big"), List.of("small"));
        assertThat(report.groups())
                .extracting(group -> group.sums().inputTokens())
                .containsExactly(0L, 5L, 4L);
    }

    @Test
    void shouldTellApartWhoUsedIt() {
        // given
        write(task("m1", "s1", "default"));
        write(task("m2", "s1", "default"));
        write(task("m3", null, "default"));
        write(task("m4", "s1", "acme"));
        for (String id : List.of("m1", "m2", "m3", "m4")) {
            write(reply(id, NOON, Map.of("inputTokens", 10, "outputTokens", 1)).toBuilder()
                    .namespace(id.equals("m4") ? "acme" : "default")
                    .build());
        }

        // when, then
        assertThat(report(new Filter("default", "s1", null, null, null), Dimension.TASK)
                        .groups())
                .extracting(UsageReport.Group::names)
                .containsExactly(List.of("m1"), List.of("m2"));
        assertThat(report(DEFAULT, Dimension.SESSION).groups())
                .extracting(UsageReport.Group::names)
                .containsExactly(List.of(""), List.of("s1"));
        assertThat(report(ALL, Dimension.NAMESPACE, Dimension.AGENT).groups())
                .extracting(UsageReport.Group::names)
                .containsExactly(List.of("acme", "clerk"), List.of("default", "clerk"));
        assertThat(report(new Filter("default", null, "m3", null, null)).total().inputTokens())
                .isEqualTo(10);
        assertThat(report(new Filter("default", null, null, "clerk", "none")).total())
                .isEqualTo(UsageSums.NONE);
        assertThat(report(ALL).total().calls()).isEqualTo(4);
        assertThat(report(ALL, Dimension.TASK).total()).isEqualTo(report(ALL).total());
    }

    @Test
    void shouldAnswerForATimeInWholeHours() {
        // given
        for (int hour = 0; hour < 30; hour++) {
            write(reply("m" + hour, NOON.plus(Duration.ofHours(hour)), Map.of("inputTokens", 1, "outputTokens", 0)));
        }

        // when
        UsageReport some = reader(new UsageQuery(
                        DEFAULT,
                        NOON.plus(Duration.ofMinutes(90)).toEpochMilli(),
                        NOON.plus(Duration.ofMinutes(181)).toEpochMilli(),
                        List.of(Dimension.HOUR)))
                .report();

        // then
        assertThat(Instant.ofEpochMilli(some.from())).isEqualTo("2026-02-01T13:00:00Z");
        assertThat(Instant.ofEpochMilli(some.to())).isEqualTo("2026-02-01T16:00:00Z");
        assertThat(some.groups())
                .extracting(UsageReport.Group::names)
                .containsExactly(
                        List.of("2026-02-01T13:00:00Z"),
                        List.of("2026-02-01T14:00:00Z"),
                        List.of("2026-02-01T15:00:00Z"));
        assertThat(report(DEFAULT, Dimension.DAY).groups())
                .extracting(group -> group.sums().calls())
                .containsExactly(12L, 18L);
    }

    @Test
    void shouldTakeRecordsAgainWithoutCountingThemAgain() {
        // given: what a crash leaves behind if the sums were on disk and the rest was not
        write(reply("m1", NOON, Map.of("inputTokens", 100, "outputTokens", 10)));
        UsageSums before = report(DEFAULT).total();
        Event event = reply("m1", NOON, Map.of("inputTokens", 100, "outputTokens", 10));
        JournalEntry entry = new JournalEntry(new JournalCursor(0, 0), event);
        rows().delete(ProjectionKeys.counted(
                UsageKey.hourOf(NOON.toEpochMilli()), "default", "m1/1", NOON.toEpochMilli()));

        // when
        UsageLedger ledger = new UsageLedger(rows());
        ledger.add(entry, TaskRow.after(null, entry, 0), NOON.toEpochMilli());
        ledger.write();

        // then
        assertThat(report(DEFAULT).total()).isEqualTo(before);
    }

    @Test
    void shouldForgetWhatIsOlderThanTheRetention() {
        // given
        write(task("m1", "s1", "default"));
        write(reply("m1", NOON, Map.of("inputTokens", 100, "outputTokens", 10)));
        driver.advanceWallClockTime(RETENTION.plusHours(1));

        // when
        write(reply("m2", NOON.plus(RETENTION), Map.of("inputTokens", 1, "outputTokens", 0)));

        // then
        assertThat(report(DEFAULT).total().inputTokens()).isEqualTo(1);
        assertThat(count()).as("no row is left behind").isEqualTo(3);
    }

    @Test
    void shouldRefuseWhatCannotBeAnswered() {
        assertThatThrownBy(() -> new UsageQuery(DEFAULT, 2L, 1L, List.of())).hasMessageContaining("to: expected");
        assertThatThrownBy(() -> new UsageQuery(new Filter(null, "s1", null, null, null), null, null, List.of()))
                .hasMessageContaining("namespace: expected one");
    }

    /** Rows of usage, of whatever kind. */
    private long count() {
        long count = 0;
        for (Bytes first : List.of(
                ProjectionKeys.namespaceUsage(0),
                ProjectionKeys.taskUsage(0),
                ProjectionKeys.counted(0),
                ProjectionKeys.usedIn("default", "s1"))) {
            try (KeyValueIterator<Bytes, byte[]> range =
                    rows().range(first, Bytes.increment(Bytes.wrap(new byte[] {first.get()[0]})))) {
                while (range.hasNext()) {
                    range.next();
                    count++;
                }
            }
        }
        return count;
    }

    private static Event task(String id, @Nullable String sessionId, String namespace) {
        return Event.root(id, KnownEventType.MESSAGE_RECEIVED, NOON)
                .taskId(id)
                .sessionId(sessionId)
                .namespace(namespace)
                .payload(Map.of("text", "hello"))
                .build();
    }

    private static Event reply(String taskId, Instant at, Map<String, Object> usage) {
        return event(
                taskId,
                KnownEventType.REASON_DONE,
                at,
                Map.of("callId", taskId + "/1", "model", "small", "usage", usage, "agent", "clerk"));
    }

    private static Event abandoned(Event reply, Instant repliedAt) {
        Map<String, @Nullable Object> payload = new HashMap<>(reply.fields());
        payload.put("code", "stale_call");
        payload.put("repliedAt", repliedAt.toEpochMilli());
        return event(String.valueOf(reply.taskId()), KnownEventType.MODEL_CALL_ABANDONED, NOON, payload);
    }

    private static Event event(
            String taskId, KnownEventType type, Instant at, Map<String, ? extends @Nullable Object> payload) {
        return Event.root(taskId + type + at + payload.hashCode(), type, at)
                .taskId(taskId)
                .payload(new HashMap<>(payload))
                .build();
    }

    private void write(Event event) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(TOPICS.journal(), event);
        journal.pipeInput(new TestRecord<>(
                encoded.key().getBytes(StandardCharsets.UTF_8), encoded.value(), encoded.headers(), event.timestamp()));
    }

    private UsageReport report(Filter filter, Dimension... groupBy) {
        return reader(new UsageQuery(
                        filter, null, NOON.plus(Duration.ofDays(40)).toEpochMilli(), List.of(groupBy)))
                .report();
    }

    private UsageReader reader(UsageQuery query) {
        return new UsageReader(rows(), query, NOON.toEpochMilli());
    }

    private KeyValueStore<Bytes, byte[]> rows() {
        return driver.getKeyValueStore(ProjectionTopology.STORE);
    }
}
