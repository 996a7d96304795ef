package dev.millrace.schemas.kafka;

/**
 * How the topics of an installation are to be: the {@code millrace.topics.*} keys of every service.
 *
 * @param partitions how many partitions each topic has whose keys meet in a topology, 1 or more ({@code
 *     millrace.topics.partitions})
 * @param replication on how many brokers a topic that is made lies, 1 or more; {@value #BROKER_DEFAULT} = what the broker
 *     is configured to ({@code millrace.topics.replication}). Not checked on topics that exist
 * @param create whether missing topics are made; if not, a missing topic is a failure ({@code millrace.topics.create})
 */
public record TopicSettings(int partitions, int replication, boolean create) {

    /** The replication that leaves the choice to the broker. */
    public static final int BROKER_DEFAULT = -1;

    public TopicSettings {
        if (partitions < 1) {
            throw new IllegalArgumentException("millrace.topics.partitions: expected 1 or more, found " + partitions);
        }
        if (replication != BROKER_DEFAULT && (replication < 1 || replication > Short.MAX_VALUE)) {
            throw new IllegalArgumentException("millrace.topics.replication: expected " + BROKER_DEFAULT
                    + " (the broker's default) or 1 to " + Short.MAX_VALUE + ", found " + replication);
        }
    }
}
