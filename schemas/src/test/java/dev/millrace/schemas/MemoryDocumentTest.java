package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.MemoryDocument.Refusal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryDocumentTest {

    private static final MemoryDocument DOCUMENT = new MemoryDocument(
            "acme", "facts/user.md", 3, "# Ada\n", "who", 6, "2026-01-02T03:04:05Z", "task t1", "c1");

    @ParameterizedTest
    @CsvSource({
        "acme/facts/user.md, acme, facts/user.md, ",
        "acme/facts/user.md@12, acme, facts/user.md, 12",
        "a@b/facts/user.md, a@b, facts/user.md, ",
        "a@b/facts/user.md@1, a@b, facts/user.md, 1",
        "a/, a, '', "
    })
    void shouldReadItsKeys(String key, String namespace, String path, @Nullable Long version) {
        assertThat(MemoryDocument.Key.of(key)).isEqualTo(new MemoryDocument.Key(namespace, path, version));
        assertThat(version == null ? MemoryDocument.key(namespace, path) : MemoryDocument.key(namespace, path, version))
                .isEqualTo(key);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "acme", "/facts/user.md", "acme/facts/user.md@", "acme/facts/user.md@x"})
    void shouldReadNoOtherKeys(String key) {
        assertThat(MemoryDocument.Key.of(key)).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "facts/user.md, true",
        "facts/a..b.md, false",
        "facts/.md, false",
        "episodes/2026-12.md, true",
        "episodes/2026-13.md, false",
        "other/user.md, false"
    })
    void shouldKnowItsPaths(String path, boolean valid) {
        assertThat(MemoryDocument.isPath(path)).isEqualTo(valid);
    }

    @Test
    void shouldSayHowLargeADocumentMayBe() {
        assertThat(MemoryDocument.maxBytes("facts/user.md")).isEqualTo(15_360);
        assertThat(MemoryDocument.maxBytes("episodes/2026-12.md")).isEqualTo(102_400);
    }

    @Test
    void shouldTellVersionsApartByTheirTags() {
        assertThat(DOCUMENT.tag())
                .isEqualTo(MemoryDocument.tag(3, "c1"))
                .matches("3-[0-9a-f]{8}")
                .isNotEqualTo(MemoryDocument.tag(3, "c2"));
    }

    @Test
    void shouldReadWhatItWrites() throws MalformedEventException {
        MemoryDocument read = MemoryDocument.fromJson(DOCUMENT.toJson());

        assertThat(read).isEqualTo(DOCUMENT);
        assertThat(read.updated()).isEqualTo(Instant.parse("2026-01-02T03:04:05Z"));
        assertThat(new String(DOCUMENT.toJson(), StandardCharsets.UTF_8)).doesNotContain("deleted");
    }

    @Test
    void shouldReadWhatLacksFields() throws MalformedEventException {
        MemoryDocument read = MemoryDocument.fromJson("{\"version\":2}".getBytes(StandardCharsets.UTF_8));

        assertThat(read)
                .isEqualTo(new MemoryDocument("default", "", 2, "", "", 0, Instant.EPOCH.toString(), "", "", false));
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "[]", "{", "{\"version\":\"x\"}"})
    void shouldRefuseWhatIsNoDocument(String json) {
        assertThatThrownBy(() -> MemoryDocument.fromJson(json.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOfSatisfying(
                        MalformedEventException.class, e -> assertThat(e.code()).isEqualTo("bad_definition"))
                .hasMessageStartingWith("expected a document of memory");
    }

    @ParameterizedTest
    @EnumSource(Refusal.class)
    void shouldKnowItsRefusals(Refusal refusal) {
        assertThat(Refusal.of(refusal.code())).contains(refusal);
        assertThat(Refusal.of(refusal.name())).isEmpty();
    }
}
