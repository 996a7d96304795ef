package dev.millrace.gateway.watch;

import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.PatternSyntaxException;

/**
 * Which paths of a folder nobody wants to hear of. A pattern without {@code /} is for each name on the way to a file,
 * one with {@code /} for the whole path below the folder.
 */
final class IgnoredPaths {

    private final List<PathMatcher> names = new ArrayList<>();
    private final List<PathMatcher> paths = new ArrayList<>();

    /**
     * These.
     *
     * @param patterns with {@code *}, {@code **}, {@code ?}, {@code [a-z]} and {@code {a,b}}
     * @throws IllegalArgumentException if one is none
     */
    IgnoredPaths(List<String> patterns) {
        for (String pattern : patterns) {
            try {
                (pattern.contains("/") ? paths : names)
                        .add(FileSystems.getDefault().getPathMatcher("glob:" + pattern));
            } catch (PatternSyntaxException e) {
                throw new IllegalArgumentException(
                        "ignore: expected patterns such as *.tmp or build/**, found " + pattern, e);
            }
        }
    }

    /** Whether this is one, or lies in one. */
    boolean has(Path below) {
        for (Path name : below) {
            if (names.stream().anyMatch(pattern -> pattern.matches(name))) {
                return true;
            }
        }
        return paths.stream().anyMatch(pattern -> pattern.matches(below));
    }
}
