package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class FairLineTest {

    private record Waiting(String tenant, int priority, long arrival) {}

    private final FairLine<Waiting> line =
            new FairLine<>(Waiting::priority, Waiting::tenant, Comparator.comparingLong(Waiting::arrival));
    private long arrivals;

    @Test
    @DisplayName("of one tenant the lower priority goes first, then who came first")
    void shouldKeepTheOrderOfOneTenant() {
        enter("a", 200);
        enter("a", 100);
        enter("a", 200);
        enter("a", 100);

        assertThat(taken(4)).containsExactly("a2", "a4", "a1", "a3");
        assertThat(line.isEmpty()).isTrue();
        assertThat(line.peek()).isNull();
    }

    @Test
    @DisplayName("10 000 of one tenant delay the first of another by one place at most")
    void shouldDelayNobodyByMoreThanOnePlace() {
        IntStream.range(0, 10_000).forEach(i -> enter("big", 200));
        taken(3);
        Waiting small = enter("small", 200);

        assertThat(List.of(line.take(), line.take())).contains(small);
    }

    @Test
    @DisplayName("three tenants take turns, whatever they have in line")
    void shouldTakeTurns() {
        IntStream.range(0, 4).forEach(i -> enter("a", 200));
        IntStream.range(0, 2).forEach(i -> enter("b", 200));
        enter("c", 200);

        assertThat(taken(7)).containsExactly("a1", "b5", "c7", "a2", "b6", "a3", "a4");
    }

    @Test
    @DisplayName("a tenant with one at a time gets every second turn, not every one")
    void shouldNotLetOneAtATimeGoFirstForEver() {
        IntStream.range(0, 10).forEach(i -> enter("many", 200));
        List<String> tenants = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            if (i == 0 || tenants.getLast().equals("one")) {
                enter("one", 200);
            }
            tenants.add(line.take().tenant());
        }

        assertThat(tenants).containsExactly("many", "one", "many", "one", "many", "one", "many", "one");
    }

    @Test
    @DisplayName("who goes away without a turn has had none")
    void shouldCountNoTurnOfWhoLeaves() {
        Waiting first = enter("a", 200);
        enter("b", 200);
        enter("a", 200);

        assertThat(line.remove(first)).isTrue();
        assertThat(line.remove(first)).isFalse();
        assertThat(line.remove(new Waiting("nobody", 7, 1))).isFalse();
        assertThat(taken(2)).containsExactly("b2", "a3");
    }

    @Test
    @DisplayName("a turn that was had outside of the line counts")
    void shouldCountTurnsHadElsewhere() {
        enter("a", 200);
        enter("b", 200);
        line.served(200, "a");
        line.served(100, "nobody waits there");

        assertThat(taken(2)).containsExactly("b2", "a1");
    }

    @Test
    @DisplayName("who is held back has no turn, with whatever comes meanwhile, and stands where they stood when let go")
    void shouldHoldTenantsBack() {
        enter("a", 100);
        enter("b", 200);
        line.holdBack("a");
        line.holdBack("a");
        enter("a", 200);
        assertThat(line.size()).isEqualTo(3);
        assertThat(taken(1)).containsExactly("b2");
        assertThat(line.peek()).isNull();
        assertThat(line.isEmpty()).isFalse();
        assertThatThrownBy(line::take).isInstanceOf(NoSuchElementException.class);

        line.letGo("a");
        line.letGo("nobody");

        assertThat(taken(2)).containsExactly("a1", "a3");
    }

    @Test
    @DisplayName("the same element twice stands in line once")
    void shouldHoldAnElementOnce() {
        Waiting one = enter("a", 200);
        line.add(one);

        assertThat(line.size()).isOne();
        assertThat(line.all()).containsExactly(one);
        assertThat(taken(1)).containsExactly("a1");
        assertThatThrownBy(line::take).isInstanceOf(NoSuchElementException.class);
    }

    @Test
    @DisplayName("nobody is lost and nobody waits longer than a turn of each other tenant, in 100 000 random steps")
    void shouldLoseNobody() {
        Random random = new Random(11);
        List<Waiting> inside = new ArrayList<>();
        Set<String> heldBack = new HashSet<>();
        for (int step = 0; step < 100_000; step++) {
            String one = "t" + random.nextInt(20);
            switch (random.nextInt(6)) {
                case 0, 1 -> inside.add(enter(one, 100 + 100 * random.nextInt(3)));
                case 2 -> {
                    if (!inside.isEmpty()) {
                        Waiting gone = inside.remove(random.nextInt(inside.size()));
                        assertThat(line.remove(gone)).isTrue();
                    }
                }
                case 3 -> {
                    if (heldBack.remove(one)) {
                        line.letGo(one);
                    } else if (heldBack.size() < 5) {
                        heldBack.add(one);
                        line.holdBack(one);
                    }
                }
                default -> {
                    OptionalInt lowest = inside.stream()
                            .filter(waiting -> !heldBack.contains(waiting.tenant()))
                            .mapToInt(Waiting::priority)
                            .min();
                    if (lowest.isEmpty()) {
                        assertThat(line.peek()).isNull();
                    } else {
                        Waiting taken = line.take();
                        assertThat(taken.priority()).isEqualTo(lowest.getAsInt());
                        assertThat(heldBack).doesNotContain(taken.tenant());
                        assertThat(inside.remove(taken)).isTrue();
                    }
                }
            }
            assertThat(line.size()).isEqualTo(inside.size());
        }
        assertThat(line.all()).containsExactlyInAnyOrderElementsOf(inside);
    }

    private Waiting enter(String tenant, int priority) {
        Waiting waiting = new Waiting(tenant, priority, ++arrivals);
        line.add(waiting);
        return waiting;
    }

    private List<String> taken(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> line.take())
                .map(one -> one.tenant() + one.arrival())
                .toList();
    }
}
