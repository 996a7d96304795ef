package dev.millrace.gateway.access;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What may be done in a namespace. None of them contains another. */
public enum Permission {
    /** Seeing tasks, events, memory and streams. */
    READ,
    /** Starting, steering and scheduling tasks. */
    WRITE,
    /** Deciding on tool calls. */
    APPROVE,
    /** Changing documents of memory. */
    MEMORY,
    /** Forgetting; with {@code *}, also draining and dead letters. */
    ADMIN;

    private final String word = name().toLowerCase(Locale.ROOT);

    /** As it stands in grants. */
    public String word() {
        return word;
    }

    /** The one of this word; empty = there is none. */
    public static Optional<Permission> of(String word) {
        return Arrays.stream(values())
                .filter(permission -> permission.word.equals(word))
                .findFirst();
    }
}
