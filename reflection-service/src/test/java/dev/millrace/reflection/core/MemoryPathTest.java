package dev.millrace.reflection.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryPathTest {

    @ParameterizedTest
    @CsvSource({
        "facts/user.md, facts/user.md",
        "./facts/user.md, facts/user.md",
        "facts/./user.md, facts/user.md",
        "episodes/../facts/user.md, facts/user.md",
        "episodes/2026-11.md, episodes/2026-11.md",
        "facts/Größe der Räder.md, facts/Größe der Räder.md"
    })
    @DisplayName("F-161: facts and episodes have one form")
    void shouldReadPaths(String written, String path) throws MemoryException {
        assertThat(MemoryPath.parse(written).text()).isEqualTo(path);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../x",
                "../../etc/passwd",
                "..",
                "facts/../../x.md",
                "facts/../../../facts/user.md",
                "./../facts/user.md",
                "/etc/passwd",
                "/facts/user.md",
                "//server/share/x.md",
                "\\\\server\\share\\x.md",
                "..\\x.md",
                "facts\\..\\..\\x.md",
                "C:\\x.md",
                "C:facts/user.md",
                "~/x.md",
                "~root/x.md"
            })
    @DisplayName("F-166: a path that leads out of memory is refused as such")
    void shouldRefusePathsThatEscape(String hostile) {
        assertThatThrownBy(() -> MemoryPath.parse(hostile))
                .isInstanceOfSatisfying(
                        MemoryException.class, no -> assertThat(no.code()).isEqualTo("path_outside_memory"))
                .hasMessage("Path \"" + hostile + "\" escapes memory directory");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ".",
                "facts",
                "facts/",
                "user.md",
                "facts/user.txt",
                "facts/.md",
                "facts/.hidden.md",
                "facts/a/b.md",
                "facts//user.md",
                "facts/user.md/",
                "facts/user.md@3",
                "facts/%2e%2e%2fx.md",
                "facts/us\u0000er.md",
                "facts/us\ner.md",
                "facts/a..b.md",
                "facts/\u202euser.md",
                "facts/..\\x.md",
                "other/user.md",
                "FACTS/user.md",
                "episodes/user.md",
                "episodes/2026-13.md"
            })
    @DisplayName("F-161: memory has no other places")
    void shouldRefuseOtherPaths(String hostile) {
        assertThatThrownBy(() -> MemoryPath.parse(hostile))
                .isInstanceOfSatisfying(
                        MemoryException.class, no -> assertThat(no.code()).isEqualTo("bad_path"));
    }
}
