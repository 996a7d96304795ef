package dev.millrace.tools.files;

import dev.millrace.tool.api.ToolException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Predicate;

/** File name patterns such as {@code *.md} or {@code src/**}. */
final class Globs {

    private Globs() {}

    /**
     * Matches a path relative to the folder looked through, or its last name if the pattern has no slash.
     *
     * @param glob empty = everything
     * @throws ToolException with code {@code bad_pattern} if it is no pattern
     */
    static Predicate<Path> of(Optional<String> glob) throws ToolException {
        if (glob.isEmpty()) {
            return path -> true;
        }
        String pattern = glob.get();
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
