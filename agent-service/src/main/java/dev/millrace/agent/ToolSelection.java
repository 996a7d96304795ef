package dev.millrace.agent;

import dev.millrace.agent.approval.ToolPattern;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Which tools an agent may use: what the first list matches and the second does not.
 *
 * @param allowed in the order in which they were written; empty = none
 * @param excluded taken away again
 */
public record ToolSelection(List<ToolPattern> allowed, List<ToolPattern> excluded) {

    /** Every tool there is. */
    public static final ToolSelection ALL = new ToolSelection(List.of(ToolPattern.ALL), List.of());

    private static final String NOT = "!";

    public ToolSelection {
        allowed = List.copyOf(allowed);
        excluded = List.copyOf(excluded);
        if (allowed.isEmpty() && !excluded.isEmpty()) {
            throw new IllegalArgumentException("expected something to exclude from, such as *, found only exclusions");
        }
    }

    /**
     * Reads patterns as people write them: {@code read_file}, {@code github__*}, {@code *}, {@code !github__delete*}.
     *
     * @throws IllegalArgumentException if one is no pattern
     */
    public static ToolSelection of(List<String> patterns) {
        List<ToolPattern> allowed = new ArrayList<>();
        List<ToolPattern> excluded = new ArrayList<>();
        for (String pattern : patterns) {
            if (pattern.startsWith(NOT)) {
                excluded.add(new ToolPattern(pattern.substring(NOT.length())));
            } else {
                allowed.add(new ToolPattern(pattern));
            }
        }
        return new ToolSelection(allowed, excluded);
    }

    /** The patterns as {@link #of} reads them. */
    public List<String> patterns() {
        return Stream.concat(
                        allowed.stream().map(ToolPattern::text),
                        excluded.stream().map(pattern -> NOT + pattern.text()))
                .toList();
    }

    /** Whether this tool is one of them. */
    public boolean has(String toolName) {
        return allowed.stream().anyMatch(pattern -> pattern.matches(toolName))
                && excluded.stream().noneMatch(pattern -> pattern.matches(toolName));
    }

    /** The tools that are named one by one, so that someone can see which of them nobody serves. */
    public List<String> named() {
        return allowed.stream()
                .filter(ToolPattern::isName)
                .map(ToolPattern::text)
                .distinct()
                .toList();
    }
}
