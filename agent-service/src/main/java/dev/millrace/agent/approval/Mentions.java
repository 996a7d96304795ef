package dev.millrace.agent.approval;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The arguments that an expression mentions ({@code args.to.city}, {@code args["to"]}), and what a call has there: for
 * people who are asked because the expression has no answer.
 */
final class Mentions {

    private static final int MAX_MENTIONS = 5;
    /** Of a text, in characters. */
    private static final int MAX_SHOWN = 40;

    private static final String SEGMENT = "\\.[A-Za-z_]\\w*|\\[\"[^\"\\\\]*\"]|\\['[^'\\\\]*']";
    private static final Pattern MENTION = Pattern.compile("(?<![\\w.])args((?:" + SEGMENT + ")+)(\\s*\\()?");
    private static final Pattern SEGMENTS = Pattern.compile(SEGMENT);

    private final List<List<String>> paths;

    /** Of an expression in CEL. */
    Mentions(String expression) {
        paths = MENTION.matcher(expression)
                .results()
                .map(Mentions::path)
                .filter(path -> !path.isEmpty())
                .distinct()
                .limit(MAX_MENTIONS)
                .toList();
    }

    private static List<String> path(MatchResult mention) {
        List<String> path = new ArrayList<>();
        Matcher segments = SEGMENTS.matcher(mention.group(1));
        while (segments.find()) {
            String segment = segments.group();
            path.add(segment.startsWith(".") ? segment.substring(1) : segment.substring(2, segment.length() - 2));
        }
        if (mention.group(2) != null) {
            path.removeLast(); // the name of a function
        }
        return List.copyOf(path);
    }

    /** What a call has there, such as {@code amount is a text ("59.90")}; empty if the expression mentions nothing. */
    String in(JsonObject arguments) {
        return String.join(
                ", ", paths.stream().map(path -> words(path, arguments)).toList());
    }

    private static String words(List<String> path, JsonObject arguments) {
        String name = JsonText.cut(String.join(".", path), MAX_SHOWN);
        Object value = arguments;
        for (String segment : path) {
            if (!(value instanceof Map<?, ?> object) || !object.containsKey(segment)) {
                return name + " is not there";
            }
            value = object.get(segment);
        }
        return name + " is " + kind(value);
    }

    private static String kind(@Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case String text -> "a text (" + Json.writeText(JsonText.cut(text, MAX_SHOWN)) + ")";
            case Boolean flag -> flag.toString();
            case Number number -> "the number " + JsonText.cut(number.toString(), MAX_SHOWN);
            case List<?> list -> "a list";
            default -> "an object";
        };
    }
}
