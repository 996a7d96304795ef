package dev.millrace.gateway.rest.turns;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ChatTextTest {

    private final StringBuilder told = new StringBuilder();
    private final ChatText text =
            new ChatText((more, begins) -> told.append(begins ? "|" : "").append(more));

    @Test
    void shouldTellLiveTextAsItComesAndTheRestOnce() throws Exception {
        // when
        text.live("c1", 1, "Good ");
        text.live("c1", 1, "mor");
        text.whole("c1", "Good morning.");
        text.whole("c2", "And good night.");

        // then
        assertThat(told).hasToString("|Good morning.|And good night.");
    }

    @Test
    void shouldGoOnWhereTheClientIsWhenACallIsMadeAgain() throws Exception {
        // when
        text.live("c1", 1, "Good mor");
        text.live("c1", 2, "Good");
        text.live("c1", 2, " morning");
        text.whole("c1", "Good morning.");

        // then
        assertThat(told).hasToString("|Good morning.");
    }

    @Test
    void shouldTellAnotherTextAsAWhole() throws Exception {
        // when
        text.live("c1", 1, "Good mor");
        text.live("c1", 2, "Hello");
        text.live("c1", 2, " there");
        text.whole("c1", "Hello there.");

        // then
        assertThat(told).hasToString("|Good mor|Hello there.");
    }
}
