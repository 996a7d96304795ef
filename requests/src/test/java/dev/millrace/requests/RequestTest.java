package dev.millrace.requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RequestTest {

    @Test
    void shouldReadARequest() throws MalformedEventException {
        // given
        Event event = Requests.request("c", "echo", Map.of("a", 1)).build();
        // when
        Request request = Request.of(event, 3);
        // then
        assertThat(request.callId()).isEqualTo("c");
        assertThat(request.toolName()).isEqualTo("echo");
        assertThat(request.params()).isEqualTo(Map.of("a", 1));
        assertThat(request.deliveryCount()).isEqualTo(3);
        assertThat(request.timeoutMs()).isEqualTo(30_000L);
    }

    @Test
    void shouldDoWithoutArgumentsAndTimeOut() throws MalformedEventException {
        // given
        Event event = event(Map.of("callId", "c", "toolName", "echo", "timeoutMs", -1));
        // when
        Request request = Request.of(event, 1);
        // then
        assertThat(request.params()).isEmpty();
        assertThat(request.timeoutMs()).isNull();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("malformed")
    void shouldRefuseWhatIsNoRequest(String name, Event event, String code) {
        assertThatThrownBy(() -> Request.of(event, 1))
                .isInstanceOfSatisfying(
                        MalformedEventException.class, e -> assertThat(e.code()).isEqualTo(code));
    }

    private static Stream<Arguments> malformed() {
        return Stream.of(
                Arguments.of(
                        "another type",
                        Event.root("e", KnownEventType.MESSAGE_RECEIVED, Instant.now())
                                .build(),
                        "unexpected_type"),
                Arguments.of("no call id", event(Map.of("toolName", "echo")), "bad_field"),
                Arguments.of("blank call id", event(Map.of("callId", " ", "toolName", "echo")), "bad_field"),
                Arguments.of("long call id", event(Map.of("callId", "x".repeat(301), "toolName", "echo")), "bad_field"),
                Arguments.of("no tool", event(Map.of("callId", "c")), "bad_field"),
                Arguments.of("a number for a tool", event(Map.of("callId", "c", "toolName", 1)), "bad_field"),
                Arguments.of(
                        "a list for arguments",
                        event(Map.of("callId", "c", "toolName", "echo", "params", java.util.List.of())),
                        "bad_field"));
    }

    private static Event event(Map<String, @Nullable Object> payload) {
        return Event.root("e", KnownEventType.TOOL_CALL_REQUESTED, Instant.now())
                .payload(payload)
                .build();
    }
}
