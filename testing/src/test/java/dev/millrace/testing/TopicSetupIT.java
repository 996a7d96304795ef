package dev.millrace.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.kafka.TopicSetupException;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lies here and not in {@code schemas}, which may not depend on a module with a broker. */
@RequiresBroker
class TopicSetupIT {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final TopicSettings CHECK = new TopicSettings(2, TopicSettings.BROKER_DEFAULT, false);
    private static final TopicSettings CREATE = new TopicSettings(2, TopicSettings.BROKER_DEFAULT, true);

    private final Topics topics =
            new Topics("setup" + UUID.randomUUID().toString().substring(0, 8) + ".");

    @Test
    void shouldRefuseToStartWithoutTopics(TestBroker broker) {
        assertThatThrownBy(() -> TopicSetup.ensure(broker.admin(), topics, CHECK, DEADLINE))
                .isInstanceOf(TopicSetupException.class)
                .hasMessageContaining(topics.journal() + ": expected a topic with 2 partitions")
                .hasMessageContaining(
                        topics.definitions() + ": expected a topic with 1 partition and cleanup.policy=compact")
                .hasMessageContaining("millrace.topics.create=true");
    }

    @Test
    void shouldMakeTheTopicsAsTheCatalogueSays(TestBroker broker) throws Exception {
        // when
        TopicSetup.ensure(broker.admin(), topics, CREATE, DEADLINE);

        // then
        assertThatCode(() -> TopicSetup.ensure(broker.admin(), topics, CHECK, DEADLINE))
                .doesNotThrowAnyException();
        assertThat(setting(broker, topics.journal(), "retention.ms"))
                .isEqualTo(Long.toString(Duration.ofDays(30).toMillis()));
        assertThat(setting(broker, topics.journal(), "max.message.bytes"))
                .isEqualTo(Integer.toString(Topics.MAX_COPY_BYTES));
        assertThat(setting(broker, topics.definitions(), "cleanup.policy")).isEqualTo("compact");
    }

    @Test
    void shouldLetSeveralServicesStartAtTheSameTime(TestBroker broker) throws Exception {
        // given
        ClientSettings client = ClientSettings.at(broker.bootstrapServers());
        List<Future<?>> starts = new ArrayList<>();

        // when
        try (ExecutorService services = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 4; i++) {
                starts.add(services.submit(() -> TopicSetup.ensure(client, topics, CREATE, DEADLINE)));
            }
        }

        // then
        for (Future<?> start : starts) {
            assertThatCode(start::get).doesNotThrowAnyException();
        }
    }

    @Test
    @Timeout(20)
    void shouldNameWhatIsWrongAndMakeNothing(TestBroker broker) throws Exception {
        // given
        NewTopic wrong = new NewTopic(topics.journal(), Optional.of(3), Optional.empty())
                .configs(Map.of("cleanup.policy", "compact"));
        broker.admin().createTopics(List.of(wrong)).all().get();
        while (!broker.admin().listTopics().names().get().contains(topics.journal())) {
            Thread.onSpinWait(); // a broker knows its topics a moment after its controller does
        }

        // when
        assertThatThrownBy(() -> TopicSetup.ensure(broker.admin(), topics, CREATE, DEADLINE))
                .isInstanceOf(TopicSetupException.class)
                .hasMessageContaining(topics.journal() + ": expected 2 partitions, found 3")
                .hasMessageContaining(topics.journal() + ": expected cleanup.policy=delete, found compact");

        // then
        assertThat(broker.admin().listTopics().names().get()).doesNotContain(topics.definitions());
    }

    @Test
    void shouldSayWhyTheBrokerRefuses(TestBroker broker) {
        assertThatThrownBy(() -> TopicSetup.ensure(broker.admin(), topics, new TopicSettings(2, 99, true), DEADLINE))
                .isInstanceOf(TopicSetupException.class)
                .hasMessageContaining("millrace.topics.replication (99)");
    }

    private static String setting(TestBroker broker, String topic, String key) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Config config = broker.admin()
                .describeConfigs(List.of(resource))
                .all()
                .get()
                .getOrDefault(resource, new Config(List.of()));
        return config.get(key).value();
    }
}
