package dev.millrace.requests;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NamespaceFolderTest {

    private static final Path ALL = Path.of("workspace");

    @ParameterizedTest
    @CsvSource({
        "acme, acme",
        "team-7_b, team-7_b",
        "Acme, %41cme",
        "a.b, a%2Eb",
        ".., %2E%2E",
        "../acme, %2E%2E%2Facme",
        "/etc, %2Fetc",
        "a\\b, a%5Cb",
        "%61cme, %2561cme",
        "über, %C3%BCber"
    })
    @DisplayName("a name is one folder below the one for all, whatever stands in it")
    void shouldNameAFolder(String namespace, String folder) {
        assertThat(NamespaceFolder.of(ALL, namespace)).isEqualTo(ALL.resolve(folder));
    }

    @Test
    @DisplayName("long names are as short as file systems want them, and differ where they differ")
    void shouldShortenLongNames() {
        Path one = NamespaceFolder.of(ALL, "A".repeat(199) + "1");
        Path other = NamespaceFolder.of(ALL, "A".repeat(199) + "2");

        assertThat(one).isNotEqualTo(other);
        assertThat(one.getFileName().toString()).hasSizeLessThan(201).startsWith("%-");
    }

    @Test
    @DisplayName("no two have the same, also where capital letters do not count")
    void shouldTellThemApart() {
        List<String> names = List.of("acme", "Acme", "ACME", "%41cme", "%-acme", "a-cme", "a_cme", "a cme", "");

        assertThat(names)
                .extracting(name -> NamespaceFolder.of(ALL, name).toString().toLowerCase(Locale.ROOT))
                .doesNotHaveDuplicates();
    }
}
