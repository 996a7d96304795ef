package dev.millrace.gateway.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ApiKeysTest {

    private static final Instant NOW = Instant.parse("2026-11-23T12:00:00Z");

    private final AtomicReference<Instant> clock = new AtomicReference<>(NOW);

    @TempDir
    private Path folder = Path.of("");

    @Test
    @DisplayName("a key counts until it expires, a change within a second, and what is kept does not give the key away")
    void shouldKnowKeys() throws IOException {
        // given
        ApiKeyFile file = file();
        ApiKey.Fresh lasting = ApiKey.draw("ci", List.of("acme:read"), NOW, null);
        ApiKey.Fresh hourly = ApiKey.draw("guest", List.of("*:read"), NOW, Duration.ofHours(1));
        file.change(none -> List.of(lasting.kept(), hourly.kept()));
        ApiKeys keys = new ApiKeys(file, clock::get);

        // then
        assertThat(Files.readString(path())).doesNotContain(lasting.secret(), hourly.secret());
        assertThat(lasting.secret()).matches("mlr_[A-Za-z0-9_-]{43}");
        assertThat(keys.find(lasting.secret())).contains(new Identity("ci", List.of(Grant.parse("acme:read"))));
        assertThat(keys.find(lasting.kept().hash())).isEmpty();
        assertThat(keys.find(lasting.kept().id())).isEmpty();
        assertThat(keys.find(hourly.secret())).isPresent();
        clock.set(NOW.plus(Duration.ofHours(1)).minusMillis(1));
        assertThat(keys.find(hourly.secret())).isPresent();
        clock.set(NOW.plus(Duration.ofHours(1)));
        assertThat(keys.find(hourly.secret())).isEmpty();

        // when
        file.change(all -> List.of());

        // then
        clock.set(NOW.plus(Duration.ofHours(1)).plus(ApiKeys.FRESH));
        assertThat(keys.find(lasting.secret())).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "[]",
                "{}",
                "{\"keys\": null}",
                "{\"keys\": [{\"id\": \"a\", \"hash\": \"no\", \"principal\": \"x\", \"grants\": []}]}",
                "{\"keys\": [{\"id\": \"a\", \"principal\": \"x\"}]}"
            })
    @DisplayName("a file that cannot be read ends the start, and later leaves the keys of before")
    void shouldKeepTheLastGoodKeys(String broken) throws IOException {
        // given
        ApiKey.Fresh key = ApiKey.draw("ci", List.of("acme:read"), NOW, null);
        file().change(none -> List.of(key.kept()));
        ApiKeys keys = new ApiKeys(file(), clock::get);

        // when
        Files.writeString(path(), broken);
        clock.set(NOW.plusSeconds(5));

        // then
        assertThat(keys.find(key.secret())).isPresent();
        assertThatThrownBy(() -> new ApiKeys(file(), clock::get))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("keys.json");
    }

    @Test
    @DisplayName("a grant that cannot be read is named with its key, and two keys of one id are refused")
    void shouldNameTheBadKey() throws IOException {
        ApiKey good = ApiKey.draw("ci", List.of("acme:read"), NOW, null).kept();
        ApiKey bad = new ApiKey("k-bad", good.hash(), "ci", List.of("acme:reed"), null, null);

        file().change(none -> List.of(good, bad));
        assertThatThrownBy(() -> file().keys()).hasMessageContainingAll("k-bad", "acme:reed");
        Files.delete(path());
        file().change(none -> List.of(good, good));
        assertThatThrownBy(() -> file().keys()).hasMessageContaining("two of " + good.id());
    }

    @Test
    @DisplayName("a file of 1 MiB is read, and one byte more is refused")
    void shouldLimitTheFile() throws IOException {
        String json = "{\"keys\": []}";
        Files.writeString(path(), json + " ".repeat(ApiKeyFile.MAX_BYTES - json.length()));
        assertThat(file().keys()).isEmpty();
        Files.writeString(path(), json + " ".repeat(ApiKeyFile.MAX_BYTES - json.length() + 1));
        assertThatThrownBy(() -> file().keys()).hasMessageContaining("at most " + ApiKeyFile.MAX_BYTES);
    }

    @Test
    @DisplayName("the file is its owner's alone, and nothing is left beside it but the lock")
    void shouldKeepTheFileToItsOwner() throws IOException {
        file().change(none -> List.of());

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path())))
                .isEqualTo("rw-------");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("keys.json", "keys.json.lock");
        }
    }

    private Path path() {
        return folder.resolve("keys.json");
    }

    private ApiKeyFile file() {
        return new ApiKeyFile(path());
    }
}
