package dev.millrace.deploy;

import static dev.millrace.deploy.Manifests.name;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.schemas.Json;
import dev.millrace.testing.HttpApi;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.lang.JoseException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ways to log in at the brokers beside SCRAM: set by Kafka's own keys, and with the same access lists. */
class KafkaLoginsIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final List<String> SERVICES = List.of("agent", "gateway");
    private static final String ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls";

    private final Manifests manifests = Manifests.rendered("production");

    @TempDir
    Path folder;

    @Test
    @DisplayName("services are known by their certificates, and do a task")
    void shouldLogInWithCertificates() throws Exception {
        List<String> users =
                SERVICES.stream().map(service -> "millrace-" + service).toList();
        try (SecuredBroker broker = SecuredBroker.startWithCertificates(folder, users)) {
            Map<String, Map<String, String>> logins = new HashMap<>();
            for (String service : SERVICES) {
                logins.put(
                        service,
                        Map.of(
                                "KAFKA_SECURITY_PROTOCOL",
                                "SSL",
                                "KAFKA_SSL_KEYSTORE_TYPE",
                                "PEM",
                                "KAFKA_SSL_KEYSTORE_LOCATION",
                                SecuredBroker.pem(folder, "millrace-" + service).toString()));
            }

            shouldDoATask(broker, logins);
        }
    }

    @Test
    @DisplayName("services are known by tokens that they get with a secret of theirs, and do a task")
    void shouldLogInWithTokens() throws Exception {
        try (Issuer issuer = Issuer.start()) {
            System.setProperty(ALLOWED_URLS, issuer.url("/keys"));
            Map<String, String> settings = new TreeMap<>(Map.of(
                    "listener.name.plaintext.sasl.enabled.mechanisms", "PLAIN,OAUTHBEARER",
                    "listener.name.plaintext.oauthbearer.sasl.jaas.config",
                            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
                    "listener.name.plaintext.oauthbearer.sasl.server.callback.handler.class",
                            "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler",
                    "listener.name.plaintext.oauthbearer.sasl.oauthbearer.jwks.endpoint.url", issuer.url("/keys"),
                    "listener.name.plaintext.oauthbearer.sasl.oauthbearer.expected.audience", Issuer.AUDIENCE));
            try (SecuredBroker broker = SecuredBroker.start(folder, settings)) {
                Map<String, Map<String, String>> logins = new HashMap<>();
                for (String service : SERVICES) {
                    logins.put(
                            service,
                            Map.of(
                                    "KAFKA_SASL_MECHANISM",
                                    "OAUTHBEARER",
                                    "KAFKA_SASL_JAAS_CONFIG",
                                    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
                                    "KAFKA_SASL_LOGIN_CALLBACK_HANDLER_CLASS",
                                    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
                                    "KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL",
                                    issuer.url("/token"),
                                    "KAFKA_SASL_OAUTHBEARER_CLIENT_CREDENTIALS_CLIENT_ID",
                                    "millrace-" + service,
                                    "KAFKA_SASL_OAUTHBEARER_CLIENT_CREDENTIALS_CLIENT_SECRET",
                                    Issuer.SECRET,
                                    "JDK_JAVA_OPTIONS",
                                    "-D" + ALLOWED_URLS + '=' + issuer.url("/token")));
                }

                shouldDoATask(broker, logins);
            } finally {
                System.clearProperty(ALLOWED_URLS);
            }
        }
    }

    private void shouldDoATask(SecuredBroker broker, Map<String, Map<String, String>> logins) throws Exception {
        Files.writeString(folder.resolve("script.yaml"), "rules: [{ steps: [{ text: The wheel is of oak. }] }]");
        Map<String, String> agent = new TreeMap<>(logins.get("agent"));
        agent.put("MILLRACE_LLM_MODELS_CLERK_PROVIDER", "scripted");
        agent.put(
                "MILLRACE_LLM_MODELS_CLERK_SCRIPT",
                folder.resolve("script.yaml").toString());
        String key = Pods.createKey(folder);
        broker.apply(manifests);
        try (Pods pods =
                new Pods(manifests, broker, folder, Map.of("agent", agent, "gateway", logins.get("gateway")))) {
            manifests
                    .workloads()
                    .filter(workload -> SERVICES.contains(name(workload)))
                    .forEach(workload -> pods.start(workload, 1));
            pods.awaitReady();
            HttpApi api = HttpApi.onPort(pods.port("gateway")).as(key);

            String taskId = api.submit("What is the wheel of?");

            assertThat(api.awaitEnd(taskId, LIMIT).path("response").asText()).isEqualTo("The wheel is of oak.");
            assertThat(Decisions.refused()).isEmpty();
        }
    }

    /** Gives tokens for the secret, and says by which key they are known. */
    private record Issuer(HttpServer server, RsaJsonWebKey key) implements AutoCloseable {

        static final String AUDIENCE = "kafka";
        static final String SECRET = "of-a-test";

        static Issuer start() throws IOException, JoseException {
            RsaJsonWebKey key = RsaJwkGenerator.generateJwk(2048);
            key.setKeyId("k1");
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext(
                    "/keys",
                    exchange -> answer(
                            exchange, 200, new JsonWebKeySet(key).toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY)));
            server.createContext("/token", exchange -> {
                exchange.getRequestBody().readAllBytes();
                String login = exchange.getRequestHeaders().getFirst("Authorization");
                String[] who = new String(
                                Base64.getDecoder().decode(login.substring("Basic ".length())), StandardCharsets.UTF_8)
                        .split(":", 2);
                if (who[1].equals(SECRET)) {
                    answer(exchange, 200, Json.writeText(Map.of("access_token", token(key, who[0]))));
                } else {
                    answer(exchange, 401, "{}");
                }
            });
            server.start();
            return new Issuer(server, key);
        }

        private static String token(RsaJsonWebKey key, String subject) {
            try {
                JwtClaims claims = new JwtClaims();
                claims.setSubject(subject);
                claims.setAudience(AUDIENCE);
                claims.setIssuedAtToNow();
                claims.setExpirationTimeMinutesInTheFuture(60);
                claims.setStringClaim("scope", "kafka");
                JsonWebSignature token = new JsonWebSignature();
                token.setPayload(claims.toJson());
                token.setKey(key.getPrivateKey());
                token.setKeyIdHeaderValue(key.getKeyId());
                token.setAlgorithmHeaderValue(AlgorithmIdentifiers.RSA_USING_SHA256);
                return token.getCompactSerialization();
            } catch (JoseException e) {
                throw new IllegalStateException(e);
            }
        }

        private static void answer(HttpExchange exchange, int status, String json) throws IOException {
            byte[] body = json.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        }

        String url(String path) {
            return "http://127.0.0.1:" + server.getAddress().getPort() + path;
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }
}
