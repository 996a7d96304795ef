package dev.millrace.gateway.access;

import dev.millrace.schemas.Ids;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A key as it is kept: everything but the key itself, of which there is only a hash. Keys are random and long, so that
 * a plain hash of one cannot be turned back.
 *
 * @param id names the key in lists; no secret
 * @param hash SHA-256 of the key, in hexadecimal digits
 * @param principal who calls with it
 * @param grants what they may do
 * @param createdAt in RFC 3339
 * @param expiresAt the same: from then on it is refused; {@code null} = never
 */
public record ApiKey(
        String id,
        String hash,
        String principal,
        List<String> grants,
        @Nullable String createdAt,
        @Nullable String expiresAt) {

    /** What every key begins with, so that scanners of secrets know one. */
    public static final String PREFIX = "mlr_";

    private static final int RANDOM_BYTES = 32;
    private static final int ID_LENGTH = 12;
    private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");
    private static final SecureRandom RANDOM = new SecureRandom();

    public ApiKey {
        grants = List.copyOf(grants);
        if (!HASH.matcher(hash).matches()) {
            throw new IllegalArgumentException("hash: expected 64 hexadecimal digits in small letters");
        }
        Instant unusedBegin = instant("createdAt", createdAt);
        Instant unusedEnd = instant("expiresAt", expiresAt);
    }

    /**
     * A key that was made just now.
     *
     * @param secret what its owner calls with; shown once and kept nowhere
     * @param kept what is kept of it
     */
    public record Fresh(String secret, ApiKey kept) {}

    /**
     * Draws a key.
     *
     * @param grants at least one
     * @param lifetime {@code null} = for ever
     * @throws IllegalArgumentException if the principal or a grant cannot be read
     */
    public static Fresh draw(String principal, List<String> grants, Instant now, @Nullable Duration lifetime) {
        byte[] random = new byte[RANDOM_BYTES];
        RANDOM.nextBytes(random);
        String secret = PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(random);
        ApiKey kept = new ApiKey(
                Ids.hash(Ids.random()).substring(0, ID_LENGTH),
                hash(secret),
                principal,
                grants,
                now.toString(),
                lifetime == null ? null : now.plus(lifetime).toString());
        Identity unused = kept.identity();
        return new Fresh(secret, kept);
    }

    /** What is kept of a key. */
    public static String hash(String secret) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** Whether it is refused by now. */
    public boolean expired(Instant now) {
        Instant end = instant("expiresAt", expiresAt);
        return end != null && !now.isBefore(end);
    }

    /**
     * Who calls with it.
     *
     * @throws IllegalArgumentException if the principal or a grant cannot be read
     */
    public Identity identity() {
        return new Identity(principal, grants.stream().map(Grant::parse).toList());
    }

    private static @Nullable Instant instant(String field, @Nullable String text) {
        try {
            return text == null ? null : Instant.parse(text);
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(field + ": expected a time such as 2027-01-15T08:00:00Z", e);
        }
    }
}
