package dev.millrace.requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.MalformedEventException;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class JobTest {

    @Test
    @DisplayName(
            "a defect of ours while a record is read is a reason for a dead letter, as what its sender did wrong is")
    void shouldSayThatADefectKeptARecordFromBeingRead() {
        // given
        RecordHeaders broken = new RecordHeaders() {
            @Override
            public Iterator<Header> iterator() {
                throw new IllegalStateException("a defect");
            }
        };
        Job job = new Job(
                new ConsumerRecord<>(
                        "t",
                        0,
                        1L,
                        0L,
                        TimestampType.CREATE_TIME,
                        0,
                        0,
                        new byte[0],
                        new byte[0],
                        broken,
                        Optional.empty()),
                new CountDownLatch(1));

        // then
        assertThatThrownBy(job::event)
                .isInstanceOfSatisfying(
                        MalformedEventException.class, e -> assertThat(e.code()).isEqualTo(ReplyEvents.INTERNAL_ERROR))
                .hasMessageContaining("IllegalStateException");
    }
}
