package dev.millrace.reflection.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.config.TopicsConfig;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ReflectionWiringTest {

    @Test
    @DisplayName("topics that this service makes are as every millrace.topics key says")
    void shouldMakeTopicsAsTheyAreConfigured() {
        // given
        SmallRyeConfig config = new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .addDiscoveredConverters() // of durations as people write them
                .withMapping(TopicsConfig.class)
                .withMapping(ReflectionConfig.class)
                .withSources(new PropertiesConfigSource(
                        Map.of(
                                "millrace.topics.prefix", "acme.",
                                "millrace.topics.create", "true",
                                "millrace.topics.partitions", "3",
                                "millrace.reflection.model", "reflection",
                                "millrace.topics.replication", "2",
                                "millrace.topics.toolsets", "billing:4",
                                "millrace.topics.tokens-retention", "2h"),
                        "test",
                        1_000))
                .build();

        // when
        ReflectionRuntime.Settings settings = ReflectionWiring.settings(
                config.getConfigMapping(TopicsConfig.class), config.getConfigMapping(ReflectionConfig.class));

        // then
        assertThat(settings.topicSettings())
                .isEqualTo(new TopicSettings(
                        3, 2, true, List.of(new TopicSettings.Toolset("billing", 4)), Duration.ofHours(2)));
        assertThat(settings.model().name()).as("F-102: a model of its own").isEqualTo("reflection");
        assertThat(settings.memory().topics().memory()).isEqualTo("acme.memory");
    }
}
