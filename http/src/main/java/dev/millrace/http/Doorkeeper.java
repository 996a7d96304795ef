package dev.millrace.http;

import dev.millrace.schemas.Problem;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Decides who is let in. There is no login, so what a program on this machine may do a page in this machine's browser
 * must not be able to do: a page of another origin tells where it is from (Origin, Sec-Fetch-Site), and one that has
 * had its own name point here tells that name (Host). Programs send neither, and go by the address that they name.
 */
final class Doorkeeper {

    /** Files that say the same to everybody. All else, reads as well, is for pages of this origin. */
    private static final List<String> STATIC_FILES = List.of("/q/swagger-ui/", "/console/", "/_static/");

    private static final Set<String> READS = Set.of("GET", "HEAD");
    /** What browsers say of a page's own requests, and of what a person typed in. */
    private static final Set<String> OWN_SITES = Set.of("same-origin", "none");

    private static final Pattern ORIGIN = Pattern.compile("(https?)://([^/?#@]+)", Pattern.CASE_INSENSITIVE);
    private static final int SHOWN = 200;

    private final List<Pattern> hosts;
    private final Predicate<String> origins;

    /**
     * Lets in as configured.
     *
     * @param hosts names that this server is also reached by; {@code *} stands for any text
     * @param origins which other origins' pages are let in
     */
    Doorkeeper(List<String> hosts, Predicate<String> origins) {
        this.hosts = hosts.stream().map(Doorkeeper::pattern).toList();
        this.origins = origins;
    }

    /** Why this caller is not let in; empty = it is. */
    Optional<Problem> refusal(Caller caller) {
        for (String host : caller.hosts()) {
            if (!Authority.parse(host).map(named -> isServed(named, caller)).orElse(false)) {
                return Optional.of(unknownHost(host));
            }
        }
        if (isStaticFile(caller)) {
            return Optional.empty();
        }
        for (String origin : caller.origins()) {
            if (!isOwn(origin, caller) && !origins.test(origin)) {
                return Optional.of(foreign("the header Origin", origin));
            }
        }
        // a page that is let in by its origin is of another site all the same
        for (String site : caller.fetchSites()) {
            if (!OWN_SITES.contains(site.strip().toLowerCase(Locale.ROOT))
                    && caller.origins().isEmpty()) {
                return Optional.of(foreign("the header Sec-Fetch-Site", site));
            }
        }
        return Optional.empty();
    }

    private boolean isServed(Authority named, Caller caller) {
        return named.isLoopback()
                || named.isAt(caller.localAddress())
                || hosts.stream().anyMatch(host -> host.matcher(named.host()).matches());
    }

    /** Whether the page came from here: the same host and port, in whatever scheme a proxy made of it. */
    private static boolean isOwn(String origin, Caller caller) {
        Matcher matcher = ORIGIN.matcher(origin.strip());
        if (!matcher.matches()) {
            return false;
        }
        String scheme = matcher.group(1).toLowerCase(Locale.ROOT);
        @Nullable
        Authority page = Authority.parse(matcher.group(2))
                .map(authority -> authority.in(scheme))
                .orElse(null);
        return page != null
                && !caller.hosts().isEmpty()
                && caller.hosts().stream()
                        .allMatch(host -> Authority.parse(host)
                                .map(authority -> authority.in(scheme))
                                .filter(page::equals)
                                .isPresent());
    }

    private static boolean isStaticFile(Caller caller) {
        return READS.contains(caller.method())
                && STATIC_FILES.stream().anyMatch(folder -> (caller.path() + '/').startsWith(folder));
    }

    private static Pattern pattern(String host) {
        return Pattern.compile(Arrays.stream(Authority.host(host.strip()).split("\\*", -1))
                .map(Pattern::quote)
                .collect(Collectors.joining(".*")));
    }

    private static Problem unknownHost(String host) {
        return new Problem(
                421,
                "unknown_host",
                "This is not the server of that host",
                "Host: expected localhost, the address of this server, or a name of millrace.http.allowed-hosts, found \""
                        + shown(host) + "\".",
                Map.of());
    }

    private static Problem foreign(String where, String found) {
        return Problem.of(
                403,
                "foreign_origin",
                "A web page of another origin may not do this",
                where + ": expected a page of this server, or an origin of quarkus.http.cors.origins, found \""
                        + shown(found) + "\".");
    }

    private static String shown(String text) {
        return text.codePoints()
                .limit(SHOWN)
                .map(character -> Character.isISOControl(character) ? '?' : character)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
