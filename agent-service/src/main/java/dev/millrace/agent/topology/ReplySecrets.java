package dev.millrace.agent.topology;

import dev.millrace.schemas.Event;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.crypto.spec.SecretKeySpec;

/**
 * With what calls are signed, so that their replies are believed and nobody else's (ADR 0049). All instances of
 * agent-service have the same. Safe for any thread.
 */
public final class ReplySecrets {

    /** The key of the configuration. */
    public static final String KEY = "millrace.agent.reply-secret";

    /** A shorter one is refused at the start, in characters. */
    public static final int MIN_LENGTH = 32;

    private final List<SecretKeySpec> keys;
    private final boolean tokenRequired;

    private ReplySecrets(List<SecretKeySpec> keys, boolean tokenRequired) {
        this.keys = keys;
        this.tokenRequired = tokenRequired;
    }

    /** There is none: nothing is signed, and every reply is believed. */
    public static ReplySecrets none() {
        return new ReplySecrets(List.of(), false);
    }

    /**
     * These; the first one signs, and what any of them has signed is believed. Without any it is {@link #none}.
     *
     * @param tokenRequired whether a reply without a token is refused, too
     * @throws IllegalArgumentException if one is too short
     */
    public static ReplySecrets of(List<String> secrets, boolean tokenRequired) {
        return new ReplySecrets(secrets.stream().map(ReplySecrets::key).toList(), tokenRequired && !secrets.isEmpty());
    }

    private static SecretKeySpec key(String secret) {
        if (secret.length() < MIN_LENGTH) {
            throw new IllegalArgumentException(KEY + ": expected " + MIN_LENGTH + " characters or more, found "
                    + secret.length() + " in one of them");
        }
        return new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ReplyTokens.ALGORITHM);
    }

    /** The event with the token of the call that it answers; as it is if it answers none, or nothing is signed. */
    public Event signed(Event reply) {
        return keys.isEmpty() ? reply : tokens().signed(reply);
    }

    /** Tokens for one thread. */
    ReplyTokens tokens() {
        return new ReplyTokens(keys, tokenRequired);
    }
}
