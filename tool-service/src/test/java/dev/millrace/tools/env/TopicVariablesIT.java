package dev.millrace.tools.env;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.env.Variables.Scope;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@RequiresBroker
@DisplayName("F-169: what set_env sets, on a real broker")
class TopicVariablesIT {

    private static final Scope SCOPE = new Scope("default", "session", "s-1");

    private final TestBroker broker = TestBroker.shared();
    private final Topics topics = broker.createTopics();
    private final ClientSettings kafka = ClientSettings.at(broker.bootstrapServers());
    private final TopicVariables one = new TopicVariables(kafka, topics, Clock.systemUTC(), 64_000_000);
    private final TopicVariables other = new TopicVariables(kafka, topics, Clock.systemUTC(), 64_000_000);

    @AfterEach
    void close() {
        one.close();
        other.close();
    }

    @Test
    void shouldBeKnownToEveryInstanceAtOnce() throws Exception {
        for (int i = 0; i < 20; i++) {
            // when
            one.set(SCOPE, "STEP", "value " + i);
            // then
            assertThat(other.get(SCOPE, "STEP")).contains("value " + i);
        }
        assertThat(other.get(new Scope("default", "task", "s-1"), "STEP")).isEmpty();
    }

    @Test
    void shouldSurviveARestart() throws Exception {
        // given
        one.set(SCOPE, "A", "1");
        one.set(SCOPE, "A", "2");
        one.set(SCOPE, "B", "");
        one.close();
        // then
        assertThat(other.get(SCOPE, "A")).contains("2");
        assertThat(other.get(SCOPE, "B")).contains("");
    }

    @Test
    void shouldSetAsManyAsAScopeMayHaveAndNoMore() throws Exception {
        // given
        for (int i = 0; i < KnownVariables.MAX_PER_SCOPE; i++) {
            one.set(SCOPE, "V" + i, "x");
        }
        // when
        ToolException tooMany = catchThrowableOfType(ToolException.class, () -> other.set(SCOPE, "W", "x"));
        // then
        assertThat(tooMany).isNotNull().extracting(ToolException::code).isEqualTo("env_full");
        other.set(SCOPE, "V0", "changed");
        other.set(new Scope("default", "session", "s-2"), "W", "x");
        assertThat(one.get(SCOPE, "V0")).contains("changed");
    }

    @Test
    @DisplayName("what was set on a topic that was deleted and made again is set no more")
    void shouldBeginAnewWhenTheTopicIsMadeAgain() throws Exception {
        // given
        one.set(SCOPE, "A", "before");
        one.set(SCOPE, "B", "before");
        assertThat(other.get(SCOPE, "A")).contains("before");
        // when
        broker.makeAgain(topics, topics.variables(), TestBroker.DEFAULT_PARTITIONS);
        try (TopicVariables fresh = new TopicVariables(kafka, topics, Clock.systemUTC(), 64_000_000)) {
            fresh.set(SCOPE, "B", "after");
        }
        // then: within the time between two looks
        await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
            assertThat(other.get(SCOPE, "A")).isEmpty();
            assertThat(other.get(SCOPE, "B")).contains("after");
        });
    }

    @Test
    void shouldForgetWhatIsTooOld() throws Exception {
        // given
        one.set(SCOPE, "A", "1");
        Instant later = Instant.now().plus(TopicVariables.RETENTION).plusSeconds(60);
        try (TopicVariables inAWeek =
                new TopicVariables(kafka, topics, Clock.fixed(later, ZoneOffset.UTC), 64_000_000)) {
            // then
            assertThat(inAWeek.get(SCOPE, "A")).isEmpty();
            assertThat(one.get(SCOPE, "A")).contains("1");
        }
    }

    @Test
    @DisplayName("what the task machine says is forgotten is nobody's any more, and what is set afterwards is")
    void shouldForgetWhatIsForgotten() throws Exception {
        // given
        one.set(SCOPE, "A", "1");
        one.set(new Scope("default", "session", "s-2"), "A", "2");
        // when
        broker.produce(new ProducerRecord<>(
                topics.variables(),
                0,
                "default".getBytes(StandardCharsets.UTF_8),
                Json.write(Map.of(
                        "namespace",
                        SCOPE.namespace(),
                        "kind",
                        SCOPE.kind(),
                        "id",
                        SCOPE.id(),
                        "forgottenAt",
                        System.currentTimeMillis()))));
        // then
        assertThat(one.get(SCOPE, "A")).isEmpty();
        assertThat(other.get(SCOPE, "A")).isEmpty();
        assertThat(other.get(new Scope("default", "session", "s-2"), "A")).contains("2");
    }

    @Test
    void shouldReadOnWhereOldRecordsAreGoneAndWhereOthersMakeNoSense() throws Exception {
        // given
        one.set(SCOPE, "A", "1");
        other.set(SCOPE, "B", "2");
        TopicPartition partition = new TopicPartition(topics.variables(), 0);
        broker.produce(new ProducerRecord<>(
                topics.variables(),
                0,
                "k".getBytes(StandardCharsets.UTF_8),
                "nonsense".getBytes(StandardCharsets.UTF_8)));
        broker.produce(new ProducerRecord<>(topics.variables(), 0, "k".getBytes(StandardCharsets.UTF_8), null));
        broker.admin()
                .deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(3)))
                .all()
                .get();
        // then
        assertThat(other.get(SCOPE, "A")).as("read before it went").contains("1");
        try (TopicVariables begun = new TopicVariables(kafka, topics, Clock.systemUTC(), 64_000_000)) {
            assertThat(begun.get(SCOPE, "B")).as("gone before it was read").isEmpty();
        }
        one.set(SCOPE, "C", "3");
        assertThat(other.get(SCOPE, "C")).contains("3");
    }
}
