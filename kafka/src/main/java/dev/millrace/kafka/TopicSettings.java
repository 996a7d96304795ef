package dev.millrace.kafka;

import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How the topics of an installation are to be: the {@code millrace.topics.*} keys of every service.
 *
 * @param partitions how many partitions each topic has whose keys meet in a topology, 1 or more ({@code
 *     millrace.topics.partitions})
 * @param replication on how many brokers a topic that is made lies, 1 or more; {@value #BROKER_DEFAULT} = what the
 *     broker is configured to ({@code millrace.topics.replication}). Not checked on topics that exist
 * @param create whether missing topics are made; if not, a missing topic is a failure ({@code millrace.topics.create})
 * @param toolsets those beside the ones of the catalogue, whose request topics are to be there as well ({@code
 *     millrace.topics.toolsets})
 * @param tokensRetention how long live text stays where its topic is made, a minute or more ({@code
 *     millrace.topics.tokens-retention}). Not checked on a topic that exists
 */
public record TopicSettings(
        int partitions, int replication, boolean create, List<Toolset> toolsets, Duration tokensRetention) {

    /** The replication that leaves the choice to the broker. */
    public static final int BROKER_DEFAULT = -1;

    /**
     * A toolset of somebody's own workers.
     *
     * @param name letters, digits, {@code .}, {@code _} and {@code -}, 1 to 64 characters, none of {@link Topics}' own
     * @param partitions how many its request topic has if it is made, 1 or more: 1 for a share group, as many as
     *     workers shall work at the same time for an ordinary group. Not checked on a topic that exists
     */
    public record Toolset(String name, int partitions) {
        private static final Pattern FORM = Pattern.compile("([A-Za-z0-9._-]{1,64})(?::([1-9][0-9]{0,3}))?");

        public Toolset {
            if (Topics.OWN_TOOLSETS.contains(name)) {
                throw new IllegalArgumentException(
                        "millrace.topics.toolsets: \"" + name + "\" is one of Millrace's own, which need not be named");
            }
        }

        /**
         * Reads one entry of the key: {@code name} or {@code name:partitions}.
         *
         * @throws IllegalArgumentException if it is neither
         */
        public static Toolset parse(String text) {
            Matcher parts = FORM.matcher(text.strip());
            if (!parts.matches()) {
                throw new IllegalArgumentException(
                        "millrace.topics.toolsets: expected names such as billing or billing:3 (partitions), found \""
                                + text + "\"");
            }
            return new Toolset(parts.group(1), parts.group(2) == null ? 1 : Integer.parseInt(parts.group(2)));
        }
    }

    /** Settings without toolsets of one's own. */
    public TopicSettings(int partitions, int replication, boolean create) {
        this(partitions, replication, create, List.of(), Topics.TOKENS_RETENTION);
    }

    /** The same with these toolsets, each as in {@link Toolset#parse}. */
    public TopicSettings with(List<String> wanted) {
        return new TopicSettings(
                partitions,
                replication,
                create,
                wanted.stream().map(Toolset::parse).toList(),
                tokensRetention);
    }

    /** The same, with live text kept for so long. */
    public TopicSettings keepingTokens(Duration retention) {
        return new TopicSettings(partitions, replication, create, toolsets, retention);
    }

    public TopicSettings {
        toolsets = List.copyOf(toolsets);
        if (tokensRetention.compareTo(Duration.ofMinutes(1)) < 0) {
            throw new IllegalArgumentException(
                    "millrace.topics.tokens-retention: expected 1 minute or more, found " + tokensRetention);
        }
        if (partitions < 1) {
            throw new IllegalArgumentException("millrace.topics.partitions: expected 1 or more, found " + partitions);
        }
        if (replication != BROKER_DEFAULT && (replication < 1 || replication > Short.MAX_VALUE)) {
            throw new IllegalArgumentException("millrace.topics.replication: expected " + BROKER_DEFAULT
                    + " (the broker's default) or 1 to " + Short.MAX_VALUE + ", found " + replication);
        }
    }
}
