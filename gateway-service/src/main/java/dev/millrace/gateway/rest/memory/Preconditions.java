package dev.millrace.gateway.rest.memory;

import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.schemas.JsonObject;
import jakarta.ws.rs.core.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * {@code If-Match} and {@code If-None-Match}, as RFC 9110 has them: the first compares strongly, so that a weak tag in
 * it matches nothing, the second weakly. All our tags are strong ones.
 *
 * @param exists whether there has to be something ({@code If-Match: *}) or nothing ({@code If-None-Match: *});
 *     {@code null} = either will do
 * @param ifMatch the strong tags of {@code If-Match}, without quotes; {@code null} = none are named
 * @param ifNoneMatch the tags of {@code If-None-Match}, without quotes
 */
record Preconditions(@Nullable Boolean exists, @Nullable List<String> ifMatch, List<String> ifNoneMatch) {

    private static final int MAX_TAGS = 100;
    private static final Pattern TAG = Pattern.compile("(W/)?\"([\\x21\\x23-\\x7E\\x80-\\xFF]{0,200})\"");
    private static final Pattern LIST = Pattern.compile("[ \\t,]*" + TAG + "([ \\t]*,[ \\t,]*" + TAG + ")*[ \\t,]*");

    Preconditions {
        ifMatch = ifMatch == null ? null : List.copyOf(ifMatch);
        ifNoneMatch = List.copyOf(ifNoneMatch);
    }

    /**
     * Those of a request.
     *
     * @throws ProblemException if one cannot be read
     */
    static Preconditions of(HttpHeaders headers) {
        return of(header(headers, HttpHeaders.IF_MATCH), header(headers, HttpHeaders.IF_NONE_MATCH));
    }

    /** Those of these two headers; {@code null} = there is none. */
    static Preconditions of(@Nullable String match, @Nullable String noneMatch) {
        boolean something = "*".equals(match);
        boolean nothing = "*".equals(noneMatch);
        @Nullable Boolean exists = something ? Boolean.TRUE : nothing ? Boolean.FALSE : null;
        // something that has to be there and must not: no tag is one of none
        List<String> impossible = List.of();
        return new Preconditions(
                exists,
                something && nothing
                        ? impossible
                        : match == null || something ? null : tags(HttpHeaders.IF_MATCH, match, false),
                noneMatch == null || nothing ? List.of() : tags(HttpHeaders.IF_NONE_MATCH, noneMatch, true));
    }

    /** A tag as a header has it. */
    static String quoted(String tag) {
        return '"' + tag + '"';
    }

    /** Whether {@code If-Match} is content with what is there. */
    boolean match(String tag) {
        return ifMatch == null || ifMatch.contains(tag);
    }

    /** Whether {@code If-None-Match} names what is there: the client has it already. */
    boolean known(String tag) {
        return Boolean.FALSE.equals(exists) || ifNoneMatch.contains(tag);
    }

    /** Adds them to the payload of an edit, for the one writer to judge. */
    void addTo(JsonObject.Builder payload) {
        payload.putIfPresent("exists", exists)
                .putIfPresent("ifMatch", ifMatch)
                .putIfPresent("ifNoneMatch", ifNoneMatch.isEmpty() ? null : ifNoneMatch);
    }

    private static @Nullable String header(HttpHeaders headers, String name) {
        List<String> lines = headers.getRequestHeader(name);
        return lines == null || lines.isEmpty() ? null : String.join(",", lines).strip();
    }

    private static List<String> tags(String name, String text, boolean weakToo) {
        if (!LIST.matcher(text).matches()) {
            throw ProblemException.badParameter(name, "* or entity tags such as \"3-9f2c41d7\"", text);
        }
        List<String> tags = new ArrayList<>();
        Matcher tag = TAG.matcher(text);
        while (tag.find()) {
            if (weakToo || tag.group(1) == null) {
                tags.add(tag.group(2));
            }
        }
        if (tags.size() > MAX_TAGS) {
            throw ProblemException.badParameter(name, "at most " + MAX_TAGS + " entity tags", tags.size() + " of them");
        }
        return tags;
    }
}
