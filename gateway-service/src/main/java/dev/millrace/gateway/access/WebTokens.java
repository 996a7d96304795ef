package dev.millrace.gateway.access;

import java.io.IOException;
import java.net.URI;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jose4j.http.Get;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwk.HttpsJwks;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtConsumer;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.keys.resolvers.HttpsJwksVerificationKeyResolver;
import org.jspecify.annotations.Nullable;

/**
 * JSON web tokens of one issuer. Believed is what is signed with a key of the issuer's own set, by an algorithm with a
 * public key, whatever the token itself says about where its key is. For any thread; may fetch the keys.
 */
public final class WebTokens {

    private static final int CLOCK_SKEW_SECONDS = 30;
    private static final int FETCH_LIMIT_MS = 3_000;
    private static final int MAX_KEYS_BYTES = 256 * 1024;
    private static final long KEYS_FRESH_SECONDS = 300;
    /** While the issuer does not answer its last keys count for so long. */
    private static final long KEYS_KEPT_SECONDS = 3_600;
    /** Unknown ids of keys have the set fetched again, but not more often than this. */
    private static final long FETCH_PAUSE_MS = 10_000;

    private final JwtConsumer consumer;
    private final String claim;

    /**
     * Whose tokens are believed.
     *
     * @param jwks where the public keys are: https, or http of this machine
     * @param issuer as it stands in {@code iss}
     * @param audience as it stands in {@code aud}
     * @param claim the name of the claim with the grants
     */
    public record Trusted(URI jwks, String issuer, String audience, String claim) {}

    /** The keys are fetched with the first token. */
    public WebTokens(Trusted trusted) {
        this.claim = trusted.claim();
        Get http = new Get();
        http.setConnectTimeout(FETCH_LIMIT_MS);
        http.setReadTimeout(FETCH_LIMIT_MS);
        http.setRetries(1);
        http.setResponseBodySizeLimit(MAX_KEYS_BYTES);
        HttpsJwks keys = new HttpsJwks(trusted.jwks().toString());
        keys.setSimpleHttpGet(http);
        keys.setDefaultCacheDuration(KEYS_FRESH_SECONDS);
        keys.setRetainCacheOnErrorDuration(KEYS_KEPT_SECONDS);
        keys.setRefreshReprieveThreshold(FETCH_PAUSE_MS);
        this.consumer = new JwtConsumerBuilder()
                .setExpectedIssuer(trusted.issuer())
                .setExpectedAudience(trusted.audience())
                .setRequireExpirationTime()
                .setRequireSubject()
                .setAllowedClockSkewInSeconds(CLOCK_SKEW_SECONDS)
                .setJwsAlgorithmConstraints(
                        AlgorithmConstraints.ConstraintType.PERMIT,
                        AlgorithmIdentifiers.RSA_USING_SHA256,
                        AlgorithmIdentifiers.RSA_USING_SHA384,
                        AlgorithmIdentifiers.RSA_USING_SHA512,
                        AlgorithmIdentifiers.RSA_PSS_USING_SHA256,
                        AlgorithmIdentifiers.RSA_PSS_USING_SHA384,
                        AlgorithmIdentifiers.RSA_PSS_USING_SHA512,
                        AlgorithmIdentifiers.ECDSA_USING_P256_CURVE_AND_SHA256,
                        AlgorithmIdentifiers.ECDSA_USING_P384_CURVE_AND_SHA384,
                        AlgorithmIdentifiers.ECDSA_USING_P521_CURVE_AND_SHA512,
                        AlgorithmIdentifiers.EDDSA)
                .setVerificationKeyResolver(new HttpsJwksVerificationKeyResolver(keys))
                .build();
    }

    /** Who calls with this token, or why it is not known. */
    Login.Outcome read(String token) {
        try {
            JwtClaims claims = consumer.processToClaims(token);
            return new Login.Known(
                    new Identity(claims.getSubject(), grants(claims.getClaimValue(claim))), Login.Means.JWT);
        } catch (InvalidJwtException e) {
            return unresolved(e) ? new Login.Unavailable() : new Login.Refused(reason(e));
        } catch (MalformedClaimException | IllegalArgumentException e) {
            return new Login.Refused("its subject cannot be read");
        }
    }

    /** What is no grant is left out: the claim may be there for others, too. */
    private static List<Grant> grants(@Nullable Object value) {
        Stream<?> texts =
                switch (value) {
                    case null -> Stream.of();
                    case String text -> Stream.of(text.split("[ ,]+", -1));
                    case Collection<?> all -> all.stream();
                    default -> Stream.of();
                };
        return texts.filter(String.class::isInstance)
                .map(String.class::cast)
                .map(Grant::of)
                .flatMap(Optional::stream)
                .distinct()
                .toList();
    }

    /** Whether the keys could not be fetched, which is not the token's fault. */
    private static boolean unresolved(InvalidJwtException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof IOException) {
                return true;
            }
        }
        return false;
    }

    private static String reason(InvalidJwtException e) {
        return e.hasExpired() ? "it has expired" : "it is not one that this gateway believes";
    }
}
