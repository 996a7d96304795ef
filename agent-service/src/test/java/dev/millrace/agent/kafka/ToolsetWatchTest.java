package dev.millrace.agent.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.Workers.Absence;
import dev.millrace.agent.kafka.ToolsetWatch.Reading;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ToolsetWatchTest {

    private static final Instant START = Instant.parse("2026-11-23T04:00:00.5Z");

    private final Set<String> toolsets = new HashSet<>(Set.of("orders"));
    private final Map<String, Reading> answer = new HashMap<>();
    private final List<Set<String>> asked = new ArrayList<>();
    private Instant now = START;
    private final ToolsetWatch.Readers readers = new ToolsetWatch.Readers() {
        @Override
        public Map<String, Reading> ask(Set<String> wanted) {
            asked.add(wanted);
            return Map.copyOf(answer);
        }

        @Override
        public void close() {}
    };
    private final InstantSource time = () -> now;
    private final ToolsetWatch watch = new ToolsetWatch(() -> toolsets, readers, time.withZone(ZoneOffset.UTC));

    @Test
    void shouldSayThatNobodyServesOnlyWhenItHasLookedTwice() throws InterruptedException {
        // given
        answer.put("orders", new Reading(0, OptionalLong.of(3)));
        // when // then
        assertThat(watch.look()).as("looks again soon").isTrue();
        assertThat(watch.absence("orders")).isEmpty();
        assertThat(watch.look()).isFalse();
        assertThat(watch.absence("orders")).contains(new Absence(null));
        assertThat(watch.absence("orders").orElseThrow().note("orders")).isEqualTo("no worker serves toolset orders");
        assertThat(watch.backlog("orders")).hasValue(3);
        assertThat(watch.workers("orders")).hasValue(0);
    }

    @Test
    void shouldSaySinceWhenAndUntilWhen() throws InterruptedException {
        // given
        answer.put("orders", new Reading(2, OptionalLong.of(0)));
        watch.look();
        assertThat(watch.absence("orders")).isEmpty();
        // when
        answer.put("orders", new Reading(0, OptionalLong.of(1)));
        for (int looks = 0; looks < 3; looks++) {
            now = now.plusSeconds(15);
            watch.look();
        }
        // then
        assertThat(watch.absence("orders").orElseThrow().note("orders"))
                .isEqualTo("toolset orders has had no worker since 2026-11-23T04:00:00Z");
        // when
        answer.put("orders", new Reading(1, OptionalLong.of(1)));
        watch.look();
        // then
        assertThat(watch.absence("orders")).isEmpty();
    }

    @Test
    void shouldSayNothingThatItDoesNotKnow() throws InterruptedException {
        // given
        answer.put("orders", new Reading(0, OptionalLong.empty()));
        watch.look();
        watch.look();
        assertThat(watch.absence("orders")).isPresent();
        assertThat(watch.backlog("orders")).isEmpty();
        // when: the brokers do not say any more
        answer.clear();
        now = now.plus(ToolsetWatch.STALE).minus(Duration.ofMillis(1));
        watch.look();
        assertThat(watch.absence("orders")).isPresent();
        now = now.plus(Duration.ofMillis(1));
        // then
        assertThat(watch.absence("orders")).isEmpty();
        assertThat(watch.workers("orders")).isEmpty();
        assertThat(watch.absence("never heard of")).isEmpty();
    }

    @Test
    void shouldAskForAsManyToolsetsAsItsLimitAndTellOfEach() throws InterruptedException {
        // given
        List<String> told = new ArrayList<>();
        watch.whenNew(told::add);
        toolsets.clear();
        toolsets.addAll(IntStream.rangeClosed(0, ToolsetWatch.MAX_TOOLSETS)
                .mapToObj(i -> "set-%04d".formatted(i))
                .collect(Collectors.toSet()));
        // when
        watch.look();
        // then
        assertThat(asked)
                .singleElement()
                .satisfies(names ->
                        assertThat(names).hasSize(ToolsetWatch.MAX_TOOLSETS).doesNotContain("set-0200"));
        assertThat(told).hasSize(ToolsetWatch.MAX_TOOLSETS);
        // when
        toolsets.clear();
        watch.look();
        // then
        assertThat(asked).as("nothing to ask for").hasSize(1);
    }
}
