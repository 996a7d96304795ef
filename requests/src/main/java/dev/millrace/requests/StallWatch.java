package dev.millrace.requests;

import org.apache.kafka.clients.consumer.ShareConsumer;
import org.apache.kafka.common.Metric;
import org.jspecify.annotations.Nullable;

/**
 * Gets a poll going again that has stopped fetching. Kafka's client (4.2.1) fetches once per poll until it has acquired
 * something. When all that it acquired is the marker that ends a transaction, it acknowledges it by itself, has nothing
 * to return and fetches no more until the poll is over. Every request of a transactional producer is followed by such a
 * marker. What can be seen from outside is that acknowledgements were sent while nobody acknowledged anything; then,
 * and only then, the poll is woken, since nothing is being fetched that a second poll could collide with.
 */
final class StallWatch {
    private static final String SENT = "acknowledgements-send-total";

    private final ShareConsumer<?, ?> consumer;
    private final @Nullable Metric sent;
    private boolean polling;
    private double sentBefore;

    StallWatch(ShareConsumer<?, ?> consumer) {
        this.consumer = consumer;
        this.sent = consumer.metrics().values().stream()
                .filter(metric -> metric.metricName().name().equals(SENT))
                .findFirst()
                .<Metric>map(metric -> metric)
                .orElse(null);
    }

    /** A poll is about to begin, and the broker has answered all acknowledgements. */
    synchronized void begin() {
        sentBefore = sent();
        polling = true;
    }

    /** The poll has brought something. */
    synchronized void end() {
        polling = false;
    }

    /** Wakes the poll if it is stuck. */
    synchronized void nudge() {
        if (polling) {
            double sentNow = sent();
            if (sentNow != sentBefore) {
                sentBefore = sentNow;
                consumer.wakeup();
            }
        }
    }

    private double sent() {
        return sent != null && sent.metricValue() instanceof Double total ? total : 0;
    }
}
