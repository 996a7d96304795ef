package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventTest {
    private static final Instant NOW = Instant.ofEpochMilli(1_800_000_000_000L);

    @Test
    @DisplayName("F-013: the event's own priority wins over the code of its type")
    void shouldPreferOwnPriority() {
        Event plain = message().build();
        Event urgent = plain.toBuilder().priority(107).build();

        assertThat(plain.effectivePriority()).isEqualTo(100);
        assertThat(urgent.effectivePriority()).isEqualTo(107);
        assertThat(plain.toBuilder().priority(450).build().lane()).isEqualTo(Segment.TOOL);
    }

    @ParameterizedTest
    @CsvSource({
        "MESSAGE_RECEIVED, 0, 100",
        "MESSAGE_RECEIVED, 99, 100",
        "MESSAGE_RECEIVED, 100, 100",
        "MESSAGE_RECEIVED, 101, 101",
        "TOOL_CALL_COMPLETED, 0, 100",
        "TASK_CANCEL_REQUESTED, 0, 0",
        "TASK_CANCEL_REQUESTED, 99, 99",
        "TASK_CANCEL_REQUESTED, 500, 500"
    })
    @DisplayName("priority 0 to 99 is for the system's own types; on any other it counts as 100")
    void shouldLeaveTheSystemsPrioritiesToTheSystem(KnownEventType type, int priority, int effective) {
        // given
        Event event = Event.root("e", type, Instant.EPOCH).priority(priority).build();

        // then
        assertThat(event.effectivePriority()).isEqualTo(effective);
        assertThat(event.lane()).isEqualTo(Segment.ofCode(effective));
        assertThat(event.priority()).isEqualTo(priority);
    }

    @ParameterizedTest
    @CsvSource({
        "0, EXTERNAL",
        "99, EXTERNAL",
        "100, EXTERNAL",
        "299, TASK",
        "499, TOOL",
        "500, BACKGROUND",
        "10000, BACKGROUND"
    })
    @DisplayName("F-013, F-037: the lane follows the effective priority")
    void shouldGoToTheLaneOfItsPriority(int priority, Segment lane) {
        assertThat(message().priority(priority).build().lane()).isEqualTo(lane);
    }

    @Test
    @DisplayName("F-008: a priority is 0 or more")
    void shouldRefuseANegativePriority() {
        assertThatThrownBy(() -> message().priority(-1).build()).hasMessage("priority: expected 0 or more, found -1");
    }

    @Test
    @DisplayName("F-011: what an event says of itself if nobody says more")
    void shouldHaveDefaults() {
        Event event = message().build();

        assertThat(event.source()).isEmpty();
        assertThat(event.taskId()).isNull();
        assertThat(event.fields()).isEmpty();
        assertThat(event.priority()).isNull();
        assertThat(event.parentEventId()).isNull();
        assertThat(event.namespace()).isEqualTo("default");
        assertThat(event.correlationId()).isEqualTo("e1");
    }

    @Test
    @DisplayName("F-014, F-015: a derived event points to its parent and inherits who, not what")
    void shouldDeriveFromParent() {
        // given
        Event parent = message()
                .source("user")
                .taskId("t1")
                .sessionId("s1")
                .namespace("acme")
                .correlationId("e0")
                .priority(5)
                .causalDepth(3)
                .expiry(NOW)
                .traceparent("tp")
                .tracestate("ts")
                .payload(Map.of("text", "hello"))
                .build();

        // when
        Event child =
                parent.derive(KnownEventType.TASK_CREATED, 0, NOW.plusMillis(1)).build();

        // then
        assertThat(child)
                .isEqualTo(
                        Event.root("c374d4fce110636c71e67d944b4595dd", KnownEventType.TASK_CREATED, NOW.plusMillis(1))
                                .source("user")
                                .taskId("t1")
                                .sessionId("s1")
                                .namespace("acme")
                                .correlationId("e0")
                                .parentEventId("e1")
                                .causalDepth(3)
                                .traceparent("tp")
                                .tracestate("ts")
                                .build());
        assertThat(child.sessionKey()).isEqualTo("acme/s1");
    }

    @Test
    @DisplayName("F-016: from any event one can walk back to the external input")
    void shouldKeepTheRootOfTheChain() {
        // given
        Event root = message().build();

        // when
        Event grandchild = root.derive(KnownEventType.TASK_CREATED, 0, NOW)
                .build()
                .derive(KnownEventType.MODEL_CALL_REQUESTED, 0, NOW)
                .build();

        // then
        assertThat(grandchild.parentEventId()).isEqualTo(Ids.derived("e1", KnownEventType.TASK_CREATED, 0));
        assertThat(grandchild.correlationId()).isEqualTo("e1");
    }

    @ParameterizedTest
    @CsvSource({
        "default, s1, t1, s1",
        "default, '', t1, t1",
        "default, '', '', e1",
        "acme, s1, t1, acme/s1",
        "acme, '', '', acme/e1",
        "default, acme/s1, t1, default/acme/s1",
        "acme, a/b, t1, acme/a/b"
    })
    void shouldKeyByTheConversation(String namespace, String sessionId, String taskId, String key) {
        // given
        Event event = message()
                .namespace(namespace)
                .sessionId(sessionId.isEmpty() ? null : sessionId)
                .taskId(taskId.isEmpty() ? null : taskId)
                .build();

        // then
        assertThat(event.sessionKey()).isEqualTo(key);
    }

    @Test
    @DisplayName("F-010, F-011: nothing reachable from an event can change")
    void shouldFreezeThePayload() {
        // given
        Map<String, @Nullable Object> inner = new HashMap<>(Map.of("a", 1));
        List<@Nullable Object> list = new ArrayList<>(List.of(inner));
        Event event = message().payload(Map.of("inner", inner, "list", list)).build();

        // when
        inner.put("a", 2);
        list.add("more");

        // then
        assertThat(event.fields()).isEqualTo(Map.of("inner", Map.of("a", 1), "list", List.of(Map.of("a", 1))));
        assertThatThrownBy(() -> event.fields().put("b", 1)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> event.fields().clear()).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> event.fields().entrySet().iterator().next().setValue(1))
                .isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void shouldNotCopyAFrozenPayloadAgain() {
        // given
        Event event = message().payload(Map.of("inner", Map.of("a", 1))).build();

        // when
        Event other = event.toBuilder().taskId("t2").build();
        Event wrapping =
                event.toBuilder().payload(Map.of("wrapped", event.fields())).build();

        // then
        assertThat(other.fields()).isSameAs(event.fields());
        assertThat(wrapping.fields().get("wrapped")).isSameAs(event.fields());
    }

    @Test
    void shouldGiveNumbersTheKindThatTheyHaveInJsonText() throws MalformedEventException {
        // given
        Map<String, @Nullable Object> payload = new HashMap<>();
        payload.put("int", 1L);
        payload.put("byte", (byte) 2);
        payload.put("long", 1L << 40);
        payload.put("small", BigInteger.TWO);
        payload.put("big", BigInteger.ONE.shiftLeft(100));
        payload.put("real", 0.1);
        payload.put("float", 0.1f);
        payload.put("whole", 2.0);
        payload.put("decimal", new BigDecimal("1.50"));
        payload.put("none", null);

        // when
        Event event = message().payload(payload).build();

        // then
        assertThat(event.fields())
                .containsEntry("int", 1)
                .containsEntry("byte", 2)
                .containsEntry("long", 1L << 40)
                .containsEntry("small", 2)
                .containsEntry("float", new BigDecimal("0.1"))
                .containsEntry("none", null);
        assertThat(Json.readObject(Json.write(event.fields()))).isEqualTo(event.fields());
    }

    @Test
    void shouldRefuseWhatIsNoJson() {
        assertRefused(
                new AtomicInteger(1), "expected a JSON number, found a java.util.concurrent.atomic.AtomicInteger");
        assertRefused(Double.NaN, "expected a JSON number, found NaN");
        assertRefused(Instant.EPOCH, "expected JSON values, found a java.time.Instant");
        assertRefused(Map.of(1, 2), "expected texts as field names, found 1");
        assertRefused(Arrays.asList(1, new Object()), "expected JSON values, found a java.lang.Object");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e309", "-1e309", "1e999999999", "1e-999999999", "0e999999999"})
    void shouldRefuseNumbersThatOnlyLookSmall(String number) {
        assertRefused(new BigDecimal(number), "expected numbers in the range of a 64-bit floating point number");
    }

    @Test
    void shouldRefuseAnOverlongWholeNumber() {
        assertRefused(BigInteger.ONE.shiftLeft(1024), "in the range of a 64-bit floating point number");
    }

    @Test
    void shouldTakeTheWholeRangeOfADouble() {
        // when
        Event event = message()
                .payload(Map.of("max", Double.MAX_VALUE, "min", Double.MIN_VALUE, "zero", new BigDecimal("0.000")))
                .build();

        // then
        assertThat(event.fields()).containsEntry("max", new BigDecimal(Double.toString(Double.MAX_VALUE)));
    }

    @Test
    void shouldRefuseIdsThatWouldBreakHeadersOrKeys() {
        assertThatThrownBy(
                        () -> Event.root("a\nb", KnownEventType.HEARTBEAT, NOW).build())
                .hasMessageStartingWith("id: expected no control characters");
        assertThatThrownBy(() -> message().taskId("a\0").build()).hasMessageStartingWith("taskId: ");
        assertThatThrownBy(() -> message().sessionId("x".repeat(201)).build()).hasMessageStartingWith("sessionId: ");
        assertThatThrownBy(() -> message().correlationId(" ").build()).hasMessageStartingWith("correlationId: ");
        assertThatThrownBy(() -> message().parentEventId("").build()).hasMessageStartingWith("parentEventId: ");
        assertThatThrownBy(() -> message().namespace("a/b").build())
                .hasMessage("namespace: expected no '/', found a/b");
        assertThatThrownBy(() -> message().namespace("a\tb").build())
                .hasMessageStartingWith("namespace: expected no control");
        assertThatThrownBy(() -> message().source("a\rb").build())
                .hasMessageStartingWith("source: expected no control");
        assertThatThrownBy(() -> message().source("x".repeat(2049)).build())
                .hasMessageStartingWith("source: expected at most");
    }

    @Test
    @DisplayName("F-004: times are whole milliseconds that Kafka and RFC 3339 can both say")
    void shouldCutTimesToMilliseconds() {
        // when
        Event event = Event.root("e1", KnownEventType.HEARTBEAT, Instant.parse("2026-01-01T00:00:00.123456789Z"))
                .expiry(Instant.parse("9999-12-31T23:59:59.999999999Z"))
                .build();

        // then
        assertThat(event.timestamp()).isEqualTo("2026-01-01T00:00:00.123Z");
        assertThat(event.expiry()).isEqualTo("9999-12-31T23:59:59.999Z");
        assertThatThrownBy(() -> Event.root("e1", KnownEventType.HEARTBEAT, Instant.EPOCH.minusMillis(1))
                        .build())
                .hasMessageContaining("timestamp: expected a time from 1970");
        assertThatThrownBy(() -> message().expiry(Instant.MAX).build()).hasMessageContaining("expiry: expected a time");
    }

    @Test
    void shouldGiveATextFieldOnlyIfItIsText() {
        // given
        Event event = message().payload(Map.of("text", "hello", "number", 7)).build();

        // then
        assertThat(event.text("text")).isEqualTo("hello");
        assertThat(event.text("number")).isNull();
        assertThat(event.text("absent")).isNull();
    }

    private static void assertRefused(Object value, String reason) {
        assertThatThrownBy(() -> message().payload(Map.of("value", value)).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("payload: ")
                .hasMessageContaining(reason);
    }

    private static Event.Builder message() {
        return Event.root("e1", KnownEventType.MESSAGE_RECEIVED, NOW);
    }
}
