package dev.millrace.schemas;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;

/**
 * A regular expression of somebody else's, in RE2's syntax: no back-references, no lookaround. A search in a text costs
 * at most the text's length times {@link #MAX_SIZE}, whatever expression and text are. Immutable.
 */
public final class LinearPattern {

    /** The longest expression, in characters; a longer one is refused. */
    public static final int MAX_LENGTH = 1_000;
    /**
     * How large an expression may be when its counted repetitions are written out, in characters and classes: {@code
     * (?:ab){100}} is 200. A larger one is refused.
     */
    public static final int MAX_SIZE = 10_000;

    private final Pattern pattern;
    private final long size;

    private LinearPattern(Pattern pattern, long size) {
        this.pattern = pattern;
        this.size = size;
    }

    /**
     * Reads an expression.
     *
     * @throws IllegalArgumentException if it is none that RE2 knows, or too large a one; the message says why
     */
    public static LinearPattern of(String regex) {
        if (regex.length() > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "expected at most " + MAX_LENGTH + " characters, found " + regex.length());
        }
        long size = new Measure(regex).size();
        if (size > MAX_SIZE) {
            throw new IllegalArgumentException(
                    "its repetitions written out are longer than " + MAX_SIZE + " characters");
        }
        try {
            return new LinearPattern(Pattern.compile(regex), size);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(e.getDescription() + ": " + e.getPattern(), e);
        }
    }

    /** How large it is, in characters and classes, with repetitions written out: 0 to {@link #MAX_SIZE}. */
    long size() {
        return size;
    }

    /** Whether a part of the text matches. What the text throws when it is read comes through. */
    public boolean isIn(CharSequence text) {
        return pattern.matcher(text).find();
    }

    /** The text with this in place of each part that matches, as it stands: no part of it refers to groups. */
    String replaced(String text, String replacement) {
        return pattern.matcher(text).replaceAll(Matcher.quoteReplacement(replacement));
    }

    /**
     * How long an expression is when its repetitions are written out: the library does so, and has no limit of its own.
     */
    private static final class Measure {

        private final String regex;
        private int at;

        private Measure(String regex) {
            this.regex = regex;
        }

        /** Of the whole, or of a group up to its end. Never less than it is; capped, so that it cannot overflow. */
        private long size() {
            long sum = 0;
            while (at < regex.length()) {
                char c = regex.charAt(at);
                if (c == ')') {
                    at++;
                    break;
                }
                sum = Math.min(sum + repeated(atom(c)), Integer.MAX_VALUE);
            }
            return sum;
        }

        private long atom(char first) {
            at++;
            switch (first) {
                case '(' -> {
                    at += regex.startsWith("?:", at) ? 2 : 0;
                    return Math.max(1, size());
                }
                case '[' -> charClass();
                case '\\' -> escape();
                default -> {}
            }
            return 1;
        }

        private void escape() {
            if (regex.startsWith("Q", at)) {
                int end = regex.indexOf("\\E", at);
                at = end < 0 ? regex.length() : end + 2;
                return;
            }
            boolean braces = regex.startsWith("p{", at) || regex.startsWith("P{", at) || regex.startsWith("x{", at);
            int end = braces ? regex.indexOf('}', at) : at;
            at = end < 0 ? regex.length() : end + 1;
        }

        /** What follows an opening bracket, up to the closing one. */
        private void charClass() {
            if (regex.startsWith("^", at)) {
                at++;
            }
            boolean first = true;
            while (at < regex.length() && (first || regex.charAt(at) != ']')) {
                first = false;
                int named = regex.startsWith("[:", at) ? regex.indexOf(":]", at + 2) : -1;
                at = named >= 0 ? named + 2 : at + (regex.charAt(at) == '\\' ? 2 : 1);
            }
            at++;
        }

        /** Takes the counted repetitions that follow, if any do. */
        private long repeated(long size) {
            long all = size;
            for (int end = endOfCount(); end > 0; end = endOfCount()) {
                int count = 1;
                for (String number : regex.substring(at + 1, end).split(",", -1)) {
                    count = Math.max(count, number.isEmpty() ? 1 : Integer.parseInt(number));
                }
                all = Math.min(all * count, Integer.MAX_VALUE);
                at = end + 1;
            }
            return all;
        }

        /** Where the brace closes that opens here; 0 if this is no count that could be meant. */
        private int endOfCount() {
            if (!regex.startsWith("{", at)) {
                return 0;
            }
            int end = at + 1;
            while (end < regex.length() && (Character.isDigit(regex.charAt(end)) || regex.charAt(end) == ',')) {
                end++;
            }
            boolean count = end < regex.length() && regex.charAt(end) == '}' && end > at + 1 && end - at < 10;
            return count ? end : 0;
        }
    }
}
