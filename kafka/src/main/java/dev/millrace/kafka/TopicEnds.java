package dev.millrace.kafka;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Says where partitions end, as readers of committed records see them. It has a connection of its own: a broker answers
 * what comes on one connection in turn, so that a consumer that asks would wait for its fetch, up to
 * {@code fetch.max.wait.ms}. Connects when it is asked. For any thread.
 */
public final class TopicEnds implements AutoCloseable {

    private final ClientSettings kafka;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Admin admin;
    private boolean closed;

    /**
     * Of topics of these brokers.
     *
     * @param kafka how to reach them
     * @param client what they call the client
     */
    public TopicEnds(ClientSettings kafka, String client) {
        int limitMs = (int) TopicLog.ANSWER_LIMIT.toMillis();
        this.kafka = kafka.as(client)
                .with(AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 1_000)
                .with(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, limitMs)
                .with(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, limitMs);
    }

    /**
     * The offset that the next record has at least that is committed. Fails with a {@link KafkaException} if the
     * brokers have not said it within five seconds.
     */
    public CompletableFuture<Long> end(TopicPartition partition) {
        return ask(brokers -> offset(brokers, partition, OffsetSpec.latest()));
    }

    /** The offset of the first record that is not older than this, or the end. Fails after twice the time. */
    public CompletableFuture<Long> since(TopicPartition partition, Instant time) {
        OffsetSpec first = OffsetSpec.forTimestamp(time.toEpochMilli());
        return ask(brokers -> offset(brokers, partition, first)
                .thenCompose(found -> found < 0
                        ? offset(brokers, partition, OffsetSpec.latest())
                        : CompletableFuture.completedFuture(found)));
    }

    private CompletableFuture<Long> ask(Function<Admin, CompletableFuture<Long>> question) {
        try {
            return question.apply(open());
        } catch (KafkaException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static CompletableFuture<Long> offset(Admin brokers, TopicPartition partition, OffsetSpec spec) {
        return brokers.listOffsets(Map.of(partition, spec), new ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
                .partitionResult(partition)
                .toCompletionStage()
                .thenApply(ListOffsetsResultInfo::offset)
                .toCompletableFuture();
    }

    /** None can be made while the brokers' names do not resolve. */
    private Admin open() {
        lock.lock();
        try {
            if (closed) {
                throw new KafkaException("this instance stops");
            }
            if (admin == null) {
                admin = Admin.create(kafka.values());
            }
            return admin;
        } finally {
            lock.unlock();
        }
    }

    /** Says nothing more. */
    @Override
    public void close() {
        Admin left;
        lock.lock();
        try {
            closed = true;
            left = admin;
        } finally {
            lock.unlock();
        }
        if (left != null) {
            left.close(Duration.ZERO);
        }
    }
}
