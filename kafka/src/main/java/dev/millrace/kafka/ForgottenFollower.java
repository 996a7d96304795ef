package dev.millrace.kafka;

import dev.millrace.schemas.ForgottenSet;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Knows what has been forgotten, as the topic {@link Topics#forgotten} tells it. Follows nothing before somebody asks.
 * For any thread.
 */
public final class ForgottenFollower implements AutoCloseable {

    private final ForgottenSet forgotten = new ForgottenSet();
    private final TopicFollower follower;

    /**
     * Connects when it is asked.
     *
     * @param kafka how to reach the brokers
     * @param client what brokers call its consumers, with their purpose
     */
    public ForgottenFollower(ClientSettings kafka, Topics topics, String client) {
        // what is gone is older than anything that could still be shown
        TopicLog log = new TopicLog(kafka, topics.forgotten(), client, TopicLog.WHAT_IS_LEFT);
        this.follower = new TopicFollower(log, new TopicFollower.Taker() {
            @Override
            public void take(ConsumerRecord<byte[], byte[]> taken) {
                forgotten.take(taken.value());
            }

            @Override
            public void beginAnew() {
                // what was forgotten once stays so, as long as this instance knows it
            }
        });
    }

    /**
     * All that had been forgotten when this was called, and from then on what is.
     *
     * @throws org.apache.kafka.common.KafkaException if it takes longer than this to find out
     */
    public ForgottenSet upToNow(Duration limit) throws InterruptedException {
        follower.catchUp(System.nanoTime() + limit.toNanos());
        return forgotten;
    }

    /** What is known without asking. */
    public ForgottenSet known() {
        return forgotten;
    }

    /** Why the topic is not read now, for people; empty = it is, or nobody has asked. */
    public Optional<String> problem() {
        return follower.loop().problem();
    }

    /** Stops following, within seconds. */
    @Override
    public void close() {
        follower.close();
    }
}
