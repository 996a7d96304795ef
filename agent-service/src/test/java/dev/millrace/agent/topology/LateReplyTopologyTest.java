package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replies that nobody waits for any more were paid for all the same. */
class LateReplyTopologyTest {

    @TempDir
    Path stateDir;

    @Test
    @DisplayName("what a reply used that came after the cancel is in the journal, and the reply is not")
    void shouldRecordWhatALateReplyUsed() {
        try (TestMachine machine =
                new TestMachine(stateDir, new AdmissionSettings(5, AdmissionSettings.Policy.QUEUE), 1)) {
            // given
            machine.send(TestMachine.message("m1"));
            machine.send(TestMachine.event("x1", KnownEventType.TASK_CANCEL_REQUESTED)
                    .taskId("m1"));
            machine.journal();

            // when
            machine.answer("m1");

            // then
            List<Event> journal = machine.journal();
            assertThat(journal).extracting(Event::type).containsExactly(KnownEventType.MODEL_CALL_ABANDONED);
            Event event = journal.getFirst();
            assertThat(EventSchemas.problems(event)).isEmpty();
            assertThat(event.taskId()).isEqualTo("m1");
            assertThat(event.fields())
                    .containsEntry("code", "task_ended")
                    .containsEntry("repliedAt", TestMachine.START.toEpochMilli())
                    .containsEntry("model", "test")
                    .containsEntry("usage", Map.of("inputTokens", 3, "outputTokens", 2));
            assertThat(machine.deadLetters()).isEmpty();
        }
    }

    @Test
    @DisplayName("the second reply of a call that was made twice is counted, too")
    void shouldRecordWhatTheSecondReplyUsed() {
        try (TestMachine machine =
                new TestMachine(stateDir, new AdmissionSettings(5, AdmissionSettings.Policy.QUEUE), 1)) {
            // given
            machine.send(TestMachine.message("m1"));
            machine.answer("m1");
            List<Event> first = machine.journal();

            // when
            machine.answer("m1");

            // then
            assertThat(first).extracting(Event::type).contains(KnownEventType.REASON_DONE);
            assertThat(machine.journal()).extracting(Event::type).containsExactly(KnownEventType.MODEL_CALL_ABANDONED);
        }
    }

    @Test
    void shouldRecordWhatACallHadUsedThatWasCutOff() {
        try (TestMachine machine =
                new TestMachine(stateDir, new AdmissionSettings(5, AdmissionSettings.Policy.QUEUE), 1)) {
            // given
            machine.send(TestMachine.message("m1"));
            machine.journal();

            // when
            machine.send(TestMachine.event("a1", KnownEventType.MODEL_CALL_ABANDONED)
                    .taskId("m1")
                    .payload(Map.of("callId", "m1/1/0-x", "code", "cancelled")));

            // then
            assertThat(machine.journal()).extracting(Event::id).containsExactly("a1");
        }
    }
}
