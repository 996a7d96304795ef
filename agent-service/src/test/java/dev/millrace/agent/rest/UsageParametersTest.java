package dev.millrace.agent.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsageParametersTest {

    @ParameterizedTest
    @ValueSource(
            strings = {"tomorrow", "1969-12-31", "+999999999-12-31T23:59:59-18:00", "-999999999-01-01T00:00:00+18:00"})
    void shouldRefuseAMomentThatNothingWasRecordedAt(String text) {
        assertThatThrownBy(() -> UsageParameters.moment("from", text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("from: expected a moment such as")
                .hasMessageContaining(text);
    }

    @Test
    void shouldTakeADayForItsBeginning() {
        assertThat(UsageParameters.moment("from", "1970-01-02")).isEqualTo(86_400_000L);
    }
}
