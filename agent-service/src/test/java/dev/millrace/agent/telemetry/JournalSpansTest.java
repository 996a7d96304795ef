package dev.millrace.agent.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.TraceContext;
import dev.millrace.telemetry.FinishedSpan;
import dev.millrace.telemetry.TelemetryKeys;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JournalSpansTest {

    private static final String HEADER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final List<FinishedSpan> spans = new ArrayList<>();
    private final JournalSpans journal = new JournalSpans(false, spans::add);

    private static List<Event> flow(@Nullable String traceparent) {
        Event message = Event.root("m1", KnownEventType.MESSAGE_RECEIVED, START)
                .taskId("m1")
                .traceparent(traceparent)
                .payload(Map.of("text", "hello"))
                .build();
        Event created = message.derive(KnownEventType.TASK_CREATED, 0, START.plusMillis(10))
                .payload(new Payload.TaskCreated("hello", "user", JsonObject.empty(), "general", null))
                .build();
        Event requested = created.derive(KnownEventType.TOOL_CALL_REQUESTED, 0, START.plusMillis(100))
                .payload(
                        Map.of("callId", "m1/1/0", "toolCallId", "call_1", "toolName", "read_file", "params", Map.of()))
                .build();
        Event completed = TraceContext.underItsCall(requested)
                .derive(KnownEventType.TOOL_CALL_COMPLETED, 0, START.plusMillis(200))
                .payload(Map.of("callId", "m1/1/0", "toolName", "read_file", "result", "secret", "durationMs", 40))
                .build();
        Event ended = completed
                .derive(KnownEventType.TASK_COMPLETED, 0, START.plusMillis(300))
                .payload(new Payload.TaskCompleted(
                        new Payload.Result("m1", "hello", "hi", 1),
                        new Payload.Usage(7, 3, null, null, null, null, null)))
                .build();
        return List.of(message, created, requested, completed, ended);
    }

    @Test
    void shouldTellTheWorkOfATaskInTheTraceOfItsSender() {
        // when
        flow(HEADER).forEach(event -> journal.take(event, false));

        // then
        assertThat(spans)
                .extracting(FinishedSpan::name)
                .containsExactly("execute_tool read_file", "invoke_agent general");
        FinishedSpan tool = spans.get(0);
        FinishedSpan agent = spans.get(1);
        assertThat(spans)
                .allSatisfy(span -> assertThat(span.place().traceId()).isEqualTo("0af7651916cd43dd8448eb211c80319c"));
        assertThat(agent.parentSpanId()).isEqualTo("b7ad6b7169203331");
        assertThat(agent.start()).isEqualTo(START);
        assertThat(agent.end()).isEqualTo(START.plusMillis(300));
        assertThat(agent.attributes()).containsEntry(TelemetryKeys.INPUT_TOKENS, 7L);
        assertThat(tool.parentSpanId()).isEqualTo(agent.place().spanId());
        assertThat(tool.start()).isEqualTo(START.plusMillis(160));
        assertThat(tool.attributes())
                .containsEntry(TelemetryKeys.TOOL_CALL_ID, "call_1")
                .doesNotContainKey(TelemetryKeys.TOOL_RESULT);
    }

    @Test
    void shouldTellTheSameSpansAgainAndNothingThatIsKnown() {
        // given: somebody who only reads on, after another has told the beginning
        List<Event> flow = flow(null);
        flow.forEach(event -> journal.take(event, false));
        List<FinishedSpan> first = List.copyOf(spans);
        spans.clear();
        JournalSpans other = new JournalSpans(false, spans::add);

        // when
        for (int i = 0; i < flow.size(); i++) {
            other.take(flow.get(i), i < 4);
        }

        // then
        assertThat(spans).containsExactly(first.get(1));
        assertThat(first.get(1).parentSpanId()).isNull();
    }

    @Test
    void shouldPutTheRequestOfAToolCallUnderItsSpan() {
        // when
        Event request = TraceContext.underItsCall(flow(HEADER).get(2));
        flow(HEADER).forEach(event -> journal.take(event, false));

        // then
        assertThat(request.traceparent())
                .isEqualTo(spans.get(0).place().header())
                .startsWith("00-0af7651916cd43dd8448eb211c80319c-")
                .endsWith("-01");
    }
}
