package dev.millrace.requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.Extensions;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Segment;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ReplyEventsTest {

    private static final Instant NOW = Instant.ofEpochMilli(1_700_000_000_123L);

    @Test
    @DisplayName(
            "F-054, F-089: a reply belongs to the request's task and chain, and its cause is the request's own cause")
    void shouldInheritFromTheRequest() throws MalformedEventException {
        // given
        Event event = Requests.request("call-1", "echo", Map.of())
                .sessionId("session-1")
                .namespace("acme")
                .correlationId("root-1")
                .parentEventId("reason-1")
                .traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
                .tracestate("a=b")
                .extensions(Map.of(Extensions.REPLY_TOKEN, "t0ken", "clientid", "c-1"))
                .build();
        // when
        Event reply = ReplyEvents.toEvent(Request.of(event, 1), new Reply.Completed(List.of(1, 2), 7), NOW);
        // then
        assertThat(reply.type()).isEqualTo(KnownEventType.TOOL_CALL_COMPLETED);
        assertThat(reply.lane()).isEqualTo(Segment.TOOL);
        assertThat(reply.source()).isEqualTo("tools.executor");
        assertThat(reply.timestamp()).isEqualTo(NOW);
        assertThat(reply.taskId()).isEqualTo(event.taskId());
        assertThat(reply.sessionId()).isEqualTo("session-1");
        assertThat(reply.namespace()).isEqualTo("acme");
        assertThat(reply.sessionKey()).isEqualTo("acme/session-1");
        assertThat(reply.correlationId()).isEqualTo("root-1");
        assertThat(reply.parentEventId()).isEqualTo("reason-1");
        assertThat(reply.traceparent()).isEqualTo(event.traceparent());
        assertThat(reply.tracestate()).isEqualTo("a=b");
        assertThat(reply.extensions()).containsExactly(entry(Extensions.REPLY_TOKEN, "t0ken"));
        assertThat(reply.fields())
                .containsExactly(
                        entry("callId", "call-1"),
                        entry("toolName", "echo"),
                        entry("result", List.of(1, 2)),
                        entry("durationMs", 7));
    }

    @Test
    @DisplayName("F-089, F-090: a failure says what went wrong and why, as a TOOL_CALL_FAILED")
    void shouldTellOfAFailure() throws MalformedEventException {
        // given
        Request request =
                Request.of(Requests.request("call-1", "echo", Map.of()).build(), 1);
        // when
        Event reply = ReplyEvents.toEvent(request, new Reply.Failed("tool_timeout", "too slow", 9), NOW);
        // then
        assertThat(reply.type()).isEqualTo(KnownEventType.TOOL_CALL_FAILED);
        assertThat(reply.fields())
                .containsExactly(
                        entry("callId", "call-1"),
                        entry("toolName", "echo"),
                        entry("error", "too slow"),
                        entry("code", "tool_timeout"),
                        entry("durationMs", 9));
    }

    @Test
    void shouldGiveASecondExecutionTheSameId() throws MalformedEventException {
        // given
        Event event = Requests.request("call-1", "echo", Map.of()).build();
        Event other = Requests.request("call-2", "echo", Map.of()).build();
        // when
        String first = completed(event, 1, "one").id();
        String second = completed(event, 2, "two").id();
        String third = completed(other, 1, "one").id();
        // then
        assertThat(first).isEqualTo(second).hasSize(32);
        assertThat(third).isNotEqualTo(first);
    }

    @Test
    void shouldTakeTheRequestItselfForTheCauseWhenItHasNone() throws MalformedEventException {
        // given
        Event event =
                Requests.request("call-1", "echo", Map.of()).parentEventId(null).build();
        // when
        Event reply = completed(event, 1, "x");
        // then
        assertThat(reply.parentEventId()).isEqualTo(event.id());
    }

    private static Event completed(Event event, int delivery, String result) throws MalformedEventException {
        return ReplyEvents.toEvent(Request.of(event, delivery), new Reply.Completed(result, 1), NOW);
    }
}
