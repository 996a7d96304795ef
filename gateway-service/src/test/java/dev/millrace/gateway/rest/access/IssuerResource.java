package dev.millrace.gateway.rest.access;

import com.sun.net.httpserver.HttpServer;
import dev.millrace.gateway.access.ApiKey;
import dev.millrace.gateway.access.ApiKeyFile;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;

/** An issuer of tokens, whose private key the test is told, and a file with API keys; the gateway believes both. */
public final class IssuerResource implements QuarkusTestResourceLifecycleManager {

    static final String ISSUER = "https://issuer.example";
    static final String AUDIENCE = "millrace";
    static final String SIGNING_KEY = "test.issuer.key";
    static final String API_KEY = "test.api.key";
    static final String EXPIRED_API_KEY = "test.api.key.expired";
    static final String API_KEY_HASH = "test.api.key.hash";

    private static final int RSA_BITS = 2048;

    private @Nullable HttpServer server;

    /** For Quarkus. */
    public IssuerResource() {}

    @Override
    public Map<String, String> start() {
        try {
            RsaJsonWebKey key = RsaJwkGenerator.generateJwk(RSA_BITS);
            key.setKeyId("k1");
            byte[] keys = new JsonWebKeySet(key)
                    .toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY)
                    .getBytes(StandardCharsets.UTF_8);
            HttpServer started = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            started.createContext("/keys", exchange -> {
                exchange.sendResponseHeaders(200, keys.length);
                try (var out = exchange.getResponseBody()) {
                    out.write(keys);
                }
            });
            started.start();
            server = started;
            Path file = Files.createTempDirectory("keys").resolve("keys.json");
            ApiKey.Fresh fresh = ApiKey.draw("robot", List.of("acme:*"), Instant.now(), null);
            ApiKey.Fresh expired =
                    ApiKey.draw("robot", List.of("*:*"), Instant.now().minus(Duration.ofHours(2)), Duration.ofHours(1));
            new ApiKeyFile(file).change(none -> List.of(fresh.kept(), expired.kept()));
            return Map.of(
                    "millrace.gateway.auth",
                    "jwt",
                    "millrace.gateway.auth-jwks",
                    "http://127.0.0.1:" + started.getAddress().getPort() + "/keys",
                    "millrace.gateway.auth-issuer",
                    ISSUER,
                    "millrace.gateway.quotas.few.streams",
                    "2",
                    "millrace.gateway.auth-audience",
                    AUDIENCE,
                    "millrace.gateway.auth-keys-file",
                    file.toString(),
                    SIGNING_KEY,
                    key.toJson(JsonWebKey.OutputControlLevel.INCLUDE_PRIVATE),
                    API_KEY,
                    fresh.secret(),
                    EXPIRED_API_KEY,
                    expired.secret(),
                    API_KEY_HASH,
                    fresh.kept().hash());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (JoseException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void stop() {
        if (server != null) {
            server.stop(0);
        }
    }
}
