package dev.millrace.gateway.kafka;

import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.kafka.TopicSetupException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows whether the brokers can be reached: first it checks (or makes) the topics, for as long as that takes, and then
 * asks for a sign of life every few seconds. Asking this class costs nothing. For any thread.
 */
public final class BrokerProbe implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(BrokerProbe.class);

    private static final Duration SETUP_LIMIT = Duration.ofSeconds(10);
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);
    private static final Duration EVERY = Duration.ofSeconds(5);
    private static final Duration AGAIN = Duration.ofSeconds(1);

    /**
     * What is known.
     *
     * @param up whether the topics are right and the brokers answered a moment ago
     * @param detail why not, for people; empty if they did
     */
    public record Status(boolean up, String detail) {}

    private final Cluster cluster;
    private final TopicSettings settings;
    private final Consumer<TopicSetupException> onWrongTopics;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile Status status = new Status(false, "the topics have not been checked yet");

    /**
     * Does nothing yet, see {@link #start}.
     *
     * @param onWrongTopics is told, once, that the brokers answer and the topics are not as they have to be; nothing is
     *     probed after that
     */
    public BrokerProbe(Cluster cluster, TopicSettings settings, Consumer<TopicSetupException> onWrongTopics) {
        this.cluster = cluster.as("millrace-gateway-probe");
        this.settings = settings;
        this.onWrongTopics = onWrongTopics;
    }

    /** Begins, and returns at once. */
    public void start() {
        Thread.ofPlatform().daemon().name("broker-probe").start(this::run);
    }

    /** What is known now. */
    public Status status() {
        return status;
    }

    /** Stops probing. */
    @Override
    public void close() {
        closed.countDown();
    }

    private void run() {
        try {
            while (!topicsAreRight()) {
                if (closed.await(AGAIN.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
            // not earlier: none can be made while the brokers' names do not resolve
            Admin admin = Admin.create(cluster.client().values());
            try {
                do {
                    status = ask(admin);
                } while (!closed.await((status.up() ? EVERY : AGAIN).toMillis(), TimeUnit.MILLISECONDS));
            } finally {
                admin.close(ANSWER_LIMIT);
            }
        } catch (TopicSetupException e) {
            status = new Status(false, String.valueOf(e.getMessage()));
            onWrongTopics.accept(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether they are; not, if nobody could be asked. */
    private boolean topicsAreRight() {
        try {
            TopicSetup.ensure(cluster.client(), cluster.topics(), settings, SETUP_LIMIT);
            return true;
        } catch (TopicSetupException e) {
            if (e.getCause() == null) {
                throw e;
            }
            if (closed.getCount() > 0) {
                status = new Status(false, String.valueOf(e.getMessage()));
                LOGGER.atWarn().log(e.getMessage());
            }
        } catch (RuntimeException e) {
            status = new Status(false, "the brokers cannot be asked: " + e);
            LOGGER.atError().setCause(e).log("Asking the brokers failed for a reason that nobody expected");
        }
        return false;
    }

    private static Status ask(Admin admin) throws InterruptedException {
        int limitMs = (int) ANSWER_LIMIT.toMillis();
        try {
            admin.describeCluster(new DescribeClusterOptions().timeoutMs(limitMs))
                    .nodes()
                    .get(limitMs, TimeUnit.MILLISECONDS);
            return new Status(true, "");
        } catch (ExecutionException | TimeoutException | KafkaException e) {
            return new Status(false, "no broker answered within " + limitMs + " ms");
        }
    }
}
