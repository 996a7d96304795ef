package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import org.junit.jupiter.api.Test;

class SseReaderTest {

    @Test
    void shouldReadDataOverSeveralLines() throws IOException {
        // given
        SseReader reader = reader("data: one\ndata:two\ndata\n\n");

        // when
        String data = reader.next();

        // then
        assertThat(data).isEqualTo("one\ntwo\n");
        assertThat(reader.next()).isNull();
    }

    @Test
    void shouldPassOverCommentsAndEventsWithoutData() throws IOException {
        // given
        SseReader reader = reader(": still there\n\nevent: nothing\nid: 7\n\ndata: x\n\n");

        // when
        String data = reader.next();

        // then
        assertThat(data).isEqualTo("x");
        assertThat(reader.lastEventId()).isEqualTo("7");
    }

    @Test
    void shouldNotCountAnEventThatWasCutOff() throws IOException {
        // given
        SseReader reader = reader("id: 1\ndata: whole\n\nid: 2\ndata: ha");

        // when
        String whole = reader.next();
        String half = reader.next();

        // then
        assertThat(whole).isEqualTo("whole");
        assertThat(half).isNull();
        assertThat(reader.lastEventId()).isEqualTo("1");
    }

    private static SseReader reader(String stream) {
        return new SseReader(new BufferedReader(new StringReader(stream))::readLine, null);
    }
}
