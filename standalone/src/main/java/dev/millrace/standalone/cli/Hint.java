package dev.millrace.standalone.cli;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Commands that work when a person pastes them into a shell of their own, whatever ids and URLs are like. */
public final class Hint {

    static final URI DEFAULT_URL = URI.create("http://localhost:8080");
    static final String URL_VARIABLE = "MILLRACE_URL";

    /** Set by the launcher script to how it was called. */
    private static final String LAUNCHER = "millrace.launcher";

    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_./:@%+,=-]+");

    private Hint() {}

    /**
     * A command for the Millrace at this URL, which is left out only where it is found without. What takes options as
     * well may be written behind it.
     */
    public static String of(URI url, String... words) {
        List<String> all = new ArrayList<>(List.of(words));
        if (!url.equals(DEFAULT_URL) || System.getenv(URL_VARIABLE) != null) {
            all.add("--url");
            all.add(url.toString());
        }
        return local(all.toArray(String[]::new));
    }

    /** A command that asks nobody, such as {@code up}. */
    public static String local(String... words) {
        StringBuilder command = new StringBuilder(quoted(System.getProperty(LAUNCHER, "./millrace")));
        for (String word : words) {
            command.append(' ').append(quoted(word));
        }
        return command.toString();
    }

    private static String quoted(String word) {
        return PLAIN.matcher(word).matches() ? word : '\'' + word.replace("'", "'\\''") + '\'';
    }
}
