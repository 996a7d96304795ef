package dev.millrace.standalone.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalTokenTest {

    @TempDir
    private Path data = Path.of("");

    @ParameterizedTest
    @ValueSource(
            strings = {"http://localhost:8080", "http://127.0.0.1:8081/x", "http://[::1]:8080", "https://localhost"})
    @DisplayName("a Millrace of this machine is shown the key that is kept here")
    void shouldShowTheKeyToThisMachine(String url) throws IOException {
        Files.writeString(data.resolve(LocalToken.FILE), "mlr_abc\n");

        assertThat(LocalToken.of(URI.create(url), data)).isEqualTo("mlr_abc");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://millrace.example.com",
                "http://localhost.example.com:8080",
                "http://127.0.0.1.example.com",
                "http://localhost@example.com:8080",
                "http://10.0.0.1:8080",
                "http://[2001:db8::1]:8080"
            })
    @DisplayName("nobody else is")
    void shouldShowItToNobodyElse(String url) throws IOException {
        Files.writeString(data.resolve(LocalToken.FILE), "mlr_abc");

        assertThat(LocalToken.of(URI.create(url), data)).isEmpty();
    }

    @Test
    @DisplayName("without a key, a folder of data, or with another thing of that name there is none")
    void shouldDoWithout() throws IOException {
        assertThat(LocalToken.of(Hint.DEFAULT_URL, data)).isEmpty();
        assertThat(LocalToken.of(Hint.DEFAULT_URL, data.resolve("missing"))).isEmpty();

        Path other = Files.writeString(data.resolve("other"), "");
        assertThat(LocalToken.of(Hint.DEFAULT_URL, other)).isEmpty();
    }
}
