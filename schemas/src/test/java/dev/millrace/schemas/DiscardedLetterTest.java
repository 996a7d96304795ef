package dev.millrace.schemas;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DiscardedLetterTest {

    @Test
    @DisplayName("a dead letter that is discarded is one place and no newer record at it")
    void shouldMeanOnePlace() {
        // given
        ForgottenSet known = new ForgottenSet();

        // when
        known.take(new DiscardedLetter("3:41", 1_000).toJson());

        // then
        assertThat(known.hasLetter("3:41", 1_000)).isTrue();
        assertThat(known.hasLetter("3:41", 1_001)).isFalse();
        assertThat(known.hasLetter("3:42", 1_000)).isFalse();
        assertThat(known.isEmpty()).as("of tasks, sessions and namespaces").isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "[]",
                "x",
                "{\"kind\":\"dead_letter\",\"place\":\"0:1\"}",
                "{\"kind\":\"dead_letter\",\"place\":\"0\",\"at\":1}",
                "{\"kind\":\"dead_letter\",\"place\":7,\"at\":1}",
                "{\"kind\":\"dead_letter\",\"place\":\"0:1\",\"at\":\"1\"}",
                "{\"kind\":\"task\",\"place\":\"0:1\",\"at\":1}"
            })
    void shouldReadNothingElse(String value) {
        assertThat(DiscardedLetter.fromJson(value.getBytes(UTF_8))).isEmpty();
    }

    @Test
    void shouldRefuseAnotherPlace() {
        assertThatThrownBy(() -> new DiscardedLetter("here", 0)).hasMessageContaining("found \"here\"");
        assertThat(DiscardedLetter.fromJson(null)).isEmpty();
    }
}
