package dev.millrace.agent.files;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Takes values out of one object of a definition; every complaint names the key, what was expected and what was found.
 */
final class DefinitionFields {

    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})\\s*(ms|s|m|h|d)");

    private final JsonObject values;
    private final Map<String, Integer> lines;
    private final String path;

    /** The whole object; {@code lines} says where its keys stand, as far as that is known. */
    DefinitionFields(JsonObject values, Map<String, Integer> lines) {
        this(values, lines, "");
    }

    private DefinitionFields(JsonObject values, Map<String, Integer> lines, String path) {
        this.values = values;
        this.lines = lines;
        this.path = path;
    }

    /** Complains about a key that is none of these. */
    void allowOnly(String... known) throws InvalidAgentException {
        Set<String> names = new TreeSet<>(Set.of(known));
        for (String key : values.keySet()) {
            if (!names.contains(key)) {
                throw new InvalidAgentException(
                        where(key) + path + key + ": expected one of " + String.join(", ", names) + ", found this key");
            }
        }
    }

    /** Complains about any key. */
    void allowNone() throws InvalidAgentException {
        for (String key : values.keySet()) {
            throw new InvalidAgentException(where(key) + path + key + ": expected nothing here, found this key");
        }
    }

    Set<String> keys() {
        return values.keySet();
    }

    JsonObject values() {
        return values;
    }

    @Nullable
    Object raw(String key) {
        return values.get(key);
    }

    @Nullable
    String text(String key) throws InvalidAgentException {
        Object value = values.get(key);
        if (value == null) {
            return null;
        }
        if (value instanceof String text && !text.isBlank()) {
            return text.strip();
        }
        throw wrong(key, "a text");
    }

    @Nullable
    Long whole(String key) throws InvalidAgentException {
        Object value = values.get(key);
        if (value == null) {
            return null;
        }
        if ((value instanceof Integer || value instanceof Long) && ((Number) value).longValue() >= 1) {
            return ((Number) value).longValue();
        }
        throw wrong(key, "a whole number, 1 or more");
    }

    @Nullable
    Integer small(String key) throws InvalidAgentException {
        Long value = whole(key);
        if (value != null && value > Integer.MAX_VALUE) {
            throw wrong(key, "at most " + Integer.MAX_VALUE);
        }
        return value == null ? null : value.intValue();
    }

    @Nullable
    BigDecimal number(String key, BigDecimal min, BigDecimal max) throws InvalidAgentException {
        Object value = values.get(key);
        if (value == null) {
            return null;
        }
        if (value instanceof Number number) {
            BigDecimal exact = new BigDecimal(number.toString());
            if (exact.compareTo(min) >= 0 && exact.compareTo(max) <= 0) {
                return exact;
            }
        }
        throw wrong(key, "a number from " + min.toPlainString() + " to " + max.toPlainString());
    }

    boolean flag(String key) throws InvalidAgentException {
        Object value = values.get(key);
        if (value == null) {
            return false;
        }
        if (value instanceof Boolean flag) {
            return flag;
        }
        throw wrong(key, "true or false");
    }

    /** Such as {@code 500ms}, {@code 30s}, {@code 10m}, {@code 24h}, {@code 7d}; in milliseconds, 1 or more. */
    @Nullable
    Long durationMs(String key) throws InvalidAgentException {
        Object value = values.get(key);
        if (value == null) {
            return null;
        }
        if (value instanceof String text) {
            Matcher matcher = DURATION.matcher(text.strip());
            if (matcher.matches()) {
                long amount = Long.parseLong(matcher.group(1));
                Duration duration =
                        switch (matcher.group(2)) {
                            case "ms" -> Duration.ofMillis(amount);
                            case "s" -> Duration.ofSeconds(amount);
                            case "m" -> Duration.ofMinutes(amount);
                            case "h" -> Duration.ofHours(amount);
                            default -> Duration.ofDays(amount);
                        };
                if (duration.isPositive()) {
                    return duration.toMillis();
                }
            }
        }
        throw wrong(key, "a time such as 30s, 10m, 24h or 7d");
    }

    /** A list of texts, or one text with commas; {@code null} if there is neither. */
    @Nullable
    List<String> texts(String key) throws InvalidAgentException {
        Object value = values.get(key);
        if (value == null) {
            return null;
        }
        List<String> texts = new ArrayList<>();
        if (value instanceof String one) {
            for (String part : one.split(",", -1)) {
                texts.add(part.strip());
            }
        } else if (value instanceof List<?> list && list.stream().allMatch(String.class::isInstance)) {
            list.forEach(item -> texts.add(((String) item).strip()));
        } else {
            throw wrong(key, "a list of texts");
        }
        if (texts.stream().anyMatch(String::isEmpty)) {
            throw wrong(key, "a list of texts, none of them empty");
        }
        return texts;
    }

    /** An object; one without fields if there is none. */
    DefinitionFields object(String key) throws InvalidAgentException {
        Object value = values.get(key);
        if (value == null) {
            return new DefinitionFields(JsonObject.empty(), lines, path + key + '.');
        }
        if (value instanceof JsonObject inner) {
            return new DefinitionFields(inner, lines, path + key + '.');
        }
        throw wrong(key, "keys and values");
    }

    InvalidAgentException wrong(String key, String expected) {
        Object value = values.get(key);
        return complaint(
                key, "expected " + expected + ", found " + (value == null ? "nothing" : cut(Json.writeText(value))));
    }

    /** A complaint about a key in words of one's own. */
    InvalidAgentException complaint(String key, @Nullable String words) {
        return new InvalidAgentException(where(key) + path + key + ": " + words);
    }

    private String where(String key) {
        Integer line = lines.get(path + key);
        return line == null ? "" : "line " + line + ": ";
    }

    private static String cut(String text) {
        return text.length() <= 100 ? text : text.substring(0, 100) + "…";
    }
}
