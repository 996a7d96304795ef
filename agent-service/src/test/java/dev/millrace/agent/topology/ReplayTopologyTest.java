package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.event;
import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.engine.StoreSection;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayTopologyTest {
    /** Who writes what the machine itself has made true. */
    private static final Set<String> MACHINE = Set.of("agent", "cognitive.act");

    @Test
    @DisplayName("F-173: the log, replayed, gives the same conversations, word for word, and asks for the same calls")
    void shouldGiveTheSameConversation(@TempDir Path first, @TempDir Path second) {
        // given: tool calls, a failed one, a question with its answer, a sub-task, and a second round
        List<Event> log = new ArrayList<>();
        Map<String, TranscriptEntry> said;
        List<String> called;
        try (TestMachine machine = machine(first)) {
            machine.send(message("m1").sessionId("s1"));
            machine.callTool("m1", "write");
            log.addAll(machine.journal());
            result(machine, log, KnownEventType.TOOL_CALL_COMPLETED, Map.of("result", Map.of("lines", 3)));
            machine.callTool("m1", "nothing_of_that_name");
            machine.ask("m1", "Which one?");
            machine.send(message("a1").sessionId("s1").payload(Map.of("text", "the second")));
            machine.callTool("m1", "write");
            log.addAll(machine.journal());
            result(
                    machine,
                    log,
                    KnownEventType.TOOL_CALL_FAILED,
                    Map.of("error", "the disk is full", "code", "execution_error"));
            machine.answer("m1");
            machine.driver.advanceWallClockTime(Duration.ofMinutes(1));
            machine.send(event("r1", KnownEventType.TASK_RESUMED)
                    .taskId("m1")
                    .sessionId("s1")
                    .payload(Map.of("newInput", "and now?")));
            machine.answer("m1");
            machine.send(message("m2").sessionId("s1"));
            machine.answer("m2");
            log.addAll(machine.journal());
            said = rows(machine, TaskStores.TRANSCRIPTS);
            called = machine.called();
        }

        // when
        Map<String, TranscriptEntry> replayed;
        List<String> calledAgain;
        try (TestMachine again = machine(second)) {
            log.stream().filter(event -> !MACHINE.contains(event.source())).forEach(again::send);
            replayed = rows(again, TaskStores.TRANSCRIPTS);
            calledAgain = again.called();
        }

        // then
        assertThat(said).hasSizeGreaterThan(10);
        assertThat(replayed).isEqualTo(said);
        assertThat(calledAgain).isEqualTo(called);
    }

    private static TestMachine machine(Path stateDir) {
        TestMachine machine = new TestMachine(stateDir, new AdmissionSettings(10, AdmissionSettings.Policy.QUEUE));
        machine.serve("write");
        return machine;
    }

    /** Answers the last tool call that the log has. */
    private static void result(TestMachine machine, List<Event> log, KnownEventType type, Map<String, Object> outcome) {
        Event request = log.stream()
                .filter(event -> event.type() == KnownEventType.TOOL_CALL_REQUESTED)
                .reduce((one, other) -> other)
                .orElseThrow();
        Map<String, Object> payload = new TreeMap<>(outcome);
        payload.put("callId", String.valueOf(request.text("callId")));
        payload.put("toolName", "write");
        machine.send(request.derive(type, 0, TestMachine.START)
                .source("tools.executor")
                .payload(payload)
                .build());
    }

    private static <V> Map<String, V> rows(TestMachine machine, StoreSection<V> section) {
        Map<String, V> rows = new TreeMap<>();
        try (KeyValueIterator<String, V> all = machine.rows(section).all()) {
            all.forEachRemaining(row -> rows.put(row.key, row.value));
        }
        return rows;
    }
}
