package dev.millrace.tools.files;

import com.google.re2j.Pattern;
import dev.millrace.tool.api.ToolException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A file name pattern as the JDK has them: {@code *} is any text within a name, {@code **} any text, {@code ?} one
 * character, {@code [a-z]} and {@code [!a-z]} one of some or none of some, {@code {a,b}} one or the other, {@code \\}
 * takes the meaning of what follows. A match costs at most the length of the text times that of the pattern, whatever
 * they are; the JDK's own matcher may take for ever. Immutable.
 */
final class Glob {

    private final Pattern regex;

    private Glob(String regex) {
        this.regex = Pattern.compile(regex, Pattern.DOTALL);
    }

    /**
     * Reads a pattern.
     *
     * @throws IllegalArgumentException if it is none; the message says why
     */
    static Glob of(String pattern) {
        return new Glob(new Reader(pattern).read());
    }

    /**
     * Matches a path relative to the folder looked through, or its last name if the pattern has no slash.
     *
     * @param glob empty = everything
     * @throws ToolException with code {@code bad_pattern} if it is no pattern
     */
    static Predicate<Path> filter(Optional<String> glob) throws ToolException {
        if (glob.isEmpty()) {
            return path -> true;
        }
        String pattern = glob.get();
        try {
            Glob matcher = of(pattern);
            return pattern.contains("/")
                    ? path -> matcher.matches(path.toString().replace('\\', '/'))
                    : path -> matcher.matches(path.getFileName().toString());
        } catch (IllegalArgumentException e) {
            throw new ToolException(
                    "bad_pattern",
                    "expected a file name pattern such as *.md, found \"" + pattern + "\" with " + e.getMessage());
        }
    }

    /** Whether the whole text fits; names in it are divided by {@code /}. */
    boolean matches(String text) {
        return regex.matches(text);
    }

    /** Makes a regular expression of a pattern. */
    private static final class Reader {

        private static final int END = -1;

        private final int[] pattern;
        private final StringBuilder regex = new StringBuilder();
        private int at;

        private Reader(String pattern) {
            this.pattern = pattern.codePoints().toArray();
        }

        private String read() {
            boolean group = false;
            while (at < pattern.length) {
                int character = pattern[at++];
                if (character == '{') {
                    if (group) {
                        throw new IllegalArgumentException("a { within another one");
                    }
                    group = true;
                    regex.append("(?:");
                } else if (group && character == '}') {
                    group = false;
                    regex.append(')');
                } else if (group && character == ',') {
                    regex.append('|');
                } else {
                    step(character);
                }
            }
            if (group) {
                throw new IllegalArgumentException("a { without a }");
            }
            return regex.toString();
        }

        private int peek() {
            return at < pattern.length ? pattern[at] : END;
        }

        private void step(int character) {
            switch (character) {
                case '\\' -> {
                    if (peek() == END) {
                        throw new IllegalArgumentException("nothing after the last \\");
                    }
                    regex.append(literal(pattern[at++]));
                }
                case '[' -> oneOfSome();
                case '?' -> regex.append("[^/]");
                case '*' -> {
                    boolean any = peek() == '*';
                    at += any ? 1 : 0;
                    regex.append(any ? ".*" : "[^/]*");
                }
                default -> regex.append(literal(character));
            }
        }

        /** What follows an opening bracket. No slash is one of them. */
        private void oneOfSome() {
            boolean others = peek() == '!';
            at += others ? 1 : 0;
            regex.append(others ? "[^/" : "[");
            int begun = at;
            int last = END;
            for (; peek() != ']'; at++) {
                int character = peek();
                if (character == END) {
                    throw new IllegalArgumentException("a [ without a ]");
                }
                if (character == '/') {
                    throw new IllegalArgumentException("a / within [ ]");
                }
                boolean range = character == '-' && at > begun && at + 1 < pattern.length && pattern[at + 1] != ']';
                if (range) {
                    range(last, pattern[++at]);
                    last = END;
                } else {
                    regex.append(literal(character));
                    last = character == '-' ? END : character;
                }
            }
            if (at == begun) {
                throw new IllegalArgumentException("nothing within [ ]");
            }
            at++;
            regex.append(']');
        }

        private void range(int from, int to) {
            if (from == END || to < from || to == '/') {
                throw new IllegalArgumentException("a range without a beginning and an end");
            }
            if (from < '/' && to > '/') {
                range(from, '/' - 1);
                range('/' + 1, to);
            } else {
                regex.append(literal(from)).append('-').append(literal(to));
            }
        }

        private static String literal(int character) {
            return "\\x{" + Integer.toHexString(character) + "}";
        }
    }
}
