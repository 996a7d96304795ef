package dev.millrace.agent.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.api.Task;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the projection does when the journal says that tasks are forgotten. */
@Tag("slow")
class ForgetSweepTest {
    private static final Topics TOPICS = new Topics("test.");
    private static final Instant NOON = Instant.parse("2026-02-01T12:00:00Z");

    private TopologyTestDriver driver;
    private TestInputTopic<byte[], byte[]> journal;

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void openDriver(@TempDir Path stateDir) {
        Properties config = new Properties();
        config.putAll(Map.of(
                "application.id", "forget-test", "bootstrap.servers", "none:9", "state.dir", stateDir.toString()));
        driver = new TopologyTestDriver(
                ProjectionTopology.build(TOPICS, new AppliedOffsets(), Duration.ofDays(30)), config, NOON);
        journal = driver.createInputTopic(TOPICS.journal(), new ByteArraySerializer(), new ByteArraySerializer());
    }

    @AfterEach
    void closeDriver() {
        driver.close();
    }

    @Test
    @DisplayName("what a session did is in no row any more; what came later and what was used stays")
    void shouldForgetASession() {
        // given
        driver.advanceWallClockTime(Duration.ofMinutes(2));
        write(message("t1", "ada", NOON, "I am Lovelace"));
        write(used("t1", "ada"));
        write(message("t2", "bob", NOON, "I am Babbage"));
        write(message("t3", "ada", NOON.plusSeconds(60), "later"));

        // when
        write(forgotten("session", Map.of("sessionId", "ada")));

        // then
        List<String> values = values();
        assertThat(values).noneMatch(value -> value.contains("Lovelace") || value.contains("\"t1\""));
        assertThat(values).anyMatch(value -> value.contains("Babbage")).anyMatch(value -> value.contains("later"));
        assertThat(values)
                .as("the request itself")
                .anyMatch(value -> value.contains("TASKS_FORGOTTEN"))
                .as("what was used")
                .anyMatch(value -> value.contains("77"));
    }

    @Test
    @DisplayName("a namespace is forgotten with what belongs to no task, and the one beside it is not")
    void shouldForgetANamespace() {
        // given
        write(message("t1", "ada", NOON, "I am Lovelace"));
        write(Event.root("e1", KnownEventType.HEARTBEAT, NOON)
                .namespace("people")
                .payload(Map.of("instance", "Lovelace"))
                .build());
        write(message("t2", "bob", NOON, "I am Babbage").toBuilder()
                .namespace("others")
                .build());

        // when
        write(forgotten("namespace", Map.of()));

        // then
        assertThat(values())
                .noneMatch(value -> value.contains("Lovelace"))
                .anyMatch(value -> value.contains("Babbage"));
    }

    @Test
    @DisplayName(
            "a namespace of many tasks goes a bounded number at a time, and from the first on nobody is told of any")
    void shouldForgetInSlices() {
        // given
        int tasks = 2 * ForgetSweep.TASKS_AT_ONCE + 10;
        for (int i = 0; i < tasks; i++) {
            write(message("t" + i, "ada", NOON, "I am Lovelace"));
        }

        // when
        write(forgotten("namespace", Map.of()));

        // then
        assertThat(values().stream().filter(value -> value.contains("Lovelace")))
                .isNotEmpty();
        ProjectionReader reader = new ProjectionReader(driver.getKeyValueStore(ProjectionTopology.STORE));
        String last = "t" + (tasks - 1);
        assertThat(reader.details("people", last)).isEmpty();
        assertThat(reader.events("people", last, null, 10, 1_000_000)).isEmpty();
        assertThat(reader.chain("people", last, 100)).isEmpty();
        assertThat(reader.tasks(new TaskQuery("people", null, null, null, 10, null))
                        .tasks())
                .isEmpty();

        // when
        await().until(() -> {
            write(Event.root("beat", KnownEventType.HEARTBEAT, NOON).build());
            return values().stream().noneMatch(value -> value.contains("Lovelace"));
        });

        // then
        assertThat(values()).noneMatch(value -> value.contains("forgetId") && value.contains("told"));
    }

    @Test
    @DisplayName("a task that says it comes from the year 9999 is neither first in every list nor kept for ever")
    void shouldDateTasksItself() {
        // given
        driver.advanceWallClockTime(Duration.ofMinutes(2));
        ProducerRecord<String, byte[]> odd = EventCodec.toRecord(
                TOPICS.journal(), message("odd", "ada", Instant.parse("9999-01-01T00:00:00Z"), "I am Lovelace"));
        odd.headers()
                .add(HeaderNames.RECEIVED, Long.toString(NOON.toEpochMilli()).getBytes(StandardCharsets.US_ASCII));
        journal.pipeInput(new TestRecord<>(
                odd.key().getBytes(StandardCharsets.UTF_8), odd.value(), odd.headers(), NOON.plusSeconds(1)));
        write(message("t2", "bob", NOON.plusSeconds(20), "I am Babbage"));

        // then
        ProjectionReader reader = new ProjectionReader(driver.getKeyValueStore(ProjectionTopology.STORE));
        List<Task> tasks = reader.tasks(new TaskQuery("people", null, null, null, 10, null))
                .tasks();
        assertThat(tasks).extracting(Task::taskId).containsExactly("t2", "odd");
        assertThat(tasks.getLast().createdAt()).isEqualTo(NOON.toEpochMilli());
        assertThat(tasks.getLast().updatedAt()).isEqualTo(NOON.toEpochMilli());

        // when
        write(forgotten("session", Map.of("sessionId", "ada")));

        // then
        assertThat(values()).noneMatch(value -> value.contains("Lovelace"));
    }

    private static Event message(String taskId, String sessionId, Instant at, String text) {
        return Event.root(taskId, KnownEventType.MESSAGE_RECEIVED, at)
                .taskId(taskId)
                .sessionId(sessionId)
                .namespace("people")
                .payload(Map.of("text", text))
                .build();
    }

    private static Event used(String taskId, String sessionId) {
        return Event.root("r-" + taskId, KnownEventType.REASON_DONE, NOON)
                .taskId(taskId)
                .sessionId(sessionId)
                .namespace("people")
                .payload(Map.of(
                        "callId",
                        taskId + "/1",
                        "response",
                        "Hello Lovelace",
                        "model",
                        "small",
                        "usage",
                        Map.of("inputTokens", 77, "outputTokens", 1)))
                .build();
    }

    private static Event forgotten(String scope, Map<String, Object> more) {
        Map<String, @Nullable Object> payload = new HashMap<>(more);
        payload.put("scope", scope);
        payload.put("forgetId", "f1");
        payload.put("requestedAt", NOON.plusSeconds(30).toEpochMilli());
        payload.put("partition", 0);
        payload.put("partitions", 1);
        return Event.root("f1-0", KnownEventType.TASKS_FORGOTTEN, NOON.plusSeconds(31))
                .taskId("f1")
                .namespace("people")
                .payload(payload)
                .build();
    }

    private void write(Event event) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(TOPICS.journal(), event);
        journal.pipeInput(new TestRecord<>(
                encoded.key().getBytes(StandardCharsets.UTF_8), encoded.value(), encoded.headers(), event.timestamp()));
    }

    private List<String> values() {
        List<String> values = new ArrayList<>();
        KeyValueStore<Bytes, byte[]> rows = driver.getKeyValueStore(ProjectionTopology.STORE);
        try (KeyValueIterator<Bytes, byte[]> all = rows.all()) {
            while (all.hasNext()) {
                KeyValue<Bytes, byte[]> row = all.next();
                values.add(new String(row.value, StandardCharsets.UTF_8));
            }
        }
        return values;
    }
}
