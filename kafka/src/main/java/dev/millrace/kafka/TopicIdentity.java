package dev.millrace.kafka;

import java.time.Duration;
import java.util.Optional;

/**
 * Tells which topic it is that has a name: one that was deleted and made again, or lies in another cluster, is another
 * one, whose offsets mean something else. Connects when it is asked. For one thread.
 */
public interface TopicIdentity extends AutoCloseable {

    /** No answer of {@link #lately} is older. */
    Duration LATELY = Duration.ofSeconds(4);

    /** The topic; empty if it is not there, or that could not be found out within two seconds. */
    Optional<TopicId> find() throws InterruptedException;

    /** The same, but what others of this process have been told within the last {@link #LATELY} will do. */
    default Optional<TopicId> lately() throws InterruptedException {
        return find();
    }

    @Override
    void close();

    /** Asks the brokers, by a client that all of this process share; {@code kafka} says how to reach them. */
    static TopicIdentity of(ClientSettings kafka, String topic) {
        return new AskedTopicIdentity(kafka, topic);
    }
}
