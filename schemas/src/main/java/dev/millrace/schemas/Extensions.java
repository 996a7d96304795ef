package dev.millrace.schemas;

import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the sender of an event says about it beside what Millrace has fields for: attributes of a CloudEvent that are
 * the sender's own, such as {@code clientid} or {@code env_name}. They stay with the event; Millrace itself reads
 * those that have a name here.
 */
public final class Extensions {

    /** The most that an event keeps. */
    public static final int MAX_COUNT = 32;
    /** The longest value, in characters. */
    public static final int MAX_VALUE = 4_096;
    /** As much as names and values of one event have together, in characters. */
    public static final int MAX_CHARS = 16_384;

    /** The conversation, under the name that other systems use. */
    public static final String TRIGGER_SESSION = "triggersessionid";
    /** What the agent that looks at the event is told beside it. */
    public static final String GUIDE = "agentguide";
    /** The type under the name that the sender used, if that is an alias. */
    public static final String ALIAS = "typealias";
    /** The subject of an event that belongs to no task. */
    public static final String SUBJECT = "foreignsubject";
    /** The id under which the event was sent, if another source had used it already. */
    public static final String ORIGINAL_ID = "originalid";

    /**
     * What the requester of a call has signed it with, and whoever answers shows; taken off before anybody else sees
     * the event.
     */
    public static final String REPLY_TOKEN = "replytoken";

    /** Which version of which rule took the event; written by the task machine, whoever sent it. */
    public static final String RULE = "takenbyrule";

    private static final int MAX_NAME = 64;

    private Extensions() {}

    /** Whether this can be kept under this name; what cannot is left out of an event from a stranger. */
    public static boolean isFit(String name, String value) {
        return isName(name) && isValue(value);
    }

    /**
     * The same, sorted by name.
     *
     * @throws IllegalArgumentException if there are too many, or one cannot be kept
     */
    static Map<String, String> checked(Map<String, String> extensions) {
        if (extensions.isEmpty()) {
            return Map.of();
        }
        int chars = 0;
        for (Map.Entry<String, String> entry : extensions.entrySet()) {
            if (!isName(entry.getKey())) {
                throw new IllegalArgumentException("extensions: expected names of 1 to " + MAX_NAME
                        + " letters, digits, _, - and ., found \"" + JsonText.cut(entry.getKey(), MAX_NAME) + '"');
            }
            if (!isValue(entry.getValue())) {
                throw new IllegalArgumentException("extensions: " + entry.getKey() + ": expected 1 to " + MAX_VALUE
                        + " characters, no control characters but line ends and tabs among them, found "
                        + entry.getValue().length() + " characters");
            }
            chars += entry.getKey().length() + entry.getValue().length();
        }
        if (extensions.size() > MAX_COUNT || chars > MAX_CHARS) {
            throw new IllegalArgumentException("extensions: expected at most " + MAX_COUNT + " of together " + MAX_CHARS
                    + " characters, found " + extensions.size() + " of " + chars);
        }
        return Collections.unmodifiableMap(new TreeMap<>(extensions));
    }

    /** As many of them, by name, as an event keeps. */
    static Map<String, String> fitting(Map<String, String> offered) {
        if (offered.isEmpty()) {
            return Map.of();
        }
        Map<String, String> kept = new TreeMap<>();
        int chars = 0;
        for (Map.Entry<String, String> entry : new TreeMap<>(offered).entrySet()) {
            int more = entry.getKey().length() + entry.getValue().length();
            if (kept.size() < MAX_COUNT && chars + more <= MAX_CHARS && isFit(entry.getKey(), entry.getValue())) {
                kept.put(entry.getKey(), entry.getValue());
                chars += more;
            }
        }
        return kept;
    }

    static int chars(Map<String, String> extensions) {
        return extensions.entrySet().stream()
                .mapToInt(entry -> entry.getKey().length() + entry.getValue().length())
                .sum();
    }

    /**
     * The value of this name, whichever way it is written: {@code agent_guide}, {@code agentGuide} and
     * {@code agentguide} are one; {@code null} = there is none.
     */
    static @Nullable String find(Map<String, String> extensions, String name) {
        String exact = extensions.get(name);
        if (exact != null || extensions.isEmpty()) {
            return exact;
        }
        String wanted = squeezed(name);
        return extensions.entrySet().stream()
                .filter(entry -> squeezed(entry.getKey()).equals(wanted))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(null);
    }

    private static String squeezed(String name) {
        return name.replace("_", "").replace("-", "").toLowerCase(Locale.ROOT);
    }

    private static boolean isName(String name) {
        return !name.isEmpty()
                && name.length() <= MAX_NAME
                && name.chars().allMatch(c -> c < 128 && (Character.isLetterOrDigit(c) || "_-.".indexOf(c) >= 0));
    }

    private static boolean isValue(String value) {
        return !value.isEmpty()
                && value.length() <= MAX_VALUE
                && JsonText.wellFormed(value).equals(value)
                && value.chars().noneMatch(c -> Character.isISOControl(c) && c != '\n' && c != '\t' && c != '\r');
    }
}
