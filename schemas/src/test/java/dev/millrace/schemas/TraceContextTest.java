package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

class TraceContextTest {

    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String SPAN = "00f067aa0ba902b7";
    private static final String NAMED = "00-" + TRACE + '-' + SPAN + "-01";

    @ParameterizedTest
    @ValueSource(strings = {NAMED, "00-" + TRACE + '-' + SPAN + "-00"})
    void shouldReadAndWriteATraceparent(String traceparent) {
        TraceContext context = Objects.requireNonNull(TraceContext.parse(traceparent));

        assertThat(context).isEqualTo(new TraceContext(TRACE, SPAN, traceparent.endsWith("1")));
        assertThat(context.header()).isEqualTo(traceparent);
    }

    @Test
    void shouldReadVersionsThatAreToCome() {
        assertThat(TraceContext.parse("01-" + TRACE + '-' + SPAN + "-03-more"))
                .isEqualTo(new TraceContext(TRACE, SPAN, true));
    }

    @ParameterizedTest
    @NullAndEmptySource
    @ValueSource(
            strings = {
                "ff-" + TRACE + '-' + SPAN + "-01",
                "00-00000000000000000000000000000000-" + SPAN + "-01",
                "00-" + TRACE + "-0000000000000000-01",
                "00-" + TRACE + '-' + SPAN,
                "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + SPAN + "-01"
            })
    void shouldReadNothingElse(@Nullable String traceparent) {
        assertThat(TraceContext.parse(traceparent)).isNull();
    }

    @Test
    void shouldStayInTheTraceThatItsEventsName() {
        TraceContext task = TraceContext.ofTask("acme", "t1", "c1", NAMED);

        assertThat(task.traceId()).isEqualTo(TRACE);
        assertThat(task.spanId()).matches("[0-9a-f]{16}").isNotEqualTo(SPAN);
        assertThat(task.sampled()).isTrue();
        assertThat(TraceContext.ofTask("acme", "t1", "c1", NAMED.replace("-01", "-00"))
                        .sampled())
                .isFalse();
        assertThat(task).isEqualTo(TraceContext.ofTask("acme", "t1", "c1", NAMED));
        assertThat(task.spanId())
                .isNotEqualTo(TraceContext.ofTask("acme", "t2", "c1", NAMED).spanId());
    }

    @Test
    void shouldMakeOneTraceOfAllThatCameOfOneEvent() {
        TraceContext one = TraceContext.ofTask("acme", "t1", "c1", null);

        assertThat(one.traceId())
                .matches("[0-9a-f]{32}")
                .isEqualTo(TraceContext.ofTask("acme", "t2", "c1", null).traceId())
                .isNotEqualTo(TraceContext.ofTask("acme", "t1", "c2", null).traceId());
        assertThat(one.sampled()).isTrue();
    }

    @Test
    void shouldPutARequestUnderItsCall() {
        Event request = Event.root("r1", KnownEventType.TOOL_CALL_REQUESTED, Instant.EPOCH)
                .namespace("acme")
                .taskId("t1")
                .traceparent(NAMED)
                .payload(new Payload.ToolCallRequested(
                        "t1/1/0", "call_1", "search", JsonObject.empty(), null, null, null))
                .build();
        TraceContext call = TraceContext.ofTask("acme", "t1", request.correlationId(), NAMED)
                .ofCall("acme", "t1/1/0");

        assertThat(TraceContext.underItsCall(request).traceparent())
                .isEqualTo(call.header())
                .startsWith("00-" + TRACE);
        assertThat(call.spanId()).isNotEqualTo(call.ofCall("acme", "t1/1/1").spanId());
        Event nobodys = request.toBuilder().payload(Map.of()).build();
        assertThat(TraceContext.underItsCall(nobodys)).isSameAs(nobodys);
        Event ofNoTask = request.toBuilder().taskId(null).build();
        assertThat(TraceContext.underItsCall(ofNoTask)).isSameAs(ofNoTask);
    }
}
