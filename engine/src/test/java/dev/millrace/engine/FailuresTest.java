package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.Set;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.streams.errors.StreamsException;
import org.junit.jupiter.api.Test;

class FailuresTest {

    @Test
    void shouldGoOnAfterWhatPasses() {
        assertThat(Failures.mayPass(new StreamsException(new TimeoutException("60 s"))))
                .isTrue();
    }

    @Test
    void shouldGoOnIfAPartitionWasLostMeanwhile() {
        // as the consumer itself says it
        MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest");
        IllegalStateException late = catchThrowableOfType(
                IllegalStateException.class, () -> consumer.pause(Set.of(new TopicPartition("lane", 2))));

        assertThat(Failures.mayPass(new StreamsException(late)))
                .as(late.getMessage())
                .isTrue();
    }

    @Test
    void shouldGoOnIfAllPartitionsWereLostMeanwhile() {
        // as the consumer says it when it is polled; the mock does not
        IllegalStateException late =
                new IllegalStateException("Consumer is not subscribed to any topics or assigned any partitions");

        assertThat(Failures.mayPass(new StreamsException(late))).isTrue();
    }

    @Test
    void shouldGoOnIfTheTransactionIsInAStateThatOnlyANewProducerLeaves() {
        assertThat(Failures.mayPass(new StreamsException(new InvalidTxnStateException("at a commit"))))
                .isTrue();
    }

    @Test
    void shouldStopAtWhatNeedsAPerson() {
        assertThat(Failures.mayPass(new StreamsException(new IllegalStateException("a store is closed"))))
                .isFalse();
        assertThat(Failures.mayPass(new IllegalStateException())).isFalse();
    }
}
