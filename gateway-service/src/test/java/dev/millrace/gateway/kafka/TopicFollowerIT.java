package dev.millrace.gateway.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicFollower;
import dev.millrace.kafka.TopicLog;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Forgotten;
import dev.millrace.schemas.MemoryDocument;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How a gateway follows topics, also those that are deleted and made again meanwhile. */
@RequiresBroker
class TopicFollowerIT {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static final TopicFollower.Taker NOBODY = new TopicFollower.Taker() {
        @Override
        public void take(ConsumerRecord<byte[], byte[]> taken) {}

        @Override
        public void beginAnew() {}
    };

    @Test
    @DisplayName("memory is what the topic holds that has its name now")
    void shouldShowNothingOfTheMemoryThatWasDeleted(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(1);
        ClientSettings kafka = ClientSettings.at(broker.bootstrapServers());
        remember(broker, topics, "facts/a.md");
        remember(broker, topics, "facts/b.md");
        try (EventSender sender = new EventSender(new Cluster(kafka, topics), LIMIT, event -> {});
                Memory memory = new Memory(new Cluster(kafka, topics), sender)) {
            assertThat(paths(memory)).containsExactly("facts/a.md", "facts/b.md");

            // when: as many records as there were, so that no offset is out of range
            broker.makeAgain(topics, topics.memory(), 1);
            remember(broker, topics, "facts/b.md");
            remember(broker, topics, "facts/c.md");

            // then
            await().atMost(LIMIT)
                    .ignoreException(BrokerUnavailableException.class)
                    .untilAsserted(() -> assertThat(paths(memory)).containsExactly("facts/b.md", "facts/c.md"));
            assertThat(memory.problem()).isEmpty();
        }
    }

    @Test
    @DisplayName("what was forgotten stays so, and what is forgotten on the topic that was made again is heard of")
    void shouldHearWhatIsForgottenOnATopicThatWasMadeAgain(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(1);
        forget(broker, topics, "one");
        try (ForgottenTopic forgotten =
                new ForgottenTopic(new Cluster(ClientSettings.at(broker.bootstrapServers()), topics))) {
            forgotten.readUpToNow();
            assertThat(wanted(forgotten, "one")).isFalse();

            // when
            broker.makeAgain(topics, topics.forgotten(), 1);
            forget(broker, topics, "two");

            // then
            await().atMost(LIMIT).until(() -> !wanted(forgotten, "two"));
            assertThat(wanted(forgotten, "one")).isFalse();
            assertThat(wanted(forgotten, "three")).isTrue();
        }
    }

    @Test
    @DisplayName("neither the start nor the end waits for the fetch that a broker answers when there is something")
    void shouldWaitForNoFetch(TestBroker broker) throws Exception {
        // given: of a topic with nothing on it
        Topics topics = broker.createTopics(1);
        ClientSettings kafka = ClientSettings.at(broker.bootstrapServers());
        List<Duration> starts = new ArrayList<>();
        List<Duration> ends = new ArrayList<>();

        // when: one of five is not held up by something else
        for (int i = 0; i < 5; i++) {
            TopicFollower follower = new TopicFollower(new TopicLog(kafka, topics.forgotten(), "test"), NOBODY);
            starts.add(timeOf(() -> {
                follower.start();
                assertThat(follower.awaitCaughtUp(LIMIT)).isTrue();
            }));
            TimeUnit.MILLISECONDS.sleep(100);
            ends.add(timeOf(follower::close));
        }

        // then
        assertThat(starts).anyMatch(TopicFollowerIT::isQuick);
        assertThat(ends).anyMatch(TopicFollowerIT::isQuick);
    }

    private static boolean isQuick(Duration time) {
        return time.compareTo(Duration.ofMillis(400)) < 0;
    }

    private interface Step {
        void take() throws InterruptedException;
    }

    private static Duration timeOf(Step step) throws InterruptedException {
        long before = System.nanoTime();
        step.take();
        return Duration.ofNanos(System.nanoTime() - before);
    }

    private static void remember(TestBroker broker, Topics topics, String path) {
        byte[] document =
                new MemoryDocument("default", path, 1, "text", "", 4, "2026-11-22T09:00:00Z", "task t1", "c1").toJson();
        broker.produceRaw(topics.memory(), "default/" + path, Map.of(), document);
    }

    private static void forget(TestBroker broker, Topics topics, String taskId) {
        ForgetScope scope = new ForgetScope(ForgetScope.Kind.TASK, "default", taskId);
        broker.produce(new ProducerRecord<>(topics.forgotten(), null, new Forgotten(scope, 0).toJson()));
    }

    private static boolean wanted(ForgottenTopic forgotten, String taskId) {
        return forgotten.filter().wants(new JournalFilter.Labels("e", "TASK_NOTIFY", taskId, null, "default", 1));
    }

    private static List<String> paths(Memory memory) throws BrokerUnavailableException, InterruptedException {
        return memory.documents("default", "", 10, Duration.ofSeconds(5)).stream()
                .map(MemoryVersion::path)
                .toList();
    }
}
