package dev.millrace.llm.scripted;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.millrace.llm.scripted.ScriptResults.Found;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A path into the turn, and what is made of what it leads to.
 *
 * @param written as it stands in the script, without braces
 * @param filters in the order in which they are applied
 */
record Placeholder(String written, List<String> path, List<Filter> filters) {

    private static final Set<String> BARE = Set.of("results", "iteration", "callId", "tools");
    private static final Pattern WHOLE = Pattern.compile("-?[0-9]{1,18}");
    /** Bounded, since a number such as 1e999999999 is short to write and long to work with. */
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,30}(?:\\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,3})?");

    /** A filter with its bar; no text can be mistaken for one, since nothing but a bar or the end may follow. */
    private static final Pattern FILTER =
            Pattern.compile("\\|\\s*(?:(number)|(json)|otherwise\\s*(?:\"([^\"]*)\"|'([^']*)'))\\s*(?=\\||}}|\\z)");

    private static final Pattern WRITTEN =
            Pattern.compile("\\{\\{(([^|]*?)((?:" + FILTER.pattern() + ")*+)(?:\\|(.*?))?)}}", Pattern.DOTALL);

    private static final Pattern WITHOUT_QUOTES = Pattern.compile("otherwise\\b.*", Pattern.DOTALL);

    sealed interface Filter {}

    /** A JSON number; what is none leads nowhere. */
    private record ToNumber() implements Filter {}

    /** The value as JSON, a text with its quotes. */
    private record ToJson() implements Filter {}

    /**
     * A text in place of nothing and of an empty text or list.
     *
     * @param ofFailed also in place of the result of a call that failed
     */
    private record Otherwise(String text, boolean ofFailed) implements Filter {}

    /** Finds the placeholders in a text, each to be given to {@link #read}. */
    static Matcher in(String text) {
        return WRITTEN.matcher(text);
    }

    /**
     * Reads a placeholder.
     *
     * @param found by {@link #in}
     * @param user the pattern whose groups {@code user.…} may name; null = none
     * @throws IllegalArgumentException if it can never lead anywhere, or a filter is none; the message says why
     */
    static Placeholder read(MatchResult found, @Nullable Pattern user) {
        String written = found.group(2).strip();
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
        List<Filter> filters = new ArrayList<>(FILTER.matcher(found.group(3))
                .results()
                .map(Placeholder::filter)
                .toList());
        // what is none of the filters is a text, up to the braces, with whatever bars and quotes it has
        String text = found.group(found.groupCount());
        if (text != null) {
            if (WITHOUT_QUOTES.matcher(text.strip()).matches()) {
                throw new IllegalArgumentException(
                        "expected otherwise \"…\" and then a bar or }}, found " + text.strip());
            }
            filters.add(new Otherwise(text.strip(), false));
        }
        return new Placeholder(found.group(1).strip(), path, List.copyOf(filters));
    }

    private static Filter filter(MatchResult found) {
        if (found.group(1) != null) {
            return new ToNumber();
        }
        if (found.group(2) != null) {
            return new ToJson();
        }
        return new Otherwise(found.group(3) == null ? found.group(4) : found.group(3), true);
    }

    private static boolean isGroup(String group, @Nullable Pattern user) {
        if (user == null) {
            return false;
        }
        return group.matches("[0-9]{1,3}")
                ? Integer.parseInt(group) <= user.matcher("").groupCount()
                : user.namedGroups().containsKey(group);
    }

    /** What it leads to in this turn. */
    JsonNode value(Turn turn, @Nullable Matcher user) throws Template.UnresolvedException {
        Found found = find(turn, user);
        String problem = "leads nowhere; there are results of: "
                + (turn.results().isEmpty() ? "no tool" : String.join(", ", turn.resultTools()));
        for (Filter filter : filters) {
            JsonNode node = found.node();
            boolean failed = found.failed();
            switch (filter) {
                case ToNumber()
                when !node.isNumber() && !node.isMissingNode() -> {
                    String text = ScriptResults.asText(node).strip();
                    found = new Found(number(text), failed);
                    problem = "expected a number, found \"" + text + '"';
                }
                case ToJson()
                when !node.isMissingNode() -> found = new Found(TextNode.valueOf(node.toString()), failed);
                case Otherwise(String text, boolean ofFailed)
                when (failed && ofFailed) || ScriptResults.asText(node).isEmpty() ->
                    found = new Found(TextNode.valueOf(text), false);
                default -> {} // there is nothing to change
            }
        }
        if (found.node().isMissingNode()) {
            throw new Template.UnresolvedException("{{" + written + "}} " + problem);
        }
        return found.node();
    }

    private static JsonNode number(String text) {
        if (WHOLE.matcher(text).matches()) {
            return LongNode.valueOf(Long.parseLong(text));
        }
        return NUMBER.matcher(text).matches() ? DecimalNode.valueOf(new BigDecimal(text)) : MissingNode.getInstance();
    }

    private Found find(Turn turn, @Nullable Matcher user) {
        return switch (path.getFirst()) {
            case "user" -> found(path.size() == 1 ? turn.user() : group(path.get(1), user));
            case "results" -> found(ScriptResults.all(turn));
            case "iteration" -> found(String.valueOf(turn.rounds() + 1));
            case "callId" -> found(turn.callId());
            case "tools" -> found(String.join(", ", turn.offered()));
            default -> ScriptResults.find(turn, path.subList(1, path.size()));
        };
    }

    private static Found found(String text) {
        return new Found(TextNode.valueOf(text), false);
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
