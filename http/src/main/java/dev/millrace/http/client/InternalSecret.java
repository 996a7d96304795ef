package dev.millrace.http.client;

import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * What services of one installation show each other, so that agent-service answers nobody else. Where none is set
 * everybody is answered who comes through.
 */
public final class InternalSecret {

    /** The header that it stands in. */
    public static final String HEADER = "Millrace-Internal-Secret";

    /** The key of the configuration. */
    public static final String KEY = "millrace.http.internal-secret";

    /** A shorter one is refused at the start, in characters. */
    public static final int MIN_LENGTH = 32;

    private final @Nullable String secret;

    private InternalSecret(@Nullable String secret) {
        this.secret = secret;
    }

    /** There is none. */
    public static InternalSecret none() {
        return new InternalSecret(null);
    }

    /**
     * This one.
     *
     * @throws IllegalArgumentException if it is too short, or cannot stand in a header
     */
    public static InternalSecret of(String secret) {
        if (secret.length() < MIN_LENGTH || secret.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            throw new IllegalArgumentException(
                    KEY + ": expected " + MIN_LENGTH + " printable characters of ASCII or more, without blanks");
        }
        return new InternalSecret(secret);
    }

    /** Whether callers are asked for it. */
    public boolean isSet() {
        return secret != null;
    }

    /** Whether this is it; takes as long whatever is wrong with it. */
    public boolean accepts(@Nullable String shown) {
        return secret == null
                || (shown != null
                        && MessageDigest.isEqual(
                                shown.getBytes(StandardCharsets.UTF_8), secret.getBytes(StandardCharsets.UTF_8)));
    }

    void show(HttpRequest.Builder request) {
        if (secret != null) {
            request.header(HEADER, secret);
        }
    }
}
