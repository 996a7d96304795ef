package dev.millrace.agent.rules;

/**
 * Which types of events a rule is for.
 *
 * @param text a name, {@code x.*} for every name that begins with {@code x.}, or {@code *} for all
 */
public record TypePattern(String text) {

    private static final int MAX = 256;

    /** How narrow a pattern is; of rules of equal priority the narrower one goes first. */
    public enum Width {
        /** One type. */
        EXACT,
        /** All that begin alike. */
        PREFIX,
        /** All. */
        ALL
    }

    /**
     * Checks that it is one.
     *
     * @throws IllegalArgumentException that says what was expected and found
     */
    public TypePattern {
        String name = text.equals("*") ? "x" : text.endsWith(".*") ? text.substring(0, text.length() - 2) : text;
        if (name.isBlank() || text.length() > MAX || name.indexOf('*') >= 0) {
            throw new IllegalArgumentException(
                    "expected the name of a type, a beginning such as session.*, or *, found \"" + text + '"');
        }
    }

    /** Whether it is for events of this type. */
    boolean matches(String type) {
        return switch (width()) {
            case EXACT -> text.equals(type);
            case PREFIX -> type.startsWith(text.substring(0, text.length() - 1));
            case ALL -> true;
        };
    }

    /** How narrow it is. */
    public Width width() {
        return text.equals("*") ? Width.ALL : text.endsWith(".*") ? Width.PREFIX : Width.EXACT;
    }
}
