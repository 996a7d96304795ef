package dev.millrace.standalone.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EventTreeTest {

    @Test
    void shouldDrawWhatCausedWhat() {
        // given
        List<ToldEvent> events = List.of(
                event("a", "ROOT", null),
                event("b", "CHILD", "a"),
                event("c", "GRANDCHILD", "b"),
                event("d", "CHILD", "a"),
                event("e", "GRANDCHILD", "d"));

        // when
        List<String> lines = EventTree.lines(events, 120);

        // then
        assertThat(lines)
                .containsExactly(
                        "ROOT  +0 ms  a",
                        "├ CHILD  +0 ms  b",
                        "│ └ GRANDCHILD  +0 ms  c",
                        "└ CHILD  +0 ms  d",
                        "  └ GRANDCHILD  +0 ms  e");
    }

    @Test
    void shouldTakeAnEventWithAStrangeParentForARoot() {
        // when
        List<String> lines = EventTree.lines(List.of(event("a", "X", "elsewhere"), event("b", "X", "b")), 120);

        // then
        assertThat(lines).containsExactly("X  +0 ms  a", "X  +0 ms  b");
    }

    @Test
    void shouldDrawALongChain() {
        // given
        List<ToldEvent> events = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            events.add(event("e" + i, "X", i == 0 ? null : "e" + (i - 1)));
        }

        // when
        List<String> lines = EventTree.lines(events, 120);

        // then
        assertThat(lines).hasSize(2_000);
    }

    @Test
    void shouldShowAsMuchOfAnIdAsTellsItFromTheOthers() {
        // when
        List<String> few =
                EventTree.lines(List.of(event("0123456789", "X", null), event("0123abcdef", "X", null)), 120);
        List<String> many = EventTree.lines(
                List.of(event("0123456789a", "X", null), event("0123456789b", "X", null), event("a", "X", null)), 120);

        // then
        assertThat(few).containsExactly("X  +0 ms  01234567", "X  +0 ms  0123abcd");
        assertThat(many).containsExactly("X  +0 ms  0123456789a", "X  +0 ms  0123456789b", "X  +0 ms  a");
    }

    private static ToldEvent event(String id, String type, @Nullable String parent) {
        Map<String, @Nullable Object> event = new LinkedHashMap<>();
        event.put("id", id);
        event.put("type", type);
        event.put("timestamp", 1_000);
        event.put("parentEventId", parent);
        event.put("payload", Map.of());
        return ToldEvent.of(Json.MAPPER.valueToTree(event));
    }
}
