package dev.millrace.agent.topology;

import dev.millrace.schemas.Topics;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.streams.processor.TimestampExtractor;

/**
 * Makes higher lanes overtake lower ones: among the records that are buffered for a partition, Kafka Streams takes the
 * one with the smallest timestamp, so a lane's rank is put in front of the date. Within a lane the order stays that of
 * the log, whatever the dates say. The numbers are good for nothing else: {@link LaneDates} undoes them before anything
 * is stored or sent. ADR 0010 has the measurements.
 */
final class LaneOrder implements TimestampExtractor {

    /** Above every date that an event may have (the year 9999), and six of them are far from the end of a long. */
    private static final long SPAN_MS = 1L << 52;

    private final Map<String, Integer> ranks = new HashMap<>();

    private LaneOrder() {}

    /** By lane, then by date. */
    static LaneOrder byPriority(Topics topics) {
        LaneOrder order = new LaneOrder();
        for (String lane : topics.lanes()) {
            order.ranks.put(lane, order.ranks.size());
        }
        return order;
    }

    /** By date alone, as Kafka Streams does on its own; for comparison. */
    static LaneOrder byDate() {
        return new LaneOrder();
    }

    @Override
    public long extract(ConsumerRecord<Object, Object> lane, long partitionTime) {
        return ranks.getOrDefault(lane.topic(), 0) * SPAN_MS + dated(lane.timestamp());
    }

    /** A record without a date, or with one that no event may have, is dated now. */
    private static long dated(long timestamp) {
        return timestamp < 0 || timestamp >= SPAN_MS ? System.currentTimeMillis() : timestamp;
    }

    /** The date of the record that this order was given for. */
    static long dateOf(long extracted) {
        return extracted % SPAN_MS;
    }
}
