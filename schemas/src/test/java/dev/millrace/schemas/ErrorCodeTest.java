package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.ErrorCode.Place;
import java.util.Arrays;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ErrorCodeTest {

    @ParameterizedTest
    @EnumSource
    void shouldBeAStableWordWithAMeaningAndAPlace(ErrorCode code) {
        assertThat(code.code()).matches("[a-z][a-z0-9_]{0,63}");
        assertThat(code.meaning()).endsWith(".").hasSizeBetween(15, 120);
        assertThat(Place.values()).anyMatch(code::foundIn);
        assertThat(ErrorCode.of(code.code())).contains(code);
    }

    @Test
    void shouldNotKnowOtherWords() {
        assertThat(ErrorCode.of("BAD_JSON")).isEmpty();
        assertThat(ErrorCode.of("")).isEmpty();
    }

    @Test
    void shouldFitIntoTheHeaderOfADeadLetter() {
        assertThat(Arrays.stream(ErrorCode.values()).filter(code -> code.foundIn(Place.DEAD_LETTER)))
                .isNotEmpty()
                .allSatisfy(code -> assertThat(DeadLetters.headers(
                                new RecordHeaders(), new DeadLetters.Origin("t", 0, 0, 0), code.code(), null))
                        .isNotEmpty());
    }

    @Test
    void shouldLetATaskFailWithTheCodeOfItsModelCall() {
        assertThat(Arrays.stream(ErrorCode.values()).filter(code -> code.foundIn(Place.MODEL_CALL)))
                .isNotEmpty()
                .allMatch(code -> code.foundIn(Place.TASK));
    }
}
