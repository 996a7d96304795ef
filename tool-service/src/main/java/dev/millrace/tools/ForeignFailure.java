package dev.millrace.tools;

import dev.millrace.tool.api.ToolException;
import java.util.regex.Pattern;

/** The "no" of servers and tools of others, which do not say whether the same may work another time. */
public final class ForeignFailure {

    private static final Pattern PASSING =
            Pattern.compile("(?i)ETIMEDOUT|ECONNRESET|ENOTFOUND|rate.?limit|\\b429\\b|\\b503\\b");

    private ForeignFailure() {}

    /** A "no" for good, or an uncertain one if its words are those of a failure that passes. */
    public static ToolException of(String code, String said) {
        return PASSING.matcher(said).find() ? ToolException.uncertain(code, said) : new ToolException(code, said);
    }
}
