package dev.millrace.llm.scripted;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A text with {@code {{paths}}} into the turn. */
final class Template {

    private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\{(.*?)}}", Pattern.DOTALL);
    private static final Set<String> BARE = Set.of("results", "iteration", "callId", "tools");

    private final List<Part> parts;

    private Template(List<Part> parts) {
        this.parts = parts;
    }

    private sealed interface Part {}

    private record Literal(String text) implements Part {}

    /** A path, and what stands in for it where it leads nowhere or to an empty text or list; null = nothing does. */
    private record Placeholder(List<String> path, @Nullable String otherwise) implements Part {
        String written() {
            return "{{" + String.join(".", path) + "}}";
        }
    }

    /** A placeholder that leads nowhere; the message says which and why. */
    static final class UnresolvedException extends Exception {
        UnresolvedException(String message) {
            super(message);
        }
    }

    /**
     * Reads a template.
     *
     * @param user the pattern whose groups {@code user.…} may name; null = none
     * @throws IllegalArgumentException if a placeholder can never lead anywhere; the message says why
     */
    static Template parse(String text, @Nullable Pattern user) {
        List<Part> parts = new ArrayList<>();
        Matcher matcher = PLACEHOLDER.matcher(text);
        int from = 0;
        while (matcher.find()) {
            if (matcher.start() > from) {
                parts.add(new Literal(text.substring(from, matcher.start())));
            }
            parts.add(placeholder(matcher.group(1), user));
            from = matcher.end();
        }
        if (from < text.length() || parts.isEmpty()) {
            parts.add(new Literal(text.substring(from)));
        }
        return new Template(List.copyOf(parts));
    }

    /** A text that says what it says, whatever braces it has. */
    static Template literal(String text) {
        return new Template(List.of(new Literal(text)));
    }

    private static Placeholder placeholder(String inner, @Nullable Pattern user) {
        int bar = inner.indexOf('|');
        String written = (bar < 0 ? inner : inner.substring(0, bar)).strip();
        String otherwise = bar < 0 ? null : inner.substring(bar + 1).strip();
        List<String> path = List.of(written.split("\\.", -1));
        boolean known = path.stream().noneMatch(String::isEmpty)
                && switch (path.getFirst()) {
                    case "user" -> path.size() == 1 || (path.size() == 2 && isGroup(path.get(1), user));
                    case "result" -> true;
                    default -> path.size() == 1 && BARE.contains(path.getFirst());
                };
        if (!known) {
            throw new IllegalArgumentException("expected {{user}}, {{user.<group of the rule's user pattern>}}, "
                    + "{{result}}, {{result.<tool>}}, {{result.<tool>.<path>}}, {{results}}, {{iteration}}, {{tools}} or "
                    + "{{callId}}, found {{" + written + "}}");
        }
        return new Placeholder(path, otherwise);
    }

    private static boolean isGroup(String group, @Nullable Pattern user) {
        if (user == null) {
            return false;
        }
        return group.matches("[0-9]{1,3}")
                ? Integer.parseInt(group) <= user.matcher("").groupCount()
                : user.namedGroups().containsKey(group);
    }

    /** The text with everything filled in. */
    String render(Turn turn, @Nullable Matcher user) throws UnresolvedException {
        StringBuilder out = new StringBuilder();
        for (Part part : parts) {
            switch (part) {
                case Literal(String text) -> out.append(text);
                case Placeholder placeholder -> out.append(ScriptResults.asText(resolve(placeholder, turn, user)));
            }
        }
        return out.toString();
    }

    /** As {@link #render}, except that a template that is one placeholder keeps the JSON type of what it leads to. */
    JsonNode value(Turn turn, @Nullable Matcher user) throws UnresolvedException {
        if (parts.size() == 1 && parts.getFirst() instanceof Placeholder only) {
            return resolve(only, turn, user);
        }
        return TextNode.valueOf(render(turn, user));
    }

    private static JsonNode resolve(Placeholder placeholder, Turn turn, @Nullable Matcher user)
            throws UnresolvedException {
        List<String> path = placeholder.path();
        JsonNode found =
                switch (path.getFirst()) {
                    case "user" -> TextNode.valueOf(path.size() == 1 ? turn.user() : group(path.get(1), user));
                    case "results" -> TextNode.valueOf(ScriptResults.all(turn));
                    case "iteration" -> TextNode.valueOf(String.valueOf(turn.rounds() + 1));
                    case "callId" -> TextNode.valueOf(turn.callId());
                    case "tools" -> TextNode.valueOf(String.join(", ", turn.offered()));
                    default -> ScriptResults.find(turn, path.subList(1, path.size()));
                };
        String otherwise = placeholder.otherwise();
        if (otherwise != null && ScriptResults.asText(found).isEmpty()) {
            return TextNode.valueOf(otherwise);
        }
        if (!(found instanceof MissingNode)) {
            return found;
        }
        throw new UnresolvedException(placeholder.written() + " leads nowhere; there are results of: "
                + (turn.results().isEmpty() ? "no tool" : String.join(", ", turn.resultTools())));
    }

    /** Empty for a group that took no part in the match. */
    private static String group(String group, @Nullable Matcher user) {
        if (user == null) {
            return "";
        }
        String text = Character.isDigit(group.charAt(0)) ? user.group(Integer.parseInt(group)) : user.group(group);
        return text == null ? "" : text;
    }
}
