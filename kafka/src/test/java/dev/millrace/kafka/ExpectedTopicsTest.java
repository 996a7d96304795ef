package dev.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.kafka.ExpectedTopics.Found;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.Topics.Topic;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExpectedTopicsTest {
    private static final Topics TOPICS = new Topics("acme.");

    private final ExpectedTopics expected =
            new ExpectedTopics(TOPICS, new TopicSettings(6, TopicSettings.BROKER_DEFAULT, false));

    @Test
    void shouldSayNothingIfAllIsWell() {
        assertThat(expected.report(rightTopics(6), true)).isEmpty();
    }

    @Test
    void shouldTakeAnyPartitionCountWhereKeysDoNotMeet() {
        // given
        Map<String, Found> found = rightTopics(6);
        found.put(TOPICS.definitions(), new Found(3, Set.of("compact"), Topics.MAX_COPY_BYTES, true));
        found.put(TOPICS.deadLetters(), new Found(12, Set.of("delete"), Topics.MAX_COPY_BYTES, true));

        // when
        String report = expected.report(found, true);

        // then
        assertThat(report).isEmpty();
    }

    @Test
    void shouldNameEachMissingTopicAndTheKeyThatMakesIt() {
        // given
        Map<String, Found> found = rightTopics(6);
        found.remove(TOPICS.journal());
        found.remove(TOPICS.definitions());

        // when
        String report = expected.report(found, true);

        // then
        assertThat(report)
                .contains("acme.journal: expected a topic with 6 partitions and cleanup.policy=delete, found none")
                .contains("acme.definitions: expected a topic with 1 partition and cleanup.policy=compact, found none")
                .contains("millrace.topics.create=true")
                .doesNotContain("acme.events.system");
    }

    @Test
    void shouldNotCallATopicMissingThatIsAboutToBeMade() {
        assertThat(expected.report(Map.of(), false)).isEmpty();
    }

    @Test
    void shouldSuggestThePartitionCountThatAllTopicsHave() {
        assertThat(expected.report(rightTopics(12), true))
                .contains("acme.events.system: expected 6 partitions, found 12")
                .contains("set millrace.topics.partitions=12");
    }

    @Test
    void shouldNotSuggestAPartitionCountIfTheTopicsDisagree() {
        // given
        Map<String, Found> found = rightTopics(6);
        found.put(TOPICS.lane(Segment.TOOL), new Found(3, Set.of("delete"), Topics.MAX_COPY_BYTES, true));

        // when
        String report = expected.report(found, true);

        // then
        assertThat(report)
                .contains("acme.events.tool: expected 6 partitions, found 3")
                .contains("Delete the topics that are wrong")
                .doesNotContain("set millrace.topics.partitions")
                .doesNotContain("acme.events.task");
    }

    @Test
    void shouldRefuseAJournalThatIsCompacted() {
        // given
        Map<String, Found> found = rightTopics(6);
        found.put(TOPICS.journal(), new Found(6, Set.of("compact", "delete"), Topics.MAX_COPY_BYTES, true));

        // when
        String report = expected.report(found, true);

        // then
        assertThat(report).contains("acme.journal: expected cleanup.policy=delete, found compact,delete");
    }

    @Test
    void shouldRefuseAJournalThatTakesLessThanIsSentThere() {
        // given
        Map<String, Found> found = rightTopics(6);
        found.put(TOPICS.journal(), new Found(6, Set.of("delete"), Topics.MAX_COPY_BYTES - 1, true));

        // when
        String report = expected.report(found, true);

        // then
        assertThat(report)
                .contains("acme.journal: expected max.message.bytes of at least 2097176, found 2097175")
                .contains("--add-config max.message.bytes=2097176");
    }

    @Test
    void shouldWantTheRequestTopicsOfToolsetsThatAreNamed() {
        // given
        ExpectedTopics withToolsets = new ExpectedTopics(
                TOPICS, new TopicSettings(6, TopicSettings.BROKER_DEFAULT, true).with(List.of("billing:3", " geo")));
        // when
        List<Topic> missing = withToolsets.missing(rightTopics(6));
        // then
        assertThat(missing)
                .extracting(topic -> topic.name() + ":" + withToolsets.partitions(topic))
                .containsExactly("acme.requests.billing:3", "acme.requests.geo:1");
        assertThat(withToolsets.report(rightTopics(6), true))
                .contains("acme.requests.billing: expected a topic with 3 partitions and cleanup.policy=delete, found"
                        + " none");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "a b", "billing:0", "billing:x", "billing:", "tool", "reflection:2", "webhook", "memory"})
    void shouldRefuseAToolsetThatIsNone(String text) {
        assertThatThrownBy(() -> TopicSettings.Toolset.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("millrace.topics.toolsets: ");
    }

    private static Map<String, Found> rightTopics(int partitions) {
        return new HashMap<>(TOPICS.all().stream()
                .collect(Collectors.toMap(
                        Topic::name,
                        topic -> new Found(
                                partitions, Set.of(ExpectedTopics.policy(topic)), Topics.MAX_COPY_BYTES, true))));
    }
}
