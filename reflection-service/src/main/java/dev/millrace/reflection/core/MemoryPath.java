package dev.millrace.reflection.core;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.regex.Pattern;

/**
 * Where a document lies in the memory of its namespace: {@code facts/<name>.md} or {@code episodes/YYYY-MM.md}. It
 * is a key and not a place in a file system, and still nothing that could be another place there passes: what is
 * written out as files has the same paths.
 *
 * @param text in its one form
 */
public record MemoryPath(String text) implements Comparable<MemoryPath> {

    /** Where facts lie. */
    public static final String FACTS = "facts/";
    /** Where episodes lie. */
    public static final String EPISODES = "episodes/";

    private static final int LONGEST = 120;
    private static final Pattern FACT = Pattern.compile("facts/[\\p{L}\\p{N}][\\p{L}\\p{N}._ -]{0,80}\\.md");
    private static final Pattern EPISODE = Pattern.compile("episodes/[0-9]{4}-(0[1-9]|1[0-2])\\.md");
    private static final Pattern DRIVE = Pattern.compile("[A-Za-z]:.*", Pattern.DOTALL);

    /**
     * Reads what a model or a person wrote. {@code ./} and inner {@code ..} are resolved first.
     *
     * @throws MemoryException {@code path_outside_memory} if it leads out of memory, {@code bad_path} if memory has
     *     no such place
     */
    public static MemoryPath parse(String written) throws MemoryException {
        if (written.startsWith("/")
                || written.startsWith("\\")
                || written.startsWith("~")
                || DRIVE.matcher(written).matches()) {
            throw escapes(written);
        }
        Deque<String> segments = new ArrayDeque<>();
        for (String segment : written.replace('\\', '/').split("/", -1)) {
            if (segment.equals("..")) {
                if (segments.isEmpty()) {
                    throw escapes(written);
                }
                segments.removeLast();
            } else if (!segment.equals(".")) {
                segments.addLast(segment);
            }
        }
        String text = String.join("/", segments);
        if (text.length() > LONGEST
                || written.indexOf('\\') >= 0
                || !(FACT.matcher(text).matches() || EPISODE.matcher(text).matches())
                || text.contains("..")) {
            throw new MemoryException(
                    "bad_path", "expected facts/<name>.md or episodes/YYYY-MM.md, found \"" + shown(written) + "\"");
        }
        return new MemoryPath(text);
    }

    /** Whether it is one of facts; if not, it is an episode. */
    public boolean isFact() {
        return text.startsWith(FACTS);
    }

    @Override
    public int compareTo(MemoryPath other) {
        return text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }

    private static MemoryException escapes(String written) {
        return new MemoryException("path_outside_memory", "Path \"" + shown(written) + "\" escapes memory directory");
    }

    /** Without what would break a line of a log or be endless. */
    private static String shown(String written) {
        StringBuilder shown = new StringBuilder();
        written.codePoints()
                .limit(LONGEST)
                .map(character -> Character.isISOControl(character) ? '?' : character)
                .forEach(shown::appendCodePoint);
        return shown.toString();
    }
}
