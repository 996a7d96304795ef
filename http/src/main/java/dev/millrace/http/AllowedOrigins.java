package dev.millrace.http;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The other origins whose pages an operator lets in, by Quarkus' own keys and in its own form:
 * {@code https://a.example}, {@code /a regular expression/}, or {@code *} for every page there is.
 */
final class AllowedOrigins implements Predicate<String> {

    private static final String ANY = "*";

    private final boolean any;
    private final Set<String> exact;
    private final List<Pattern> patterns;

    private AllowedOrigins(List<String> origins) {
        this.any = origins.contains(ANY);
        this.exact = origins.stream()
                .filter(origin -> !isPattern(origin))
                .map(AllowedOrigins::lower)
                .collect(Collectors.toUnmodifiableSet());
        this.patterns = origins.stream()
                .filter(AllowedOrigins::isPattern)
                .map(origin -> Pattern.compile(origin.substring(1, origin.length() - 1)))
                .toList();
    }

    /**
     * As configured.
     *
     * @param enabled {@code quarkus.http.cors.enabled}
     * @param origins {@code quarkus.http.cors.origins}
     */
    static AllowedOrigins of(boolean enabled, Optional<List<String>> origins) {
        return new AllowedOrigins(enabled ? origins.orElse(List.of()) : List.of());
    }

    @Override
    public boolean test(String origin) {
        return any
                || exact.contains(lower(origin))
                || patterns.stream().anyMatch(pattern -> pattern.matcher(origin).matches());
    }

    private static boolean isPattern(String origin) {
        return origin.length() > 1 && origin.startsWith("/") && origin.endsWith("/");
    }

    private static String lower(String origin) {
        return origin.toLowerCase(Locale.ROOT);
    }
}
