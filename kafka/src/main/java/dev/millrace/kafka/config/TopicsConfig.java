package dev.millrace.kafka.config;

import dev.millrace.kafka.TopicSettings;
import dev.millrace.schemas.Topics;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** How the topics are named and made; the same in every service of an installation. */
@ConfigMapping(prefix = "millrace.topics")
public interface TopicsConfig {

    /** Put before every topic's name. */
    @WithDefault(Topics.DEFAULT_PREFIX)
    String prefix();

    /** Whether missing topics are made at the start; if not, a missing one is an error. */
    @WithDefault("false")
    boolean create();

    /** Partitions of every lane and of the journal, 1 or more. The same for all, because they meet in one topology. */
    @WithDefault("6")
    int partitions();

    /** On how many brokers a topic that is made lies; -1 = as the broker is set up. */
    @WithDefault("-1")
    int replication();

    /** Toolsets of one's own workers, whose request topics are to be there too: names, or {@code name:partitions}. */
    Optional<List<String>> toolsets();

    /** How long live text stays where its topic is made, a minute or more. Clients can be away for so long. */
    @WithDefault("10m")
    Duration tokensRetention();

    /** The same, checked, for whoever checks or makes the topics. */
    default TopicSettings settings() {
        return new TopicSettings(partitions(), replication(), create())
                .with(toolsets().orElse(List.of()))
                .keepingTokens(tokensRetention());
    }

    /** The topics by their names. */
    default Topics topics() {
        return new Topics(prefix());
    }
}
