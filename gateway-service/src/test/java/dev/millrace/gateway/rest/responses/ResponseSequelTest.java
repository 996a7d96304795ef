package dev.millrace.gateway.rest.responses;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ResponseSequelTest {
    private final List<String> sent = new ArrayList<>();

    @Test
    @DisplayName("of a text that was seen in part, the rest is told, in however large pieces it comes")
    void shouldTellTheRest() throws Exception {
        // given
        ResponseSequel sequel = new ResponseSequel(4, event -> sent.add(((ResponseEvent.Delta) event).delta()));

        // when
        sequel.send(delta(3, "abc"));
        sequel.send(delta(4, "d"));
        sequel.send(delta(7, "cdefg"));
        sequel.send(delta(9, "hi"));

        // then
        assertThat(sent).containsExactly("efg", "hi");
        assertThat(sequel.last()).isEqualTo(9);
    }

    private static ResponseEvent.Delta delta(long number, String text) {
        return new ResponseEvent.Delta("response.output_text.delta", number, "m", 0, 0, text, List.of());
    }
}
