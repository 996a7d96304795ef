package dev.millrace.gateway.rest.requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.gateway.rest.problems.ProblemException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WaitParameterTest {
    private static final Duration MOST = Duration.ofMinutes(2);

    @ParameterizedTest
    @CsvSource({"10,PT10S", "10s,PT10S", "500ms,PT0.5S", "2m,PT2M", "PT1M5S,PT1M5S", "pt1s,PT1S", "0,PT0S", "120,PT2M"})
    void shouldReadEveryForm(String text, Duration expected) {
        assertThat(WaitParameter.parse(text, MOST)).isEqualTo(expected);
    }

    @Test
    void shouldNotWaitWhenNotAsked() {
        assertThat(WaitParameter.parse(null, MOST)).isZero();
        assertThat(WaitParameter.parse("", MOST)).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"121", "120001ms", "-PT1S", "10 s", "ten", "9999999999", "PT"})
    void shouldRefuseWhatIsTooLongOrCannotBeRead(String text) {
        assertThatThrownBy(() -> WaitParameter.parse(text, MOST))
                .isInstanceOfSatisfying(
                        ProblemException.class,
                        e -> assertThat(e.problem().code()).isEqualTo("bad_parameter"));
    }
}
