package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.util.Set;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.processor.TaskId;
import org.junit.jupiter.api.Test;

class FailuresTest {

    @Test
    void shouldGoOnAfterWhatPasses() {
        assertThat(Failures.mayPass(new StreamsException(new TimeoutException("60 s"))))
                .isTrue();
    }

    @Test
    void shouldGoOnAfterABrokerStumbledOverACommit() {
        // as the producer's handler of such answers says it (4.2.1)
        KafkaException end =
                new KafkaException("Unhandled error in EndTxnResponse: " + Errors.UNKNOWN_SERVER_ERROR.message());

        assertThat(Failures.mayPass(new StreamsException("Error encountered trying to commit a transaction", end)))
                .isTrue();
    }

    @Test
    void shouldNotSendARecordForEverOverWhichABrokerStumbles() {
        assertThat(Failures.mayPass(new StreamsException(
                        "Error encountered trying to send record to topic requests.tool",
                        new UnknownServerException("unexpected"))))
                .isFalse();
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
    void shouldGoOnIfRecordsCameForATaskThatWasLostMeanwhile() {
        // as Streams says it, when a process that was stopped goes on
        NullPointerException late = new NullPointerException("Task was unexpectedly missing for partition lane-0");

        assertThat(Failures.mayPass(new StreamsException(late))).isTrue();
        assertThat(Failures.mayPass(new StreamsException(new NullPointerException())))
                .isFalse();
    }

    @Test
    void shouldTellAFullDisk() {
        IOException full = new IOException("While appending to file: …/000042.sst: No space left on device");

        assertThat(Failures.isFullDisk(new ProcessorStateException("Error while executing flush", full)))
                .isTrue();
        assertThat(Failures.isFullDisk(new ProcessorStateException("Error opening store")))
                .isFalse();
    }

    @Test
    void shouldGoOnIfTheTransactionIsInAStateThatOnlyANewProducerLeaves() {
        assertThat(Failures.mayPass(new StreamsException(new InvalidTxnStateException("at a commit"))))
                .isTrue();
    }

    @Test
    void shouldTellTheTaskWhoseLocalStateFailed() {
        StreamsException opening = new ProcessorStateException("Error opening store timers at location …/0_2");
        opening.setTaskId(new TaskId(0, 2));
        Throwable failure = new StreamsException(opening);

        assertThat(Failures.mayPass(failure)).isFalse();
        assertThat(Failures.isLocalState(failure)).isTrue();
        assertThat(Failures.task(failure)).contains(new TaskId(0, 2));
        assertThat(Failures.isLocalState(new StreamsException("of a task", new TaskId(0, 2))))
                .isFalse();
    }

    @Test
    void shouldTellAGroupOfAnotherVersion() {
        Throwable other = new InvalidRequestException("Topology updates are not supported yet.");

        assertThat(Failures.isOtherTopology(new StreamsException(other))).isTrue();
        assertThat(Failures.mayPass(new StreamsException(other))).isFalse();
        assertThat(Failures.isOtherTopology(new StreamsException(new InvalidRequestException("Something else."))))
                .isFalse();
    }

    @Test
    void shouldStopAtWhatNeedsAPerson() {
        assertThat(Failures.mayPass(new StreamsException(new IllegalStateException("a store is closed"))))
                .isFalse();
        assertThat(Failures.mayPass(new IllegalStateException())).isFalse();
    }
}
