package dev.millrace.gateway.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlacesTest {

    @Test
    void shouldReadWhatItWrote() {
        // given
        Places places = new Places(Map.of(10, new Places.Place(7, 0), 2, new Places.Place(0, 123_456_789_012L)));

        // then
        assertThat(places).hasToString("2@0~123456789012,10@7~0");
        assertThat(Places.parse(places.toString())).hasValue(places);
        assertThat(Places.parse(" 2@0~1 , 3@4~5 "))
                .hasValueSatisfying(read -> assertThat(read).hasToString("2@0~1,3@4~5"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0:",
                "0@",
                ":1",
                "-1:1",
                "0:1~1",
                "0:1:1",
                "0@1~",
                "0@~1",
                "-1@1~1",
                "0@1~1,",
                "a@1~1",
                "0@1~9999999999999999999"
            })
    void shouldReadNothingElse(String text) {
        assertThat(Places.parse(text)).isEmpty();
    }

    @Test
    void shouldReadPlacesAmongFactsAlone() {
        assertThat(Places.parse("0:1")).hasValue(new Places(Map.of(0, new Places.Place(2))));
        assertThat(Places.parse("0@1,1@2")).hasValue(Places.ofFacts(Map.of(0, 1L, 1, 2L)));
        assertThat(Places.ofFacts(Map.of(1, 2L, 0, 1L))).hasToString("0@1,1@2");
        assertThat(Places.of(1, 2, 3).withoutLiveText()).isEqualTo(Places.ofFacts(Map.of(1, 2L)));
    }

    @Test
    void shouldChangeOnePlace() {
        assertThat(Places.of(1, 2, 3).with(1, new Places.Place(4, 5))).isEqualTo(Places.of(1, 4, 5));
    }
}
