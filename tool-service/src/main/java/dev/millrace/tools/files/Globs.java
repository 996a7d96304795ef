package dev.millrace.tools.files;

import dev.millrace.tools.ToolException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.function.Predicate;
import java.util.regex.PatternSyntaxException;
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
            PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + pattern);
            return pattern.contains("/") ? matcher::matches : path -> matcher.matches(path.getFileName());
        } catch (PatternSyntaxException e) {
            throw new ToolException(
                    "bad_pattern",
                    "expected a file name pattern such as *.md, found \"" + pattern + "\": " + e.getDescription());
        }
    }
}
