package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LaneOrderTest {

    private static final Topics TOPICS = new Topics("test.");
    private static final long LAST_DATE =
            Instant.parse("9999-12-31T23:59:59.999Z").toEpochMilli();

    private final LaneOrder order = LaneOrder.byPriority(TOPICS);

    @Test
    @DisplayName("F-045: the newest record of a lane goes before the oldest one of the next lane, whatever their dates")
    void shouldPutEveryLaneBeforeTheNext() {
        List<Segment> lanes = List.of(Segment.values());
        for (int i = 1; i < lanes.size(); i++) {
            assertThat(extract(lanes.get(i - 1), LAST_DATE)).isLessThan(extract(lanes.get(i), 0));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 1_795_000_000_000L})
    void shouldGiveTheDateBack(long timestamp) {
        for (Segment lane : Segment.values()) {
            assertThat(LaneOrder.dateOf(extract(lane, timestamp))).isEqualTo(timestamp);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 52})
    @DisplayName("a record whose date is none is dated now and stays in its lane")
    void shouldNotFallForImpossibleDates(long timestamp) {
        long before = System.currentTimeMillis();

        long extracted = extract(Segment.TASK, timestamp);

        assertThat(LaneOrder.dateOf(extracted)).isBetween(before, System.currentTimeMillis());
        assertThat(extracted).isBetween(extract(Segment.TASK, 0), extract(Segment.TASK, LAST_DATE));
    }

    @Test
    void shouldGoByDateAloneWithoutPriority() {
        LaneOrder byDate = LaneOrder.byDate();

        assertThat(List.of(record(Segment.SYSTEM, 20), record(Segment.TOOL, 10)))
                .isSortedAccordingTo(
                        Comparator.comparingLong((ConsumerRecord<Object, Object> lane) -> -byDate.extract(lane, 0)));
    }

    private long extract(Segment lane, long timestamp) {
        return order.extract(record(lane, timestamp), 0);
    }

    private static ConsumerRecord<Object, Object> record(Segment lane, long timestamp) {
        return new ConsumerRecord<>(
                TOPICS.lane(lane),
                0,
                0,
                timestamp,
                TimestampType.CREATE_TIME,
                0,
                0,
                "key",
                "value",
                new RecordHeaders(),
                Optional.empty());
    }
}
