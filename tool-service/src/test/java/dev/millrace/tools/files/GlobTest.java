package dev.millrace.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.time.Duration;
import java.util.Random;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GlobTest {

    private static final int CASES = 200_000;

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '\0', textBlock = """
                    *.md ; notes.md ; true
                    *.md ; .md ; true
                    *.md ; docs/notes.md ; false
                    **.md ; docs/notes.md ; true
                    src/** ; src/a/b ; true
                    src/** ; src ; false
                    ?at ; cat ; true
                    ?at ; /at ; false
                    ?.md ; 𝄞.md ; true
                    [a-c]x ; bx ; true
                    [!a-c]x ; bx ; false
                    [!a-c]x ; dx ; true
                    [!a-c]x ; /x ; false
                    [^a] ; ^ ; true
                    [-a] ; - ; true
                    [a-] ; - ; true
                    *.{md,t?} ; a.ts ; true
                    *.{md,t?} ; a.t ; false
                    {,a}b ; b ; true
                    {a*,b}c ; axxc ; true
                    \\* ; * ; true
                    \\* ; a ; false
                    a}b,c ; a}b,c ; true
                    (a|b) ; (a|b) ; true
                    """)
    void shouldMatch(String pattern, String text, boolean expected) {
        assertThat(Glob.of(pattern).matches(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"[", "[a", "[]", "[!]", "[a/b]", "[b-a]", "[--a]", "{a", "{a,{b}}", "a\\"})
    void shouldRefuseWhatIsNoPattern(String pattern) {
        assertThatThrownBy(() -> Glob.of(pattern)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldMatchLikeTheJdk() {
        // given
        Random random = new Random(14);
        // then
        for (int i = 0; i < CASES; i++) {
            String pattern = text(random, "ab/*?[]{},!-\\.", 8);
            String text = text(random, "ab/.-", 6);
            PathMatcher jdk = jdk(pattern);
            Path path = Path.of(text);
            // the JDK makes something else of a hyphen before the closing bracket
            if (jdk != null
                    && !pattern.matches(".*-].*")
                    && !text.isEmpty()
                    && path.toString().equals(text)) {
                assertThat(Glob.of(pattern).matches(text))
                        .as("case %s: %s matches %s", i, pattern, text)
                        .isEqualTo(jdk.matches(path));
            }
        }
    }

    private static @Nullable PathMatcher jdk(String pattern) {
        try {
            return FileSystems.getDefault().getPathMatcher("glob:" + pattern);
        } catch (PatternSyntaxException e) {
            return null;
        }
    }

    private static String text(Random random, String characters, int longest) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(longest + 1); i > 0; i--) {
            text.append(characters.charAt(random.nextInt(characters.length())));
        }
        return text.toString();
    }

    @Test
    void shouldTakeNoLongerForATrap() {
        // given
        Glob trap = Glob.of("*a".repeat(249) + "*b");
        String text = "a".repeat(4_096);
        long start = System.nanoTime();
        // then
        assertThat(trap.matches(text)).isFalse();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }
}
