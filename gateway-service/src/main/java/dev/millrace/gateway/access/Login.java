package dev.millrace.gateway.access;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds out who calls, by the header {@code Authorization}. For any thread. */
public final class Login {

    /** The longest token that is looked at, in characters. */
    public static final int MAX_TOKEN = 8_192;

    private static final String SCHEME = "Bearer";
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");

    private final boolean required;
    private final @Nullable ApiKeys keys;
    private final @Nullable WebTokens tokens;

    /** What came of it. */
    public sealed interface Outcome permits Open, Known, Missing, Refused, Unavailable {}

    /** Nobody has to say who they are. */
    public record Open() implements Outcome {}

    /** This is who calls, and how they have said so. */
    public record Known(Identity identity, Means means) implements Outcome {}

    /** By what somebody has logged in. */
    public enum Means {
        /** An API key. */
        KEY,
        /** A JSON web token. */
        JWT
    }

    /** The caller has not said who they are. */
    public record Missing() implements Outcome {}

    /**
     * The caller is not believed.
     *
     * @param reason for people, a clause about the token
     */
    public record Refused(String reason) implements Outcome {}

    /** It cannot be told now: the keys of the issuer are not to be had. */
    public record Unavailable() implements Outcome {}

    private Login(boolean required, @Nullable ApiKeys keys, @Nullable WebTokens tokens) {
        this.required = required;
        this.keys = keys;
        this.tokens = tokens;
    }

    /** Nobody has to say who they are. */
    public static Login open() {
        return new Login(false, null, null);
    }

    /**
     * Everybody has to.
     *
     * @param keys {@code null} = nobody calls with an API key
     * @param tokens {@code null} = nobody calls with a JSON web token
     */
    public static Login required(@Nullable ApiKeys keys, @Nullable WebTokens tokens) {
        return new Login(true, keys, tokens);
    }

    /**
     * Who calls.
     *
     * @param authorization each value of that header
     */
    public Outcome of(List<String> authorization) {
        if (!required) {
            return new Open();
        }
        if (authorization.isEmpty()) {
            return new Missing();
        }
        if (authorization.size() > 1) {
            return new Refused("there are " + authorization.size() + " headers Authorization");
        }
        String header = authorization.getFirst().strip();
        int blank = header.indexOf(' ');
        String token = header.substring(blank + 1).strip();
        if (blank < 0 || !header.substring(0, blank).equalsIgnoreCase(SCHEME)) {
            return new Refused("the header Authorization does not say Bearer and a token");
        }
        if (token.length() > MAX_TOKEN) {
            return new Refused("it has more than " + MAX_TOKEN + " characters");
        }
        if (!TOKEN.matcher(token).matches()) {
            return new Refused("it has characters that no token has");
        }
        return known(token);
    }

    private Outcome known(String token) {
        if (token.startsWith(ApiKey.PREFIX)) {
            Optional<Identity> found = keys == null ? Optional.empty() : keys.find(token);
            return found.<Outcome>map(identity -> new Known(identity, Means.KEY))
                    .orElseGet(() -> new Refused("no such key counts here"));
        }
        return tokens == null ? new Refused("it is no API key of this gateway") : tokens.read(token);
    }
}
