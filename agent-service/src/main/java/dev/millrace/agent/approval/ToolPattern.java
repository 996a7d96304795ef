package dev.millrace.agent.approval;

import java.util.regex.Pattern;

/**
 * Names of tools: one name, all that begin alike ({@code server__*}), or all ({@code *}).
 *
 * @param text as it was written
 */
public record ToolPattern(String text) implements Comparable<ToolPattern> {

    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9_-]{1,64}|[A-Za-z0-9_-]{0,63}\\*");

    /** Every tool. */
    public static final ToolPattern ALL = new ToolPattern("*");

    public ToolPattern {
        if (!FORM.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "expected the name of a tool (letters, digits, '_', '-'), the beginning of one and *, or *, found \""
                            + text + "\"");
        }
    }

    /** Whether this is one of them. */
    public boolean matches(String toolName) {
        return isName() ? toolName.equals(text) : toolName.startsWith(text.substring(0, text.length() - 1));
    }

    /** Whether this is the name of one tool. */
    public boolean isName() {
        return !text.endsWith("*");
    }

    /** The more particular goes first: names, then longer beginnings, then shorter ones. */
    @Override
    public int compareTo(ToolPattern other) {
        if (isName() != other.isName()) {
            return isName() ? -1 : 1;
        }
        int byLength = Integer.compare(other.text.length(), text.length());
        return byLength != 0 ? byLength : text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }
}
