package dev.millrace.requests;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Topics;
import java.time.Duration;

/**
 * What a worker needs to know.
 *
 * @param kafka how to reach the brokers
 * @param topics where the installation's topics are
 * @param toolset whose request topic is served
 * @param group the share group: workers with the same one share the requests
 * @param maxConcurrent how many jobs run at a time in this worker, 1 or more
 * @param maxDeliveries at this delivery the worker gives up on a request instead of running it, 2 or more; not more
 *     than the broker's {@code group.share.delivery.count.limit} (default 5), which drops the request without a word
 * @param lock how long a request stays locked for a worker that has gone silent without its connection breaking;
 *     renewed while the job runs, and cut to what the broker allows
 * @param grace how long {@link RequestWorker#close} lets running jobs go on, zero or more
 */
public record WorkerSettings(
        ClientSettings kafka,
        Topics topics,
        String toolset,
        String group,
        int maxConcurrent,
        int maxDeliveries,
        Duration lock,
        Duration grace) {

    /** The delivery at which a worker gives up when nothing else is set: the broker's own default limit. */
    public static final int DEFAULT_MAX_DELIVERIES = 5;
    /** The lock when nothing else is set. */
    public static final Duration DEFAULT_LOCK = Duration.ofMinutes(5);
    /** The grace period when nothing else is set. */
    public static final Duration DEFAULT_GRACE = Duration.ofSeconds(10);

    public WorkerSettings {
        if (maxConcurrent < 1) {
            throw new IllegalArgumentException("maxConcurrent: expected 1 or more, found " + maxConcurrent);
        }
        if (maxDeliveries < 2) {
            throw new IllegalArgumentException("maxDeliveries: expected 2 or more, found " + maxDeliveries);
        }
        if (lock.toMillis() < 1) {
            throw new IllegalArgumentException("lock: expected 1 ms or more, found " + lock);
        }
        if (grace.isNegative()) {
            throw new IllegalArgumentException("grace: expected zero or more, found " + grace);
        }
    }

    /** Settings with the defaults, for the group that is named after the topics' prefix and the toolset. */
    public static WorkerSettings of(ClientSettings kafka, Topics topics, String toolset, int maxConcurrent) {
        return new WorkerSettings(
                kafka,
                topics,
                toolset,
                topics.shareGroup(toolset),
                maxConcurrent,
                DEFAULT_MAX_DELIVERIES,
                DEFAULT_LOCK,
                DEFAULT_GRACE);
    }

    /** The same with another lock and grace period. */
    public WorkerSettings with(Duration newLock, Duration newGrace) {
        return new WorkerSettings(kafka, topics, toolset, group, maxConcurrent, maxDeliveries, newLock, newGrace);
    }

    /** The topic that the requests come from. */
    String topic() {
        return topics.requests(toolset);
    }
}
