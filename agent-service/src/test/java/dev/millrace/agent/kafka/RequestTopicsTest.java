package dev.millrace.agent.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** When it is noticed that a request topic has come or gone. */
class RequestTopicsTest {

    private static final Topics TOPICS = new Topics("test.");

    private final Set<String> there = new HashSet<>(Set.of(TOPICS.definitions()));
    private final List<String> asked = new ArrayList<>();
    private boolean answering = true;
    private Duration time = Duration.ZERO;

    private final RequestTopics requestTopics = new RequestTopics(
            topic -> {
                asked.add(topic);
                return answering && there.contains(topic);
            },
            TOPICS,
            () -> time.toNanos());

    @BeforeEach
    void begin() {
        there.add(TOPICS.requests("billing"));
        there.add(TOPICS.requests("geo"));
    }

    @Test
    @DisplayName("a topic that is not there is asked for each time, and one that is from time to time")
    void shouldAskFromTimeToTime() {
        // when
        assertThat(requestTopics.test("other")).isFalse();
        assertThat(requestTopics.test("other")).isFalse();
        there.add(TOPICS.requests("other"));
        assertThat(requestTopics.test("other")).isTrue();
        time = time.plus(RequestTopics.SPACING).minusNanos(1);
        assertThat(requestTopics.test("other")).isTrue();

        // then
        assertThat(asked).hasSize(3).containsOnly(TOPICS.requests("other"));
        time = time.plusNanos(1);
        assertThat(requestTopics.test("other")).isTrue();
        assertThat(asked).hasSize(4);
    }

    @Test
    @DisplayName("a topic that was deleted is noticed, and so is that it was made again")
    void shouldNoticeThatItIsGone() {
        // given
        assertThat(requestTopics.test("billing")).isTrue();

        // when
        there.remove(TOPICS.requests("billing"));
        time = time.plus(RequestTopics.SPACING);

        // then
        assertThat(requestTopics.test("billing")).isFalse();
        there.add(TOPICS.requests("billing"));
        assertThat(requestTopics.test("billing")).isTrue();
    }

    @Test
    @DisplayName("brokers that do not answer take no topic away, and are not asked for each")
    void shouldKeepWhatIsKnownWhileNobodyAnswers() {
        // given
        assertThat(requestTopics.test("billing")).isTrue();
        assertThat(requestTopics.test("geo")).isTrue();
        asked.clear();

        // when
        answering = false;
        time = time.plus(RequestTopics.SPACING);

        // then
        assertThat(requestTopics.test("billing")).isTrue();
        assertThat(requestTopics.test("geo")).isTrue();
        assertThat(requestTopics.test("other")).isFalse();
        assertThat(asked).containsExactly(TOPICS.requests("billing"), TOPICS.definitions(), TOPICS.requests("other"));
    }
}
