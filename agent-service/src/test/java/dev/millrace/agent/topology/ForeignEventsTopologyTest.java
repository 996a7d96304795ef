package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.event;
import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.DiscardReason;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Extensions;
import dev.millrace.schemas.KnownEventType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.TestOutputTopic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events of systems that know nothing of Millrace: their ids, sources and subjects are their own. */
class ForeignEventsTopologyTest {

    private static final EventType PLACED = EventType.of("order.placed");

    @TempDir
    private Path folder;

    private TestMachine machine;

    @SuppressWarnings("NullAway.Init") // JUnit calls open before anything else
    ForeignEventsTopologyTest() {}

    @BeforeEach
    void open() {
        machine = new TestMachine(folder, new AdmissionSettings(5, AdmissionSettings.Policy.QUEUE));
    }

    @AfterEach
    void close() {
        machine.close();
    }

    @Test
    @DisplayName("F-189: events are told apart by source and id, and each is taken once")
    void shouldTellEventsApartBySourceAndId() {
        // when
        for (int i = 0; i < 2; i++) {
            machine.send(placed("/orders/a"));
            machine.send(placed("/orders/b"));
            machine.send(placed("/orders/c"));
        }

        // then: ids in the journal stay unique, and the sent one is not lost
        List<Event> journal = machine.journal();
        assertThat(journal).extracting(Event::source).containsExactly("/orders/a", "/orders/b", "/orders/c");
        assertThat(journal).extracting(Event::id).doesNotHaveDuplicates().contains("partition:0/offset:7");
        assertThat(journal)
                .extracting(event -> String.valueOf(event.extension(Extensions.ORIGINAL_ID)))
                .containsExactly("null", "partition:0/offset:7", "partition:0/offset:7");
        assertThat(machine.discards())
                .containsExactly(DiscardReason.DUPLICATE, DiscardReason.DUPLICATE, DiscardReason.DUPLICATE);
    }

    @Test
    void shouldRefuseAMessageWithTheIdOfSomethingElse() {
        // when
        machine.send(placed("/orders/a"));
        machine.send(message("partition:0/offset:7").sessionId("s"));

        // then
        assertThat(machine.deadLetters()).containsExactly("duplicate_id");
        assertThat(machine.called()).isEmpty();
    }

    @Test
    @DisplayName("the subject of an event from elsewhere is data, if it is no task")
    void shouldTakeAForeignSubjectAsData() {
        // when
        machine.send(placed("/orders/a").taskId("orders/7"));
        machine.send(event("w1", KnownEventType.WEBHOOK_TRIGGERED)
                .taskId("orders/7")
                .payload(Map.of("text", "an order has come")));
        machine.send(message("m1").taskId("orders/7"));

        // then: an answer to a task that is not there starts nothing
        List<Event> journal = machine.journal();
        assertThat(journal.getFirst().taskId()).isNull();
        assertThat(journal.getFirst().extension(Extensions.SUBJECT)).isEqualTo("orders/7");
        assertThat(machine.called()).containsExactly("w1");
        assertThat(machine.deadLetters()).containsExactly("unknown_task");
    }

    @Test
    @DisplayName("F-264, F-266: a document to ingest is noted once and handed on once; what is too late is only noted")
    void shouldHandOnWhatIsForKnowledge() {
        // given
        TestOutputTopic<byte[], byte[]> handedOn = machine.output(TestMachine.TOPICS.knowledgeRequests());
        Map<String, Object> document = Map.of("source", "text://The wheel turns.");

        // when
        for (int i = 0; i < 2; i++) {
            machine.send(event("d1", KnownEventType.RAG_INGEST).payload(document));
        }
        machine.send(
                event("d2", KnownEventType.RAG_INGEST).payload(document).expiry(Instant.parse("2020-01-01T00:00:00Z")));
        machine.send(placed("/orders/a"));

        // then
        assertThat(machine.journal())
                .extracting(Event::id)
                .startsWith("d1", "d2")
                .hasSize(3);
        assertThat(handedOn.readRecordsToList())
                .extracting(handed -> new String(handed.value(), StandardCharsets.UTF_8))
                .containsExactly("{\"source\":\"text://The wheel turns.\"}");
    }

    private static Event.Builder placed(String source) {
        return event("partition:0/offset:7", PLACED)
                .source(source)
                .sessionId("s")
                .payload(Map.of("order", 7));
    }
}
