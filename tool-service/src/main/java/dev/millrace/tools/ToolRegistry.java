package dev.millrace.tools;

import dev.millrace.schemas.ToolDefinition;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The tools of this service, by name. Immutable. */
public final class ToolRegistry {

    private static final int MAX_DISTANCE = 2;
    private static final int LONGEST_COMPARED = 64;

    private final Map<String, Tool> tools = new TreeMap<>();

    /**
     * A registry of these tools.
     *
     * @throws IllegalArgumentException if two have the same name (F-159)
     */
    public ToolRegistry(Collection<Tool> tools) {
        for (Tool tool : tools) {
            String name = tool.definition().name();
            if (this.tools.putIfAbsent(name, tool) != null) {
                throw new IllegalArgumentException("Tool \"" + name + "\" is registered twice");
            }
        }
    }

    /** The tool with this name. */
    public Optional<Tool> find(String name) {
        return Optional.ofNullable(tools.get(name));
    }

    /** What models are told, by name. */
    public List<ToolDefinition> definitions() {
        return tools.values().stream().map(Tool::definition).toList();
    }

    /** A name that the caller may have meant: nearly the same letters, or one name holds the other. */
    Optional<String> similar(String name) {
        String asked = bare(name);
        if (asked.length() < 3 || asked.length() > LONGEST_COMPARED) {
            return Optional.empty();
        }
        return tools.keySet().stream()
                .filter(known -> distance(bare(known), asked) <= MAX_DISTANCE
                        || bare(known).contains(asked)
                        || asked.contains(bare(known)))
                .min(Comparator.comparingInt(known -> distance(bare(known), asked)));
    }

    /** How many letters have to be put in, taken out, changed or swapped with their neighbour. */
    private static int distance(String from, String to) {
        int[][] steps = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                if (i == 0 || j == 0) {
                    steps[i][j] = i + j;
                    continue;
                }
                int change = from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1;
                steps[i][j] = Math.min(Math.min(steps[i - 1][j], steps[i][j - 1]) + 1, steps[i - 1][j - 1] + change);
                if (i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    steps[i][j] = Math.min(steps[i][j], steps[i - 2][j - 2] + 1);
                }
            }
        }
        return steps[from.length()][to.length()];
    }

    private static String bare(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
    }
}
