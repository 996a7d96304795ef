package dev.millrace.gateway.access;

import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonText;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A permission in a namespace, written {@code acme:read}; {@code *} stands for all of either.
 *
 * @param namespace {@code *} = every one
 * @param permission {@code null} = each
 */
public record Grant(String namespace, @Nullable Permission permission) {

    /** All of either. */
    public static final String ALL = "*";

    private static final int SHOWN = 100;

    /**
     * Reads one.
     *
     * @throws IllegalArgumentException that says what was expected and found
     */
    public static Grant parse(String text) {
        return of(text).orElseThrow(() -> new IllegalArgumentException(
                "expected a grant such as acme:read, acme:* or *:*, of read, write, approve, memory and admin, found \""
                        + JsonText.cut(text, SHOWN) + '"'));
    }

    /** The same; empty if it is none. */
    static Optional<Grant> of(String text) {
        int colon = text.lastIndexOf(':');
        String namespace = colon < 0 ? "" : text.substring(0, colon);
        String word = text.substring(colon + 1);
        if (namespace.isBlank()
                || namespace.length() > Ids.MAX_LENGTH
                || namespace.chars().anyMatch(c -> c == '/' || Character.isISOControl(c))) {
            return Optional.empty();
        }
        return word.equals(ALL)
                ? Optional.of(new Grant(namespace, null))
                : Permission.of(word).map(permission -> new Grant(namespace, permission));
    }

    boolean covers(String wanted, Permission permitted) {
        return (namespace.equals(ALL) || namespace.equals(wanted)) && (permission == null || permission == permitted);
    }

    @Override
    public String toString() {
        return namespace + ':' + (permission == null ? ALL : permission.word());
    }
}
