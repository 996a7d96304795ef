package dev.millrace.tools.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServerProcessTest {

    @Test
    void shouldKeepTheBeginningOfALongLine() throws IOException {
        // given: a line of 50 MB, one at the limit, one past it
        int limit = ServerProcess.MAX_ERROR_LINE_BYTES;
        InputStream lines = new ByteArrayInputStream(
                ("\n" + "b".repeat(limit) + "\r\n" + "c".repeat(limit + 1) + "\nlast").getBytes(UTF_8));
        InputStream errors = new java.io.SequenceInputStream(new Endless(50_000_000), lines);
        // then
        assertThat(ServerProcess.readStart(errors)).isEqualTo("a".repeat(limit));
        assertThat(ServerProcess.readStart(errors)).isEqualTo("b".repeat(limit));
        assertThat(ServerProcess.readStart(errors)).isEqualTo("c".repeat(limit));
        assertThat(ServerProcess.readStart(errors)).isEqualTo("last");
        assertThat(ServerProcess.readStart(errors)).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "http://proxy.example:3128, http://proxy.example:3128",
        "http://me:pass@proxy.example:3128, http://proxy.example:3128",
        "https://me:p@ss@registry.example/a@b, https://registry.example/a@b",
        "https://registry.example/@scope, https://registry.example/@scope",
        "/home/me@work, /home/me@work",
        "me:pass@proxy, me:pass@proxy"
    })
    void shouldHandOnNoPasswordOfAUrl(String value, String expected) {
        assertThat(ServerProcess.withoutPassword(value)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "PATH, true",
        "npm_config_registry, true",
        "NPM_CONFIG_CACHE, true",
        "NPM_CONFIG__AUTH, false",
        "npm_config_//registry.example/:_authToken, false",
        "NPM_CONFIG__PASSWORD, false",
        "OPENAI_API_KEY, false"
    })
    void shouldHandOnNoCredentials(String variable, boolean expected) {
        assertThat(ServerProcess.isPassedOn(variable)).isEqualTo(expected);
    }

    private static final class Endless extends InputStream {
        private int left;

        private Endless(int bytes) {
            left = bytes;
        }

        @Override
        public int read() {
            return left-- > 0 ? 'a' : -1;
        }

        @Override
        public int read(byte[] into, int offset, int length) {
            int next = read();
            into[offset] = (byte) next;
            return next < 0 ? -1 : 1;
        }
    }
}
