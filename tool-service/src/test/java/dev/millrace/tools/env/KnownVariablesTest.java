package dev.millrace.tools.env;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.tools.env.Variables.Scope;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KnownVariablesTest {

    private static final Scope MINE = new Scope("mine", "session", "s");

    @Test
    void shouldRefuseMoreBytesThanAConversationMayHave() {
        // given: one character is three bytes
        KnownVariables variables = new KnownVariables(KnownVariables.MIN_BYTES);
        String value = "水".repeat(10_000);
        for (int i = 0; i < 33; i++) {
            variables.put(MINE, "k" + (10 + i), value, i);
        }
        int rest = KnownVariables.MAX_SCOPE_BYTES - 33 * (30_000 + 3 + KnownVariables.ENTRY_BYTES);
        int atTheLimit = rest - KnownVariables.ENTRY_BYTES - 1;
        // then
        assertThat(variables.refusal(MINE, "k", "x".repeat(atTheLimit))).isEmpty();
        assertThat(variables.refusal(MINE, "k", "x".repeat(atTheLimit + 1)))
                .hasValue("expected up to 1000000 bytes of variables in this session, found 1000001 with this one");
        assertThat(variables.refusal(MINE, "k10", "x")).isEmpty();
    }

    @Test
    void shouldTakeFromWhoHasMostAndHasNotSetAnyForLongest() {
        // given
        KnownVariables variables = new KnownVariables(KnownVariables.MIN_BYTES);
        variables.put(MINE, "k", "small", 0);
        // when: another tenant fills the memory, time and again
        for (int i = 0; i < 1_000; i++) {
            variables.put(new Scope("greedy", "session", "s" + i), "k", "x".repeat(10_000), 1 + i);
            assertThat(variables.bytes()).isLessThanOrEqualTo(KnownVariables.MIN_BYTES);
        }
        // then
        assertThat(variables.get(MINE, "k")).hasValue("small");
        assertThat(variables.get(new Scope("greedy", "session", "s0"), "k")).isEmpty();
        assertThat(variables.get(new Scope("greedy", "session", "s999"), "k")).isPresent();
    }

    @Test
    void shouldCountNothingTwice() {
        // given
        KnownVariables variables = new KnownVariables(KnownVariables.MIN_BYTES);
        Random random = new Random(14);
        // when
        for (int i = 0; i < 10_000; i++) {
            Scope scope = new Scope("n" + random.nextInt(3), "session", "s" + random.nextInt(30));
            variables.put(scope, "k" + random.nextInt(5), "x".repeat(random.nextInt(10_000)), i);
            if (random.nextInt(50) == 0) {
                variables.forget(scope::equals, i - random.nextInt(100));
            }
        }
        variables.forget(scope -> true, Long.MAX_VALUE);
        // then
        assertThat(variables.bytes()).isZero();
    }

    @Test
    void shouldRefuseABoundThatIsTooSmall() {
        assertThatThrownBy(() -> new KnownVariables(KnownVariables.MIN_BYTES - 1))
                .hasMessage("millrace.tools.env.max-size: expected 2000000 bytes or more, found 1999999");
    }
}
