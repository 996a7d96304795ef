package dev.millrace.gateway.access;

import dev.millrace.schemas.Event;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who is known, with what they may do.
 *
 * @param principal who, for events and the history; 1 to 256 characters, no control characters
 * @param grants may be empty: somebody who is known and may do nothing
 */
public record Identity(String principal, List<Grant> grants) {

    /** The longest principal, in characters. */
    public static final int MAX_PRINCIPAL = 256;

    public Identity {
        if (principal.isBlank()
                || principal.length() > MAX_PRINCIPAL
                || principal
                        .codePoints()
                        .anyMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE)) {
            throw new IllegalArgumentException(
                    "principal: expected 1 to " + MAX_PRINCIPAL + " characters that are not all blank");
        }
        grants = List.copyOf(grants);
    }

    /** Whether this is permitted there; {@code *} = everywhere. */
    public boolean may(String namespace, Permission permission) {
        return grants.stream().anyMatch(grant -> grant.covers(namespace, permission));
    }

    /** Whether this is permitted in all namespaces, those to come included. */
    public boolean mayEverywhere(Permission permission) {
        return may(Grant.ALL, permission);
    }

    /** Whether this is permitted anywhere at all. */
    public boolean maySomewhere(Permission permission) {
        return grants.stream().anyMatch(grant -> grant.permission() == null || grant.permission() == permission);
    }

    /** All namespaces that there are grants for; {@code null} = there is one for all. */
    public @Nullable Set<String> namespaces() {
        Set<String> namespaces = grants.stream().map(Grant::namespace).collect(Collectors.toUnmodifiableSet());
        return namespaces.contains(Grant.ALL) ? null : namespaces;
    }

    /** The namespace of a request that names none: the only one that there are grants for, else the default one. */
    public String home() {
        Set<String> namespaces = grants.stream().map(Grant::namespace).collect(Collectors.toUnmodifiableSet());
        String only = namespaces.size() == 1 ? namespaces.iterator().next() : Grant.ALL;
        return only.equals(Grant.ALL) ? Event.DEFAULT_NAMESPACE : only;
    }
}
