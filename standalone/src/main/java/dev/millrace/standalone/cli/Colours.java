package dev.millrace.standalone.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Colours of a terminal, where somebody looks at one and has not said NO_COLOR. Nothing is told by a colour alone.
 *
 * @param on whether there are any
 */
public record Colours(boolean on) {

    private static final String RESET = "\u001b[0m";
    private static final String BOLD = "\u001b[1m";
    private static final String RED = "\u001b[31m";
    private static final String GREEN = "\u001b[32m";
    private static final String YELLOW = "\u001b[33m";
    private static final String BLUE = "\u001b[34m";
    private static final String GREY = "\u001b[90m";

    private static final Map<String, String> STATES = Map.ofEntries(
            Map.entry("completed", GREEN),
            Map.entry("indexed", GREEN),
            Map.entry("failed", RED),
            Map.entry("dead_letter", RED),
            Map.entry("expired", RED),
            Map.entry("reasoning", BLUE),
            Map.entry("acting", BLUE),
            Map.entry("processing", BLUE),
            Map.entry("suspended", YELLOW),
            Map.entry("pending", YELLOW),
            Map.entry("idle", GREY),
            Map.entry("cancelled", GREY),
            Map.entry("overwritten", GREY));

    private static final Pattern STATE_COLUMN = Pattern.compile("(?<=^|  )(?:STATE|STATUS)(?= |$)");
    private static final Pattern WORD = Pattern.compile("[a-z_]+");

    /** Those that this terminal may have. */
    public static Colours of(Terminal terminal) {
        return of(terminal, System.getenv("NO_COLOR"));
    }

    /** The same; {@code noColour} is what the variable says, which counts unless it is empty. */
    static Colours of(Terminal terminal, @Nullable String noColour) {
        return new Colours(terminal.live() && (noColour == null || noColour.isEmpty()));
    }

    /** Lines under a heading, which stands out; so do states in a column of that name. */
    List<String> table(List<String> lines) {
        if (!on || lines.isEmpty() || !lines.getFirst().equals(lines.getFirst().toUpperCase(Locale.ROOT))) {
            return lines;
        }
        Matcher heading = STATE_COLUMN.matcher(lines.getFirst());
        int column = heading.find() ? heading.start() : -1;
        List<String> painted = new ArrayList<>();
        painted.add(BOLD + lines.getFirst() + RESET);
        lines.subList(1, lines.size()).forEach(line -> painted.add(column < 0 ? line : state(line, column)));
        return painted;
    }

    private static String state(String line, int column) {
        Matcher word = WORD.matcher(line);
        if (column >= line.length() || !word.find(column) || word.start() != column) {
            return line;
        }
        String colour = STATES.get(word.group());
        return colour == null
                ? line
                : line.substring(0, column) + colour + word.group() + RESET + line.substring(word.end());
    }
}
