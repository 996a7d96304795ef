package dev.millrace.reflection.core;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What memory reads in a document, and where it writes: the line of its summary. */
public final class Markdown {

    private static final Pattern SUMMARY = Pattern.compile("(?m)^> Summary:[ \\t]*(.*)$");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} .*$");
    private static final int LONGEST_SUMMARY = 400;
    private static final int KILO = 1024;

    private Markdown() {}

    /** What the first line {@code > Summary:} says; empty if there is none. At most some hundred characters. */
    public static String summary(String content) {
        Matcher line = SUMMARY.matcher(content);
        if (!line.find()) {
            return "";
        }
        String summary = line.group(1).strip();
        return summary.length() <= LONGEST_SUMMARY ? summary : begin(summary, LONGEST_SUMMARY - 1) + "…";
    }

    /** The same with this summary: in place of the one that it has, else after the first heading, else at the top. */
    public static String withSummary(String content, String summary) {
        String line = "> Summary: " + summary.replaceAll("\\s+", " ").strip();
        Matcher there = SUMMARY.matcher(content);
        if (there.find()) {
            return content.substring(0, there.start()) + line + content.substring(there.end());
        }
        Matcher heading = HEADING.matcher(content);
        if (heading.find()) {
            return content.substring(0, heading.end()) + "\n\n" + line + content.substring(heading.end());
        }
        return line + "\n\n" + content;
    }

    /**
     * As many characters of its beginning, or one less if that would part a pair of surrogates, which has no UTF-8
     * form.
     */
    static String begin(String text, int characters) {
        if (text.length() <= characters) {
            return text;
        }
        boolean parts = characters > 0
                && Character.isHighSurrogate(text.charAt(characters - 1))
                && Character.isLowSurrogate(text.charAt(characters));
        return text.substring(0, parts ? characters - 1 : characters);
    }

    /** How many bytes this is as UTF-8. */
    public static long size(String content) {
        return content.codePoints()
                .mapToLong(character -> character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x1_0000 ? 3 : 4)
                .sum();
    }

    /** A size for people and models: {@code 320B}, {@code 1.2KB}. */
    public static String shownSize(long bytes) {
        return bytes < KILO ? bytes + "B" : String.format(Locale.ROOT, "%.1fKB", bytes / (double) KILO);
    }
}
