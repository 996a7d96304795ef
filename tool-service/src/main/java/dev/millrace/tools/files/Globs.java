package dev.millrace.tools.files;

import dev.millrace.tool.api.ToolException;
import java.nio.file.Path;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** File name patterns such as {@code *.md} or {@code src/**}. */
final class Globs {

    private Globs() {}

    /**
     * Matches a path relative to the folder looked through, or its last name if the pattern has no slash.
     *
     * @param glob absent = everything
     * @throws ToolException with code {@code bad_pattern} if it is no pattern
     */
    static Predicate<Path> of(@Nullable Object glob) throws ToolException {
        if (!(glob instanceof String pattern)) {
            return path -> true;
        }
        try {
            Glob matcher = Glob.of(pattern);
            return pattern.contains("/")
                    ? path -> matcher.matches(path.toString().replace('\\', '/'))
                    : path -> matcher.matches(path.getFileName().toString());
        } catch (IllegalArgumentException e) {
            throw new ToolException(
                    "bad_pattern",
                    "expected a file name pattern such as *.md, found \"" + pattern + "\" with " + e.getMessage());
        }
    }
}
