package dev.millrace.tools.skills;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A text that says how something is done.
 *
 * @param name 1 to 64 small letters, digits, {@code _} or {@code -}, a letter or digit first
 * @param description when it is of use, in one line
 * @param text all of it, without its head
 */
public record Skill(String name, String description, String text) {

    static final int MAX_DESCRIPTION = 300;

    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9_-]{0,63}");
    private static final String FENCE = "---";
    private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

    /** Whether a folder of this name may hold one. */
    static boolean isName(String name) {
        return NAME.matcher(name).matches();
    }

    /**
     * Reads one.
     *
     * @param folder the name of its folder, which is its own
     * @param file what stands in {@code SKILL.md}
     * @throws IllegalArgumentException if it is none, saying what was expected
     */
    static Skill of(String folder, String file) {
        List<String> lines = file.lines().toList();
        int end = lines.isEmpty() || !lines.getFirst().strip().equals(FENCE)
                ? -1
                : lines.subList(1, lines.size()).indexOf(FENCE);
        if (end < 0) {
            throw new IllegalArgumentException("expected a head between two lines of three dashes, found none");
        }
        JsonNode head = head(String.join("\n", lines.subList(1, end + 1)));
        String name = head.path("name").asText(folder);
        String description = head.path("description").asText("").strip();
        String text = String.join("\n", lines.subList(end + 2, lines.size())).strip();
        if (!name.equals(folder)) {
            throw new IllegalArgumentException("name: expected the folder's, " + folder + ", found " + name);
        }
        if (description.isEmpty() || description.length() > MAX_DESCRIPTION || description.contains("\n")) {
            throw new IllegalArgumentException(
                    "description: expected one line of 1 to " + MAX_DESCRIPTION + " characters");
        }
        if (text.isEmpty()) {
            throw new IllegalArgumentException("expected a text behind the head, found none");
        }
        return new Skill(name, description, text);
    }

    private static JsonNode head(String yaml) {
        try {
            return YAML.readTree(yaml);
        } catch (IOException e) {
            throw new IllegalArgumentException("the head is not YAML", e);
        }
    }
}
