package dev.millrace.gateway.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.kafka.FactListener.Heard;
import dev.millrace.gateway.kafka.FactListener.Signal;
import dev.millrace.gateway.kafka.FactListener.Sources;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.StreamType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FactListenerTest {
    private static final Duration AT_ONCE = Duration.ofMillis(1);

    private final Tail facts = new Tail("facts");
    private final Tail pieces = new Tail("pieces");

    /** What is told of one partition to one listener. */
    private static final class Tail {
        private final String topic;
        private final PartitionTail tail = new PartitionTail(0, 0, 1 << 20, System.nanoTime());
        private final Mailbox mailbox = new Mailbox(1 << 20, 1 << 20, new MailboxBudget(1 << 20), () -> {});
        private final Feed feed = new Feed(0, 0, labels -> true, mailbox);
        private final JournalListener listener = new JournalListener(mailbox, Map.of(0, feed), () -> {});

        Tail(String topic) {
            this.topic = topic;
        }

        void tell(EventType type, Map<String, @Nullable Object> payload) {
            Event event = Event.root(topic + tail.position(), type, Instant.EPOCH)
                    .taskId("t")
                    .payload(payload)
                    .build();
            ProducerRecord<String, byte[]> record = EventCodec.toRecord(topic, event);
            tail.tell(new ConsumerRecord<>(
                    topic,
                    0,
                    tail.position(),
                    0,
                    TimestampType.CREATE_TIME,
                    0,
                    record.value().length,
                    record.key().getBytes(StandardCharsets.UTF_8),
                    record.value(),
                    record.headers(),
                    Optional.empty()));
        }

        void attach() {
            assertThat(tail.add(feed)).isFalse();
        }
    }

    @Test
    void shouldTellLiveTextBeforeItsFactHoweverLateItsTailIsAndSoonItIsKnownWhereItEnds() throws Exception {
        // given
        facts.attach();
        facts.tell(KnownEventType.REASON_DONE, Map.of("callId", "c"));
        say();

        // when: the tail gives what there is at the very moment in which its end is asked for
        List<String> heard = hear(new Sources(facts.listener, pieces.listener, partition -> {
            pieces.attach();
            return CompletableFuture.completedFuture(3L);
        }));

        // then
        assertThat(heard).containsExactly("stream.start", "stream.text", "stream.completed", "REASON_DONE");
    }

    @Test
    void shouldTellAFactWithoutItsLiveTextIfNobodySaysWhereItEnds() throws Exception {
        // given
        facts.attach();
        facts.tell(KnownEventType.REASON_DONE, Map.of("callId", "c"));

        // when
        List<String> heard = hear(new Sources(
                facts.listener,
                pieces.listener,
                partition -> CompletableFuture.failedFuture(new KafkaException("no broker"))));

        // then
        assertThat(heard).containsExactly("REASON_DONE");
    }

    private void say() {
        pieces.tell(StreamType.START, Map.of("callId", "c", "attempt", 1, "seq", 0, "agentName", "general"));
        pieces.tell(StreamType.TEXT, Map.of("callId", "c", "attempt", 1, "seq", 1, "delta", "word"));
        pieces.tell(StreamType.COMPLETED, Map.of("callId", "c", "attempt", 1, "seq", 2));
    }

    private static List<String> hear(Sources sources) throws Exception {
        List<String> heard = new ArrayList<>();
        try (FactListener listener = new FactListener(sources, new Signal(), Places.of(0, 0, 0), Set.of())) {
            for (Heard next = listener.next(AT_ONCE); next != null; next = listener.next(AT_ONCE)) {
                heard.add(next.event().type().wireName());
            }
        }
        return heard;
    }
}
