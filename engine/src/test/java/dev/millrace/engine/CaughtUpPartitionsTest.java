package dev.millrace.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CaughtUpPartitionsTest {

    private static final TopicPartition SYSTEM = new TopicPartition("system", 0);
    private static final TopicPartition TOOL = new TopicPartition("tool", 0);

    private final CaughtUpPartitions partitions = new CaughtUpPartitions();
    private final Map<TopicPartition, OptionalLong> lags =
            new HashMap<>(Map.of(SYSTEM, OptionalLong.of(0), TOOL, OptionalLong.of(0)));
    private int asked;
    private long nanos;

    @Test
    void shouldAskOnceForAPartitionThatHasNothingMore() {
        for (int turn = 0; turn < 10; turn++) {
            assertEquals(OptionalLong.of(0), lag(SYSTEM));
            assertEquals(OptionalLong.of(0), lag(TOOL));
        }

        assertEquals(2, asked);
    }

    @Test
    void shouldAskAgainForAPartitionThatHasBroughtRecords() {
        bothAreCaughtUp();
        lags.put(TOOL, OptionalLong.of(5));

        partitions.polled(List.of(TOOL), true, false);

        assertEquals(OptionalLong.of(0), lag(SYSTEM));
        assertEquals(OptionalLong.of(5), lag(TOOL));
        assertEquals(1, asked);
    }

    @Test
    void shouldAskAgainForPartitionsThatHaveBroughtRecordsTogether() {
        bothAreCaughtUp();
        lags.put(TOOL, OptionalLong.of(5));

        partitions.polled(List.of(TOOL, SYSTEM), false, false);

        assertEquals(OptionalLong.of(5), lag(TOOL));
        assertEquals(OptionalLong.of(0), lag(SYSTEM));
        assertEquals(2, asked);
    }

    @Test
    void shouldNotAskForTheOnlyPartitionOfWhichThereAreRecords() {
        bothAreCaughtUp();

        partitions.polled(List.of(TOOL), false, false);

        assertEquals(OptionalLong.of(0), lag(TOOL));
        assertEquals(0, asked);
    }

    @Test
    void shouldAskAgainForAllAfterAPollThatHadNoRoomForMore() {
        bothAreCaughtUp();
        lags.put(SYSTEM, OptionalLong.of(1));

        partitions.polled(List.of(TOOL), false, true);

        assertEquals(OptionalLong.of(1), lag(SYSTEM));
        assertEquals(OptionalLong.of(0), lag(TOOL));
        assertEquals(2, asked);
    }

    @Test
    void shouldAskInEachTurnForAPartitionThatHasMoreOrOfWhichThatIsNotKnown() {
        lags.put(SYSTEM, OptionalLong.empty());
        lags.put(TOOL, OptionalLong.of(3));

        assertEquals(OptionalLong.empty(), lag(SYSTEM));
        assertEquals(OptionalLong.empty(), lag(SYSTEM));
        assertEquals(OptionalLong.of(3), lag(TOOL));
        lags.put(TOOL, OptionalLong.of(2));
        assertEquals(OptionalLong.of(2), lag(TOOL));
        assertEquals(4, asked);
    }

    @Test
    void shouldAskAgainAfterAWhile() {
        bothAreCaughtUp();
        lags.put(SYSTEM, OptionalLong.of(1));

        nanos = CaughtUpPartitions.BELIEVED.toNanos() - 1;
        assertEquals(OptionalLong.of(0), lag(SYSTEM));
        nanos++;
        assertEquals(OptionalLong.of(1), lag(SYSTEM));
    }

    @Test
    @DisplayName("a lane that is always behind keeps the others waiting for a while, and not in the turn after it")
    void shouldLetOthersGoNowAndThen() {
        lags.put(SYSTEM, OptionalLong.of(7));

        for (int round = 0; round < 3; round++) {
            long begun = nanos;
            while (nanos - begun < CaughtUpPartitions.PATIENCE.toNanos()) {
                turn();
                assertEquals(OptionalLong.of(7), lag(SYSTEM));
                assertEquals(OptionalLong.of(0), lag(TOOL));
                nanos += 1_000_000;
            }
            turn();
            assertEquals(OptionalLong.of(0), lag(SYSTEM));
            assertEquals(OptionalLong.of(0), lag(TOOL));
        }
    }

    @Test
    void shouldBePatientAnewWithALaneThatHadCaughtUp() {
        lags.put(SYSTEM, OptionalLong.of(7));
        turn();
        assertEquals(OptionalLong.of(7), lag(SYSTEM));
        nanos = CaughtUpPartitions.PATIENCE.toNanos() - 1;
        turn();
        lags.put(SYSTEM, OptionalLong.of(0));
        assertEquals(OptionalLong.of(0), lag(SYSTEM));

        nanos++;
        turn();
        lags.put(SYSTEM, OptionalLong.of(3));
        partitions.polled(List.of(SYSTEM), true, false);

        assertEquals(OptionalLong.of(3), lag(SYSTEM));
        turn();
        assertEquals(OptionalLong.of(3), lag(SYSTEM));
    }

    private void turn() {
        partitions.turns(nanos);
    }

    private void bothAreCaughtUp() {
        OptionalLong system = lag(SYSTEM);
        OptionalLong tool = lag(TOOL);
        assertEquals(system, tool);
        asked = 0;
    }

    private OptionalLong lag(TopicPartition partition) {
        return partitions.lag(partition, nanos, one -> {
            asked++;
            return lags.getOrDefault(one, OptionalLong.empty());
        });
    }
}
