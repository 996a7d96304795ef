package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What is limited stands in {@code limits.txt}, a line each: what, where its number is found, its unit, and what happens at it.
 * The numbers are those of the code: of a constant ({@code class#FIELD}), or the default of a key ({@code key:…}).
 */
class LimitsDocTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "limits.md");
    private static final Path ROWS = Path.of("src", "test", "resources", "limits.txt");
    private static final String KEY = "key:";
    private static final String RULE = "=";

    @Test
    @DisplayName("docs/limits.md says what the code does")
    void shouldListLimits() throws Exception {
        String written = document();
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.writeString(DOCUMENT, written);
        }

        assertThat(Files.readString(DOCUMENT))
                .as("docs/limits.md is stale; write it anew with -Dmillrace.docs.write=true")
                .isEqualTo(written);
    }

    private static String document() throws IOException, ReflectiveOperationException {
        Map<String, String> keys = OperationsDocTest.keys();
        StringBuilder text = new StringBuilder("""
                # Limits

                What is bounded, and what happens at the bound. The file is written from the code (`LimitsDocTest`); keys are explained in
                [operations](operations.md), codes in [events](events.md#codes).
                """);
        for (String line :
                Files.readString(ROWS, StandardCharsets.UTF_8).lines().toList()) {
            if (line.startsWith("## ")) {
                text.append('\n').append(line).append("\n\n| what | limit | key | at it |\n|---|---|---|---|\n");
                continue;
            }
            String[] cells = line.split("\\|", -1);
            String place = cells[1];
            boolean isKey = place.startsWith(KEY);
            String key = isKey ? place.substring(KEY.length()) : "";
            String limit =
                    isKey ? keys.get(key) : place.startsWith(RULE) ? place.substring(RULE.length()) : constant(place);
            assertThat(limit).as(place).isNotNull();
            text.append("| %s | %s | %s | %s |\n"
                    .formatted(cells[0], (limit + ' ' + cells[2]).strip(), isKey ? '`' + key + '`' : "", cells[3]));
        }
        return text.toString();
    }

    private static String constant(String place) throws ReflectiveOperationException {
        String[] parts = place.split("#", -1);
        Field field = Class.forName(parts[0]).getDeclaredField(parts[1]);
        field.setAccessible(true);
        return switch (field.get(null)) {
            case Duration duration -> duration.toSeconds() + " s";
            case Number number ->
                String.format(Locale.ROOT, "%,d", number.longValue()).replace(',', ' ');
            case null, default -> throw new IllegalStateException("expected a number at " + place);
        };
    }
}
