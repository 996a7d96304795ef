package dev.millrace.standalone.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ColoursTest {

    private static final List<String> TABLE =
            List.of("TASK  STATE      INPUT", "t-1   failed     it failed", "t-2   completed  x");

    @Test
    @DisplayName("at a terminal the heading stands out and states have colours; what people wrote has none")
    void shouldPaintStates() {
        assertThat(new Colours(true).table(TABLE))
                .containsExactly(
                        "\u001b[1mTASK  STATE      INPUT\u001b[0m",
                        "t-1   \u001b[31mfailed\u001b[0m     it failed",
                        "t-2   \u001b[32mcompleted\u001b[0m  x");
        assertThat(new Colours(true).table(List.of("no heading", "t-1   failed")))
                .containsExactly("no heading", "t-1   failed");
        assertThat(new Colours(true).table(List.of("A STATE  X", "short"))).contains("short");
    }

    @Test
    @DisplayName("elsewhere, and where NO_COLOR says anything, there are none")
    void shouldRespectWhoWantsNone() {
        assertThat(Colours.of(terminal(true), null).on()).isTrue();
        assertThat(Colours.of(terminal(true), "").on()).isTrue();
        assertThat(Colours.of(terminal(true), "1").on()).isFalse();
        assertThat(Colours.of(terminal(false), null).on()).isFalse();
        assertThat(new Colours(false).table(TABLE)).isSameAs(TABLE);
    }

    private static Terminal terminal(boolean live) {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
        return new Terminal(nowhere, nowhere, null, live, Terminal.DEFAULT_COLUMNS);
    }
}
