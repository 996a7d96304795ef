package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class EventTest {
    private static final Instant NOW = Instant.ofEpochMilli(1_800_000_000_000L);

    @Test
    @DisplayName("F-013: the event's own priority wins over the code of its type")
    void shouldPreferOwnPriority() {
        Event plain = Event.root("e1", KnownEventType.MESSAGE_RECEIVED, NOW).build();
        Event urgent = plain.toBuilder().priority(7).build();

        assertThat(plain.effectivePriority()).isEqualTo(100);
        assertThat(urgent.effectivePriority()).isEqualTo(7);
        assertThat(urgent.lane()).isEqualTo(Segment.SYSTEM);
    }

    @Test
    @DisplayName("F-014, F-015: a derived event points to its parent and inherits who, not what")
    void shouldDeriveFromParent() {
        Event parent = Event.root("e1", KnownEventType.MESSAGE_RECEIVED, NOW)
                .source("user")
                .taskId("t1")
                .sessionId("s1")
                .namespace("acme")
                .priority(5)
                .payload(Map.of("text", "hello"))
                .build();

        Event child = parent.derive(KnownEventType.TASK_CREATED, 0, NOW).build();

        assertThat(child.parentEventId()).isEqualTo("e1");
        assertThat(child.correlationId()).isEqualTo("e1");
        assertThat(child.taskId()).isEqualTo("t1");
        assertThat(child.source()).isEqualTo("user");
        assertThat(child.sessionKey()).isEqualTo("acme/s1");
        assertThat(child.priority()).isNull();
        assertThat(child.payload()).isEmpty();
        assertThat(child.id())
                .isEqualTo(parent.derive(KnownEventType.TASK_CREATED, 0, NOW)
                        .build()
                        .id());
    }

    @Test
    @DisplayName("F-010, F-011: nothing reachable from an event can change")
    void shouldFreezePayload() {
        Map<String, Object> inner = new java.util.HashMap<>(Map.of("a", 1));
        Event event = Event.root("e1", EventType.of("file.changed"), NOW)
                .payload(Map.of("inner", inner))
                .build();

        inner.put("a", 2);

        assertThat(event.payload()).isEqualTo(Map.of("inner", Map.of("a", 1)));
        assertThatThrownBy(() -> event.payload().put("b", 1)).isInstanceOf(UnsupportedOperationException.class);
    }
}
