package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JournalCursorTest {

    @Test
    void shouldReadWhatItWrote() {
        // given
        JournalCursor cursor = new JournalCursor(5, 123_456_789_012L);

        // when
        String text = cursor.toString();

        // then
        assertThat(text).isEqualTo("5:123456789012");
        assertThat(JournalCursor.parse(text)).hasValue(cursor);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "5", "5:", ":5", "-1:5", "5:-1", "5:1234567890123456789", "1234567890:1", "5:6:7", " 5:6"})
    void shouldRefuseAnythingElse(String text) {
        assertThat(JournalCursor.parse(text)).isEmpty();
    }

    @Test
    void shouldOrderByOffsetWithinAPartition() {
        assertThat(new JournalCursor(1, 9)).isLessThan(new JournalCursor(1, 10));
    }
}
