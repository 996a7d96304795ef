package dev.millrace.gateway.access;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jose4j.jwk.EcJwkGenerator;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.keys.EllipticCurves;
import org.jose4j.lang.JoseException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The forged ones are in AccessIT. */
class WebTokensTest {

    private final AtomicInteger status = new AtomicInteger(200);
    private final AtomicInteger fetched = new AtomicInteger();
    private final HttpServer server;
    private final PublicJsonWebKey key;
    private final WebTokens tokens;

    WebTokensTest() throws IOException, JoseException {
        key = EcJwkGenerator.generateJwk(EllipticCurves.P256);
        key.setKeyId("e1");
        byte[] keys = new JsonWebKeySet(key)
                .toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY)
                .getBytes(StandardCharsets.UTF_8);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            fetched.incrementAndGet();
            exchange.sendResponseHeaders(status.get(), keys.length);
            try (var out = exchange.getResponseBody()) {
                out.write(keys);
            }
        });
        server.start();
        tokens = new WebTokens(new WebTokens.Trusted(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/keys"), "us", "it", "roles"));
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    @DisplayName("a token's grants are in the claim that is configured; what is none of ours is passed over")
    void shouldReadGrants() throws JoseException {
        JwtClaims claims = claims();
        claims.setStringListClaim("roles", "acme:read", "staff", "acme:reed", "*:write", "acme:read");

        assertThat(tokens.read(signed(claims)))
                .isEqualTo(new Login.Known(
                        new Identity("alice", List.of(Grant.parse("acme:read"), Grant.parse("*:write"))),
                        Login.Means.JWT));

        claims.setStringClaim("roles", "acme:read staff acme:*");
        assertThat(tokens.read(signed(claims)))
                .isEqualTo(new Login.Known(
                        new Identity("alice", List.of(Grant.parse("acme:read"), Grant.parse("acme:*"))),
                        Login.Means.JWT));

        claims.setClaim("roles", 7);
        assertThat(tokens.read(signed(claims)))
                .isEqualTo(new Login.Known(new Identity("alice", List.of()), Login.Means.JWT));
    }

    @Test
    @DisplayName("keys that cannot be fetched are nobody's fault, and are fetched again by the next token")
    void shouldTellAnIssuerThatIsAway() throws JoseException {
        status.set(500);
        assertThat(tokens.read(signed(claims()))).isEqualTo(new Login.Unavailable());

        status.set(200);
        assertThat(tokens.read(signed(claims()))).isInstanceOf(Login.Known.class);
    }

    @Test
    @DisplayName("keys are fetched once, and tokens that name unknown ones do not have them fetched each time")
    void shouldFetchSeldom() throws JoseException {
        for (int i = 0; i < 5; i++) {
            assertThat(tokens.read(signed(claims()))).isInstanceOf(Login.Known.class);
        }
        assertThat(fetched).hasValue(1);

        key.setKeyId("e2");
        for (int i = 0; i < 20; i++) {
            assertThat(tokens.read(signed(claims()))).isInstanceOf(Login.Refused.class);
        }
        assertThat(fetched.get()).isLessThanOrEqualTo(2);
    }

    private static JwtClaims claims() {
        JwtClaims claims = new JwtClaims();
        claims.setIssuer("us");
        claims.setAudience("it");
        claims.setSubject("alice");
        claims.setExpirationTimeMinutesInTheFuture(5);
        return claims;
    }

    private String signed(JwtClaims claims) throws JoseException {
        JsonWebSignature signature = new JsonWebSignature();
        signature.setAlgorithmHeaderValue(AlgorithmIdentifiers.ECDSA_USING_P256_CURVE_AND_SHA256);
        signature.setKeyIdHeaderValue(key.getKeyId());
        signature.setPayload(claims.toJson());
        signature.setKey(key.getPrivateKey());
        return signature.getCompactSerialization();
    }
}
