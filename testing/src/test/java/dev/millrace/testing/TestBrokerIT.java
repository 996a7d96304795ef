package dev.millrace.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@RequiresBroker
@Tag("slow")
class TestBrokerIT {

    private static final Duration SOON = Duration.ofSeconds(10);

    @Test
    void shouldCarryAnEventOnItsLane(TestBroker broker) {
        // given
        Topics topics = broker.createTopics();
        Event event = Event.root("e-1", KnownEventType.MESSAGE_RECEIVED, Instant.ofEpochMilli(1_000))
                .source("user")
                .payload(Map.of("text", "hello"))
                .build();

        // when
        broker.produce(topics, event);

        // then
        try (TopicReader reader = broker.read(topics.lane(event.lane()))) {
            assertThat(reader.event(found -> found.id().equals("e-1"), SOON)).isEqualTo(event);
        }
    }

    @Test
    void shouldCarryARawRecordAsItIs(TestBroker broker) {
        // given
        Topics topics = broker.createTopics(1);

        // when
        broker.produceRaw(topics.journal(), null, Map.of("ce_type", "x"), new byte[] {1, 2});

        // then
        try (TopicReader reader = broker.read(topics.journal())) {
            ConsumerRecord<String, byte[]> record = reader.untilCount(1, SOON).getFirst();
            assertThat(record.key()).isNull();
            assertThat(record.value()).containsExactly(1, 2);
            assertThat(record.headers().lastHeader("ce_type").value()).isEqualTo("x".getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void shouldGiveEveryTestItsOwnTopics(TestBroker broker) {
        // given
        Topics mine = broker.createTopics();

        // when
        Topics yours = broker.createTopics();

        // then
        assertThat(yours.prefix()).isNotEqualTo(mine.prefix());
    }

    @Test
    void shouldShowWhatWasReadWhenTheAwaitedDoesNotCome(TestBroker broker) {
        // given
        Topics topics = broker.createTopics();
        broker.produceRaw(topics.journal(), "k", Map.of(), "garbage".getBytes(StandardCharsets.UTF_8));
        try (TopicReader reader = broker.read(topics.journal())) {
            List<?> read = reader.untilCount(1, SOON);

            // when
            AssertionError error =
                    catchThrowableOfType(AssertionError.class, () -> reader.untilCount(2, Duration.ofMillis(300)));

            // then
            assertThat(read).hasSize(1);
            assertThat(error).hasMessageContaining("key=k (no event, 7 bytes)");
        }
    }
}
