package dev.millrace.gateway.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.KnownEventType;
import java.time.Instant;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

class PartitionTailTest {
    private final Mailbox mailbox = new Mailbox(1 << 20, 1 << 20, new MailboxBudget(1 << 20), () -> {});
    private final PartitionTail tail = new PartitionTail(0, 0, 64 * 1024, 0);

    @Test
    void shouldPassOverARecordThatFailsForAReasonOfOurs() throws Exception {
        // given
        tail.add(new Feed(
                0,
                0,
                labels -> {
                    if (labels.id().equals("e1")) {
                        throw new IllegalStateException("a defect");
                    }
                    return true;
                },
                mailbox));

        // when
        for (int offset = 0; offset < 3; offset++) {
            tail.tell(record(offset));
        }

        // then
        assertThat(Letters.offsets(mailbox)).containsExactly(0L, 2L);
        assertThat(tail.told()).isEqualTo(3);
    }

    @Test
    void shouldTellFromTheBeginningOnceThePartitionIsAnotherOne() throws Exception {
        // given
        tail.add(new Feed(0, 0, labels -> true, mailbox));
        for (int offset = 0; offset < 3; offset++) {
            tail.tell(record(offset));
        }
        Letters.offsets(mailbox);

        // when
        tail.restart(0);
        tail.tell(record(0));

        // then
        assertThat(Letters.offsets(mailbox)).containsExactly(0L);
        assertThat(tail.position()).isEqualTo(1);
    }

    private static ConsumerRecord<byte[], byte[]> record(long offset) {
        ProducerRecord<String, byte[]> made = EventCodec.toRecord(
                "journal",
                Event.root("e" + offset, KnownEventType.TASK_NOTIFY, Instant.EPOCH)
                        .build());
        return new ConsumerRecord<>(
                "journal",
                0,
                offset,
                0L,
                TimestampType.CREATE_TIME,
                0,
                made.value().length,
                null,
                made.value(),
                made.headers(),
                Optional.empty());
    }
}
