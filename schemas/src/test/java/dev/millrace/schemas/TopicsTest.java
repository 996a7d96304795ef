package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Topics.Cleanup;
import dev.millrace.schemas.Topics.Topic;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TopicsTest {
    private static final Topics TOPICS = new Topics("acme.");

    @Test
    void shouldNameEveryTopicOnce() {
        assertThat(TOPICS.all().stream().map(Topic::name))
                .containsExactly(
                        "acme.events.system",
                        "acme.events.external",
                        "acme.events.task",
                        "acme.events.cognitive",
                        "acme.events.tool",
                        "acme.events.background",
                        "acme.requests.tool",
                        "acme.requests.memory",
                        "acme.requests.reflection",
                        "acme.requests.webhook",
                        "acme.requests.knowledge",
                        "acme.journal",
                        "acme.tokens",
                        "acme.definitions",
                        "acme.memory",
                        "acme.knowledge",
                        "acme.content",
                        "acme.rates",
                        "acme.variables",
                        "acme.forgotten",
                        "acme.dead-letters",
                        "acme.audit");
    }

    @Test
    void shouldHaveALaneForEachSegmentHighestPriorityFirst() {
        assertThat(TOPICS.lanes())
                .doesNotHaveDuplicates()
                .hasSize(Segment.values().length)
                .startsWith("acme.events.system")
                .endsWith(TOPICS.lane(Segment.BACKGROUND));
    }

    @Test
    void shouldCompactDefinitionsMemoryAndKnowledgeAndNothingElse() {
        assertThat(TOPICS.all()).allSatisfy(topic -> {
            boolean compacted = Set.of(TOPICS.definitions(), TOPICS.memory(), TOPICS.knowledge())
                    .contains(topic.name());
            assertThat(topic.cleanup()).isEqualTo(compacted ? Cleanup.COMPACT : Cleanup.DELETE);
            assertThat(topic.retention().isZero()).isEqualTo(compacted);
        });
    }

    @Test
    void shouldKeepJournalAndDeadLettersLongerThanWhatTheyComeFrom() {
        assertThat(TOPICS.all().stream()
                        .filter(topic -> topic.name().equals(TOPICS.journal())
                                || topic.name().equals(TOPICS.deadLetters())))
                .hasSize(2)
                .allSatisfy(topic -> {
                    assertThat(topic.retention()).isGreaterThan(Duration.ofDays(7));
                    assertThat(topic.maxMessageBytes()).isGreaterThan(Topics.MAX_EVENT_BYTES);
                });
    }

    @Test
    void shouldHaveLegalTopicNames() {
        assertThat(TOPICS.all().stream().map(Topic::name)).allMatch(name -> name.matches("[a-zA-Z0-9._-]{1,249}"));
    }
}
