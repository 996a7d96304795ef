package dev.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The topics that Strimzi makes are those that a service would make with the keys of the manifests. */
class TopicManifestsTest {

    private static final Path DEPLOY = Path.of("..", "deploy");
    private static final Path MANIFESTS = DEPLOY.resolve(Path.of("components", "kafka", "topics.yaml"));
    private static final Path KEYS = DEPLOY.resolve(Path.of("base", "common.env"));

    @Test
    @DisplayName("deploy/components/kafka/topics.yaml has every topic as a service makes it")
    void shouldListTheTopicsAsServicesMakeThem() throws IOException {
        ExpectedTopics expected = expected();
        String written = expected.all().stream()
                .map(expected::asMade)
                .map(TopicManifestsTest::manifest)
                .collect(Collectors.joining("---\n", "# Written from the code by TopicManifestsTest.\n", ""));
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.writeString(MANIFESTS, written);
        }

        assertThat(Files.readString(MANIFESTS))
                .as(MANIFESTS + " is stale; write it anew with -Dmillrace.docs.write=true")
                .isEqualTo(written);
    }

    private static ExpectedTopics expected() throws IOException {
        Properties keys = new Properties();
        try (InputStream file = Files.newInputStream(KEYS)) {
            keys.load(file);
        }
        return new ExpectedTopics(
                new Topics(keys.getProperty("MILLRACE_TOPICS_PREFIX")),
                new TopicSettings(
                        Integer.parseInt(keys.getProperty("MILLRACE_TOPICS_PARTITIONS")),
                        TopicSettings.BROKER_DEFAULT,
                        false));
    }

    private static String manifest(NewTopic topic) {
        Map<String, String> config = new TreeMap<>(topic.configs());
        StringBuilder text = new StringBuilder("""
                apiVersion: kafka.strimzi.io/v1
                kind: KafkaTopic
                metadata:
                  name: %s
                  labels:
                    strimzi.io/cluster: millrace
                spec:
                  partitions: %d
                  config:
                """.formatted(topic.name(), topic.numPartitions()));
        config.forEach((key, value) ->
                text.append("    ").append(key).append(": ").append(value).append('\n'));
        return text.toString();
    }
}
