package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTextTest {

    private static int written(String text) {
        return Json.write(text).length - 2;
    }

    @Test
    void shouldKnowHowManyBytesATextTakes() {
        StringBuilder every = new StringBuilder();
        for (char character = 0; character < Character.MIN_SURROGATE; character++) {
            every.append(character);
        }
        String text = every.append("😀").toString();

        assertThat(JsonText.bytes(text)).isEqualTo(written(text));
        text.codePoints()
                .mapToObj(Character::toString)
                .forEach(one -> assertThat(JsonText.bytes(one)).isEqualTo(written(one)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "\u0001", "\"", "ä", "水", "😀"})
    void shouldCutWhatDoesNotFitAndNothingElse(String character) {
        int most = 600;
        String fits = character.repeat((int) (most / JsonText.bytes(character)));

        assertThat(JsonText.cutToBytes(fits, most)).isEqualTo(fits);
        String cut = JsonText.cutToBytes(fits + character, most);
        assertThat(cut).startsWith(character).endsWith(" characters left out)");
        assertThat(written(cut)).isBetween(most - 100, most);
    }

    @Test
    void shouldNotPartPairs() {
        Random random = new Random(7);
        for (int i = 0; i < 1_000; i++) {
            String text = "x".repeat(random.nextInt(3)) + "😀水".repeat(100);
            assertThat(JsonText.wellFormed(JsonText.cut(text, random.nextInt(1, 400))))
                    .doesNotContain("\uFFFD");
            assertThat(JsonText.wellFormed(JsonText.cutToBytes(text, random.nextInt(70, 800))))
                    .doesNotContain("\uFFFD");
        }
        assertThat(JsonText.cut("abc", 3)).isEqualTo("abc");
        assertThat(JsonText.cut("abcd", 3)).isEqualTo("ab…");
    }

    @Test
    void shouldWriteAnEventWithHalvesOfPairs() {
        Event event = Event.root("e1", KnownEventType.MESSAGE_RECEIVED, Instant.EPOCH)
                .payload(Map.of("text", "a\ud83d", "\udc00key", List.of("\ud800", "😀")))
                .build();

        assertThat(new String(EventCodec.toRecord("lane", event).value(), StandardCharsets.UTF_8))
                .contains("\"a\uFFFD\"", "\"\uFFFDkey\"", "[\"\uFFFD\",\"😀\"]");
    }
}
