package dev.millrace.agent.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.ContextWindow.Rules;
import dev.millrace.agent.core.ContextWindow.Summary;
import dev.millrace.agent.core.ContextWindow.Turn;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Call;
import dev.millrace.agent.core.TranscriptEntry.Image;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What entries weigh, and each threshold of the window at the threshold and one past it. */
class ContextWindowTest {

    private static final long MESSAGE = TokenEstimate.PER_MESSAGE;

    private static ContextWindow window(long prompt, @Nullable Summary summary, Turn... turns) {
        return new ContextWindow(1_000, prompt, prompt, prompt, summary, List.of(turns));
    }

    static Stream<Arguments> entries() {
        return Stream.of(
                Arguments.of(new UserText("12345678"), 8, MESSAGE + 2),
                Arguments.of(
                        new UserText("1234", List.of(new Image("image/png", "abc"), new Image("image/png", "de"))),
                        9,
                        MESSAGE + 1 + 2 * TranscriptEntry.TOKENS_PER_IMAGE),
                Arguments.of(new TranscriptEntry.Summary("12345678", null), 8, MESSAGE + 2),
                Arguments.of(new TranscriptEntry.Summary("12345678", "1234"), 12, MESSAGE + 3),
                Arguments.of(new AssistantTurn("12345678", List.of()), 8, MESSAGE + 2),
                Arguments.of(new AssistantTurn(null, List.of(), "1234"), 4, MESSAGE + 1),
                Arguments.of(
                        new AssistantTurn(
                                "1234",
                                List.of(new Call("p1", "12345678", "1234"), new Call("p2", "1234", "1234")),
                                "12345678"),
                        32,
                        MESSAGE + 1 + 2 + (MESSAGE + 2 + 1) + (MESSAGE + 1 + 1)),
                Arguments.of(new ToolResult("p1", "search", "12345678", false), 8, MESSAGE + 2));
    }

    @ParameterizedTest
    @MethodSource("entries")
    void shouldWeighEachEntry(TranscriptEntry entry, long chars, long tokens) {
        assertThat(entry.chars()).isEqualTo(chars);
        assertThat(entry.tokens()).isEqualTo(tokens);
    }

    @ParameterizedTest
    @CsvSource({"\u007f\u007f\u007f\u007f, 1", "\u0080\u0080\u0080, 2", "\u2e7f\u2e7f\u2e7f, 2", "\u2e80\u2e80, 2"})
    void shouldKnowWhereAnAlphabetEnds(String text, long tokens) {
        assertThat(TokenEstimate.of(text)).isEqualTo(tokens);
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "1, 1", "0.5, 0.5", "0.001, 0"})
    void shouldTakeRulesAtTheirBounds(double threshold, double kept) {
        assertThat(new Rules(threshold, kept).kept()).isEqualTo(kept);
    }

    @ParameterizedTest
    @CsvSource({"0, 1000", "-1, 1000", "1, 1", "2, 2"})
    void shouldTakeASizeOfOneOrMore(long said, long size) {
        assertThat(window(5, null).answered(5, said).size()).isEqualTo(size);
    }

    @ParameterizedTest
    @CsvSource({"800, 0, false", "801, 0, true", "0, 800, false", "0, 801, true"})
    void shouldBeDuePastFourFifths(long tokens, long chars, boolean due) {
        assertThat(window(tokens, null, new Turn(1, tokens, chars))
                        .due(Rules.DEFAULT, chars, 1_000)
                        .isPresent())
                .isEqualTo(due);
    }

    @ParameterizedTest
    @CsvSource({
        "50, 0, 0, true",
        "49, 0, 0, false",
        "80, 0, 30, true",
        "79, 0, 30, false",
        "0, 50, 0, true",
        "0, 49, 0, false"
    })
    void shouldCutOnlyWhatIsWorthIt(long tokens, long chars, long summaryTokens, boolean worthwhile) {
        assertThat(window(900, new Summary(3, 1, summaryTokens), new Turn(5, tokens, chars))
                        .due(Rules.DEFAULT, 900, 1_000)
                        .isPresent())
                .isEqualTo(worthwhile);
    }

    @Test
    void shouldKeepAsMuchAsAllowed() {
        Turn first = new Turn(1, 100, 100);
        Turn atTheLimit = new Turn(2, 700, 700);
        Turn last = new Turn(3, 850, 850);

        assertThat(window(900, null, first, atTheLimit, last).due(Rules.DEFAULT, 900, 1_000))
                .contains(atTheLimit);
        assertThat(window(901, null, first, atTheLimit, last).due(Rules.DEFAULT, 900, 1_000))
                .contains(last);
        assertThat(window(900, null, first, atTheLimit, last).due(Rules.DEFAULT, 901, 1_000))
                .contains(last);
    }

    @Test
    void shouldKeepAQuarterAfterAnOverflowIfThatIsLess() {
        Turn first = new Turn(1, 250, 0);
        Turn second = new Turn(2, 300, 0);
        Turn last = new Turn(3, 390, 0);

        assertThat(window(400, null, first, second, last).overflowing(Rules.DEFAULT, 9))
                .contains(second);
        assertThat(window(400, null, first, second, last).overflowing(new Rules(0.8, 0.02), 9))
                .contains(last);
    }

    @Test
    void shouldNotCutAgainWhatWasCutJustNow() {
        ContextWindow compacted = window(400, new Summary(5, 3, 10), new Turn(4, 390, 0));

        assertThat(compacted.overflowing(Rules.DEFAULT, 6)).isEmpty();
        assertThat(compacted.overflowing(Rules.DEFAULT, 7)).isPresent();
        assertThat(window(400, null, new Turn(1, 390, 0)).overflowing(Rules.DEFAULT, 1))
                .as("without a summary")
                .isPresent();
    }

    @Test
    void shouldCountFromTheSummaryAfterACut() {
        Turn cut = new Turn(2, 200, 80);
        UserText text = new UserText("12345678");

        ContextWindow compacted = window(500, null, new Turn(1, 100, 40), cut, new Turn(3, 300, 120))
                .compacted(cut, 9, text);

        assertThat(compacted.turns()).containsExactly(new Turn(3, 300 - 200 + text.tokens(), 120 - 80 + 8));
        assertThat(compacted.estimate()).isEqualTo(500 - 200 + text.tokens());
        assertThat(compacted.summary()).isEqualTo(new Summary(9, 2, text.tokens()));
    }
}
