package dev.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class TopicSetupTest {
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final TopicSettings SETTINGS = new TopicSettings(2, 1, true);

    @Test
    @Timeout(20)
    void shouldFailWithinTheDeadlineIfNoBrokerListens() throws IOException {
        // given
        int closedPort;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closedPort = socket.getLocalPort();
        }

        // then
        assertGivesUpInTime(closedPort);
    }

    @Test
    @Timeout(20)
    void shouldFailWithinTheDeadlineIfTheBrokerNeverAnswers() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertGivesUpInTime(silent.getLocalPort());
        }
    }

    @Test
    void shouldRefuseSettingsOutOfRange() {
        assertThatThrownBy(() -> new TopicSettings(0, -1, false))
                .hasMessage("millrace.topics.partitions: expected 1 or more, found 0");
        assertThatThrownBy(() -> new TopicSettings(1, 0, false))
                .hasMessageContaining("millrace.topics.replication: expected -1");
        assertThatThrownBy(() -> SETTINGS.keepingTokens(Duration.ofSeconds(59)))
                .hasMessage("millrace.topics.tokens-retention: expected 1 minute or more, found PT59S");
    }

    @Test
    void shouldSayWhatIsWrongWithTheBootstrapServers() {
        // given
        ClientSettings config = ClientSettings.at("no port here");

        // then
        assertThatThrownBy(() -> TopicSetup.ensure(config, TOPICS, SETTINGS, Duration.ofSeconds(1)))
                .isInstanceOf(TopicSetupException.class)
                .hasMessageContaining("no port here")
                .hasMessageContaining("kafka.bootstrap.servers");
    }

    private static void assertGivesUpInTime(int port) {
        ClientSettings config = ClientSettings.at("127.0.0.1:" + port);
        long begin = System.nanoTime();
        assertThatThrownBy(() -> TopicSetup.ensure(config, TOPICS, SETTINGS, Duration.ofMillis(800)))
                .isInstanceOf(TopicSetupException.class)
                .hasMessageContaining("within 800 ms")
                .hasMessageContaining("kafka.bootstrap.servers");
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(20));
    }
}
