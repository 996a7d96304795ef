package dev.millrace.http.guarded;

import java.util.Arrays;
import java.util.regex.Pattern;

/** Host names such as {@code api.example.com} or {@code *.example.com}; {@code *} stands for any text. */
public final class HostPattern {

    private final Pattern pattern;

    /** A pattern; upper and lower case are the same. */
    public HostPattern(String hosts) {
        String regex = Arrays.stream(hosts.split("\\*", -1))
                .map(Pattern::quote)
                .reduce((before, after) -> before + ".*" + after)
                .orElse("");
        this.pattern = Pattern.compile(regex, Pattern.CASE_INSENSITIVE);
    }

    /** Whether this is such a host. */
    public boolean matches(String host) {
        return pattern.matcher(host).matches();
    }
}
