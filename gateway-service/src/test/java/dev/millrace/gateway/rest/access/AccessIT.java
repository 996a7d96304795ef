package dev.millrace.gateway.rest.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.gateway.rest.SseClient;
import dev.millrace.gateway.rest.access.RouteTable.Route;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Segment;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.Key;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.keys.HmacKey;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who may do what, over HTTP: the whole table, and those who try to get around it. */
@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
@WithTestResource(IssuerResource.class)
class AccessIT {

    private static final int AT_A_TIME = 16;

    private final GatewayClient gateway = new GatewayClient();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** A line of the matrix: a request, who makes it, and whether that is right. */
    private record Try(Route route, String grant, boolean right) {

        @Override
        public String toString() {
            return route.method() + ' ' + route.path() + " with " + grant;
        }
    }

    @Test
    @DisplayName(
            "each route lets through whom the table says, and nobody else, for every permission in every namespace")
    void shouldBeAsTheTableSays() throws Exception {
        List<Try> tries = new ArrayList<>();
        for (Route route : RouteTable.routes()) {
            Needs needs = route.needs();
            if (needs != null) {
                for (Permission permission : Permission.values()) {
                    for (String namespace : List.of("acme", "rival", "*")) {
                        boolean there =
                                switch (needs.in()) {
                                    case NAMESPACE, BODY -> !namespace.equals("rival");
                                    case ANYWHERE -> true;
                                    case EVERYWHERE -> namespace.equals("*");
                                };
                        tries.add(new Try(
                                route, namespace + ':' + permission.word(), there && needs.value() == permission));
                    }
                }
                tries.add(new Try(route, "", false));
            }
        }

        List<String> wrong = new ArrayList<>();
        try (ExecutorService clients = Executors.newFixedThreadPool(AT_A_TIME)) {
            List<Future<String>> answers = tries.stream()
                    .map(one -> clients.submit(() -> verdict(one)))
                    .toList();
            for (Future<String> answer : answers) {
                if (!answer.get().isEmpty()) {
                    wrong.add(answer.get());
                }
            }
        }

        assertThat(tries).hasSizeGreaterThan(600);
        assertThat(wrong).isEmpty();
    }

    /** What is wrong with the answer; empty = nothing. */
    private String verdict(Try one) throws IOException, InterruptedException, JoseException {
        HttpRequest.Builder request = request(one.route(), "acme");
        HttpResponse<InputStream> answer = http.send(
                request.header("Authorization", "Bearer " + token(one.grant())).build(),
                HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream body = answer.body()) {
            String said = answer.statusCode() == 200 ? "" : new String(body.readAllBytes(), StandardCharsets.UTF_8);
            boolean refused = answer.statusCode() == 403 && said.contains("not_permitted");
            boolean through = !refused && answer.statusCode() != 401 && answer.statusCode() != 500;
            return one.right() == through && one.right() != refused
                    ? ""
                    : one + ": " + answer.statusCode() + ' ' + said;
        }
    }

    @Test
    @DisplayName("without a login every route but the open ones is a 401 that says how to log in")
    void shouldAskForALogin() throws Exception {
        for (Route route : RouteTable.routes()) {
            HttpResponse<String> answer =
                    http.send(request(route, "acme").build(), HttpResponse.BodyHandlers.ofString());
            if (route.needs() == null) {
                // a webhook of a source that is not there, or an answer
                assertThat(answer.statusCode()).as(route.path()).isIn(200, 404);
            } else {
                assertThat(answer.statusCode()).as(route.path()).isEqualTo(401);
                assertThat(answer.headers().firstValue("WWW-Authenticate")).contains("Bearer realm=\"millrace\"");
                assertThat(answer.body()).contains("not_logged_in");
            }
        }
        for (String open : List.of("/health", "/q/health", "/q/health/ready", "/openapi", "/console/")) {
            assertThat(gateway.get(open).status()).as(open).isEqualTo(200);
        }
    }

    @Test
    @DisplayName("tokens and keys that are forged, spoilt, stale or somebody else's are refused, each with a 401")
    void shouldRefuseForgedTokens() throws Exception {
        Map<String, Consumer<HttpRequest.Builder>> attacks = new LinkedHashMap<>();
        forgedTokens().forEach((name, token) -> attacks.put(name, bearer(token)));
        String good = token("*:*");
        attacks.put(
                "two headers",
                request -> request.header("Authorization", "Bearer " + good).header("Authorization", "Bearer " + good));
        attacks.put(
                "a bad header before a good one",
                request -> request.header("Authorization", "Bearer x").header("Authorization", "Bearer " + good));
        attacks.put("two tokens in one header", value("Bearer " + good + ", Bearer " + good));
        attacks.put("two tokens and a blank", value("Bearer " + good + " " + good));
        attacks.put("no scheme", value(good));
        attacks.put("no token", value("Bearer"));
        attacks.put("another scheme", value("Token " + good));
        attacks.put(
                "Basic",
                value("Basic " + Base64.getEncoder().encodeToString(("x:" + good).getBytes(StandardCharsets.UTF_8))));
        attacks.put("a cookie", request -> request.header("Cookie", "Authorization=" + good));
        attacks.put(
                "another header", request -> request.header("X-Api-Key", good).header("X-Forwarded-User", "root"));
        attacks.put("a token that is too long", bearer("a".repeat(8_193)));

        Map<String, Integer> let = new LinkedHashMap<>();
        for (Map.Entry<String, Consumer<HttpRequest.Builder>> attack : attacks.entrySet()) {
            HttpRequest.Builder request = gateway.request("/v1/tasks");
            attack.getValue().accept(request);
            Answer answer = gateway.send(request);
            if (answer.status() != 401 || answer.header("WWW-Authenticate").isEmpty()) {
                let.put(attack.getKey(), answer.status());
            }
        }

        assertThat(attacks).hasSizeGreaterThanOrEqualTo(40);
        assertThat(let).isEmpty();
        assertThat(gateway.send(with(good, gateway.request("/v1/tasks"))).status())
                .isEqualTo(200);
        assertThat(gateway.send(gateway.request("/v1/tasks").header("Authorization", "bearer  " + good + " "))
                        .status())
                .as("schemes have no case")
                .isEqualTo(200);
    }

    private Map<String, String> forgedTokens() throws JoseException {
        PublicJsonWebKey real = signingKey();
        RsaJsonWebKey other = RsaJwkGenerator.generateJwk(2048);
        other.setKeyId("k1");
        String good = token("*:*");
        String[] parts = good.split("\\.", -1);
        byte[] der = real.getPublicKey().getEncoded();
        String pem = "-----BEGIN PUBLIC KEY-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END PUBLIC KEY-----\n";
        Map<String, String> tokens = new LinkedHashMap<>();
        tokens.put("alg none", unsigned("none"));
        tokens.put("alg NoNe", unsigned("NoNe"));
        tokens.put("HS256 with the public key as PEM", hmac(pem.getBytes(StandardCharsets.UTF_8)));
        tokens.put("HS256 with the public key as DER", hmac(der));
        tokens.put(
                "HS256 with the public key as JWK",
                hmac(real.toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY).getBytes(StandardCharsets.UTF_8)));
        tokens.put("a key of somebody else", signed(other, Map.of("kid", "k1"), claims(Map.of())));
        tokens.put("an unknown key", signed(other, Map.of("kid", "k2"), claims(Map.of())));
        tokens.put("a path for a key", signed(other, Map.of("kid", "../../../../dev/null"), claims(Map.of())));
        tokens.put("SQL for a key", signed(other, Map.of("kid", "k1' UNION SELECT 'x"), claims(Map.of())));
        tokens.put("no kid and the key of somebody else", signed(other, Map.of(), claims(Map.of())));
        tokens.put(
                "a key that the token brings",
                signed(
                        other,
                        Map.of("kid", "k1", "jwk", other.toParams(JsonWebKey.OutputControlLevel.PUBLIC_ONLY)),
                        claims(Map.of())));
        tokens.put(
                "a place of keys that the token names",
                signed(other, Map.of("kid", "k1", "jku", "http://127.0.0.1:1/keys"), claims(Map.of())));
        tokens.put(
                "a certificate that the token names",
                signed(other, Map.of("kid", "k1", "x5u", "http://127.0.0.1:1/cert"), claims(Map.of())));
        tokens.put(
                "what must be understood",
                signed(real, Map.of("kid", "k1", "crit", List.of("x"), "x", 1), claims(Map.of())));
        tokens.put("another audience", issued(Map.of("aud", "billing")));
        tokens.put("no audience", issued(without("aud")));
        tokens.put("another issuer", issued(Map.of("iss", IssuerResource.ISSUER + ".evil.example")));
        tokens.put("no issuer", issued(without("iss")));
        long now = Instant.now().getEpochSecond();
        tokens.put("expired", issued(Map.of("exp", now - 60)));
        tokens.put("no end", issued(without("exp")));
        tokens.put("an end that is a text", issued(Map.of("exp", "tomorrow")));
        tokens.put("not yet valid", issued(Map.of("nbf", now + 600)));
        tokens.put("nobody", issued(without("sub")));
        tokens.put("a blank subject", issued(Map.of("sub", " ")));
        tokens.put("a subject with a line end", issued(Map.of("sub", "a\nb")));
        tokens.put("a subject that is too long", issued(Map.of("sub", "x".repeat(257))));
        tokens.put(
                "other claims below the signature",
                parts[0] + '.' + base64(Json.writeText(claims(Map.of("sub", "root")))) + '.' + parts[2]);
        tokens.put("no signature", parts[0] + '.' + parts[1] + '.');
        tokens.put("two parts", parts[0] + '.' + parts[1]);
        tokens.put("five parts", good + "..");
        tokens.put("no token at all", "millrace");
        tokens.put("an unknown API key", "mlr_" + "A".repeat(43));
        tokens.put("an expired API key", value(IssuerResource.EXPIRED_API_KEY, String.class));
        String key = value(IssuerResource.API_KEY, String.class);
        tokens.put("an API key that is cut", key.substring(0, key.length() - 1));
        tokens.put("an API key in capitals", "mlr_" + key.substring(4).toUpperCase(Locale.ROOT));
        tokens.put("what is kept of an API key", value(IssuerResource.API_KEY_HASH, String.class));
        tokens.put("the same with its beginning", "mlr_" + value(IssuerResource.API_KEY_HASH, String.class));
        return tokens;
    }

    @ParameterizedTest(name = "{0} {1} {2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "GET  | /v1/tasks?namespace=rival                       |",
                "GET  | /v1/tasks?namespace=%72ival                     |",
                "GET  | /v1/tasks?namespace=acme&namespace=rival        |",
                "GET  | /v1/tasks?namespace=rival&namespace=acme        |",
                "GET  | /v1/tasks?namespace=*                           |",
                "GET  | /v1/tasks?namespace=acme%20                     |",
                "GET  | /v1/tasks?namespace=acme%00                     |",
                "GET  | /v1/tasks?namespace=acme/../rival               |",
                "GET  | /v1/tasks/t?namespace=rival                     |",
                "GET  | /v1/tasks/t/events?namespace=rival              |",
                "GET  | /v1/tasks/t/stream?namespace=rival              |",
                "GET  | /v1/sessions/s/stream?namespace=rival           |",
                "GET  | /v1/stream?namespace=rival                      |",
                "GET  | /v1/notifications?namespace=rival               |",
                "GET  | /events?sessionId=s&namespace=rival             |",
                "GET  | /sessions?namespace=rival                       |",
                "GET  | /v1/usage?namespace=*                           |",
                "GET  | /v1/memory/rival                                |",
                "GET  | /v1/memory/%72ival/facts/a.md                   |",
                "PUT  | /v1/memory/rival/facts/a.md                     | x",
                "POST | /v1/tasks/t/cancel?namespace=rival              | {}",
                "POST | /v1/tasks?wait=1ms                              | {\"text\":\"x\",\"namespace\":\"rival\"}",
                "POST | /v1/sessions                                    | {\"namespace\":\"rival\"}",
                "POST | /sessions?namespace=rival                       | {}",
                "POST | /v1/forget                                      | {\"scope\":\"namespace\",\"namespace\":\"rival\"}",
                "POST | /v1/approvals/a/b/c?namespace=rival             | {\"decision\":\"approve\"}",
                "PUT  | /v1/schedules/s?namespace=rival                 | {}",
                "POST | /v1/system/drain                                |",
                "GET  | /v1/dead-letters?namespace=rival                |",
                "GET  | /v1/dead-letters?namespace=*                    |",
                "GET  | /v1/queue?status=dead_letter&namespace=rival    |",
                "GET  | /v1/dead-letters/0:0?namespace=rival            |",
                "POST | /v1/dead-letters/0:0/redrive?namespace=rival    |",
                "POST | /v1/dead-letters/0:0/redrive                    | {\"payload\":{\"text\":\"x\"}}",
                "POST | /v1/dead-letters/redrive?namespace=rival        | {\"reason\":\"no_text\"}",
                "POST | /v1/dead-letters/0:0/discard?namespace=rival    |",
                "POST | /v1/dead-letters/discard?namespace=rival        | {\"reason\":\"no_text\"}"
            })
    @DisplayName("who may do everything in a namespace may do nothing in another one, however it is named")
    void shouldKeepTenantsApart(String method, String path, @Nullable String body) throws Exception {
        Answer answer = gateway.send(with(
                value(IssuerResource.API_KEY, String.class),
                gateway.request(path)
                        .header(
                                "Content-Type",
                                method.equals("PUT") && "x".equals(body) ? "text/markdown" : "application/json")
                        .method(method, BodyPublishers.ofString(body == null ? "" : body))));

        assertThat(answer.status()).as(answer.body()).isEqualTo(403);
        assertThat(answer.text("code")).isEqualTo("not_permitted");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "another namespace             | MESSAGE_RECEIVED     | rival | not_permitted",
                "the default namespace         | MESSAGE_RECEIVED     | default | not_permitted",
                "an approval                   | APPROVAL_DECIDED     | acme  | not_for_clients",
                "the result of a tool          | TOOL_CALL_COMPLETED  | acme  | not_for_clients",
                "the failure of a tool         | TOOL_CALL_FAILED     | acme  | not_for_clients",
                "the reply of a model          | REASON_DONE          | acme  | not_for_clients",
                "a document of memory          | MEMORY_EDIT_REQUESTED| acme  | not_for_clients",
                "the end of a task             | TASK_COMPLETED       | acme  | not_for_clients",
                "the failure of a task         | TASK_FAILED          | acme  | not_for_clients",
                "a drain for all               | SYSTEM_SHUTTING_DOWN | acme  | not_permitted",
                "the end of a drain            | SYSTEM_STARTED       | acme  | not_permitted",
                "forgetting somebody else      | FORGET_REQUESTED     | rival | not_permitted"
            })
    @DisplayName("events that pass for those of others are refused in every form, and a batch as a whole")
    void shouldRefuseForgedEvents(String name, String type, String namespace, String code) throws Exception {
        String key = value(IssuerResource.API_KEY, String.class);
        String event = Json.writeText(Map.of(
                "specversion",
                "1.0",
                "id",
                Ids.random(),
                "source",
                "tools",
                "type",
                type,
                "namespace",
                namespace,
                "data",
                Map.of()));
        String good = Json.writeText(
                Map.of("specversion", "1.0", "id", Ids.random(), "source", "tools", "type", "a.b", "data", Map.of()));

        List<Answer> answers = List.of(
                gateway.send(with(key, gateway.request("/v1/events"))
                        .header("Content-Type", "application/cloudevents+json")
                        .POST(BodyPublishers.ofString(event))),
                gateway.send(with(key, gateway.request("/v1/events"))
                        .header("Content-Type", "application/cloudevents-batch+json")
                        .POST(BodyPublishers.ofString("[" + good + "," + event + "]"))),
                gateway.send(with(key, gateway.request("/v1/events"))
                        .header("Content-Type", "application/json")
                        .header("ce-specversion", "1.0")
                        .header("ce-id", Ids.random())
                        .header("ce-source", "tools")
                        .header("ce-type", type)
                        .header("ce-namespace", namespace)
                        .POST(BodyPublishers.ofString("{}"))));

        assertThat(answers).as(name).allSatisfy(answer -> {
            assertThat(answer.status()).isEqualTo(403);
            assertThat(answer.text("code")).isEqualTo(code);
        });
    }

    /** Types that clients send with write in the namespace; all others are in the other two sets, or nobody's. */
    private static final Set<KnownEventType> WITH_WRITE = EnumSet.of(
            KnownEventType.MESSAGE_RECEIVED,
            KnownEventType.WEBHOOK_TRIGGERED,
            KnownEventType.SCHEDULE_FIRED,
            KnownEventType.TASK_CANCEL_REQUESTED,
            KnownEventType.TASK_SUSPENDED,
            KnownEventType.TASK_RESUMED,
            KnownEventType.RAG_INGEST,
            KnownEventType.ENTITY_EXTRACT);

    private static final Set<KnownEventType> WITH_ADMIN = EnumSet.of(KnownEventType.FORGET_REQUESTED);
    private static final Set<KnownEventType> WITH_ADMIN_EVERYWHERE =
            EnumSet.of(KnownEventType.SYSTEM_STARTED, KnownEventType.SYSTEM_SHUTTING_DOWN, KnownEventType.HEARTBEAT);

    @Test
    @DisplayName("each type of event is let through for whom the table says, and nobody else, for every permission")
    void shouldTakeEventsOfWhoMaySendThem() throws Exception {
        Map<String, String> expected = new TreeMap<>();
        Map<String, String> found = new TreeMap<>();
        List<String> types = Stream.concat(
                        Stream.of(KnownEventType.values()).map(KnownEventType::wireName),
                        Stream.of("order.created", "background_task.completed", "background_task.failed"))
                .toList();
        for (String type : types) {
            for (Permission permission : Permission.values()) {
                for (String namespace : List.of("acme", "rival", "*")) {
                    String grant = namespace + ':' + permission.word();
                    expected.put(type + " with " + grant, outcome(type, permission, namespace));
                    // the route itself needs write somewhere
                    found.put(type + " with " + grant, outcomeOfSending(type, token(grant + " zeta:write")));
                }
            }
        }

        assertThat(found).hasSizeGreaterThan(500).isEqualTo(expected);
    }

    /** As it should be: let through, or refused with this code. */
    private static String outcome(String type, Permission permission, String namespace) {
        KnownEventType known = EventType.of(type) instanceof KnownEventType one ? one : null;
        boolean all = WITH_ADMIN_EVERYWHERE.contains(known);
        Permission needed = all || WITH_ADMIN.contains(known) ? Permission.ADMIN : Permission.WRITE;
        boolean there = namespace.equals("*") || (namespace.equals("acme") && !all);
        if (permission != needed || !there) {
            return "not_permitted";
        }
        boolean taken = known == null
                ? !type.startsWith("background_task")
                : all || WITH_ADMIN.contains(known) || WITH_WRITE.contains(known);
        return taken ? "through" : "not_for_clients";
    }

    private String outcomeOfSending(String type, String token) throws IOException, InterruptedException {
        Answer answer = gateway.send(with(token, gateway.request("/v1/events"))
                .header("Content-Type", "application/json")
                .header("ce-specversion", "1.0")
                .header("ce-id", Ids.random())
                .header("ce-source", "tests")
                .header("ce-type", type)
                .header("ce-namespace", "acme")
                // no type of the catalogue has this field: what is let through is a 400 or 422, and nothing is done
                .POST(BodyPublishers.ofString("{\"nobody-has-this\":1}")));
        assertThat(answer.status()).as(type + ": " + answer.body()).isIn(202, 400, 403, 422);
        return answer.status() == 403 ? answer.text("code") : "through";
    }

    @Test
    @DisplayName("dead letters: of one's own namespace, and of no other, by whatever place they are asked for")
    void shouldKeepDeadLettersApart() throws Exception {
        String task = Ids.random();
        for (String namespace : List.of("acme", "rival")) {
            ProducerRecord<String, byte[]> sent = EventCodec.toRecord(
                    gateway.topics().lane(Segment.EXTERNAL),
                    Event.root(Ids.random(), KnownEventType.MESSAGE_RECEIVED, Instant.now())
                            .namespace(namespace)
                            .taskId(task)
                            .payload(Map.of("text", "of " + namespace))
                            .build());
            TestBroker.shared()
                    .produce(new ProducerRecord<>(
                            gateway.topics().deadLetters(),
                            null,
                            null,
                            sent.key().getBytes(StandardCharsets.UTF_8),
                            sent.value(),
                            DeadLetters.headers(
                                    sent.headers(),
                                    new DeadLetters.Origin(sent.topic(), 0, 1, 0),
                                    "unknown_task",
                                    null)));
        }
        String all = token("*:admin");
        String acme = token("acme:admin");
        String list = "/v1/dead-letters?taskId=" + task;
        Answer whole = gateway.send(with(all, gateway.request(list)));
        String foreign = letters(whole)
                .filter(letter -> String.valueOf(letter.get("value")).contains("of rival"))
                .map(letter -> String.valueOf(letter.get("cursor")))
                .findFirst()
                .orElseThrow();

        Answer own = gateway.send(with(acme, gateway.request(list)));
        assertThat(whole.body()).contains("of acme", "of rival");
        assertThat(own.body()).contains("of acme").doesNotContain("of rival");
        assertThat(gateway.send(with(
                                token("acme:read acme:admin"),
                                gateway.request("/v1/queue?status=dead_letter&limit=200")))
                        .body())
                .contains("of acme")
                .doesNotContain("of rival");
        assertThat(gateway.send(with(acme, gateway.request("/v1/dead-letters/" + foreign)))
                        .status())
                .isEqualTo(404);
        for (String what : List.of("redrive", "discard")) {
            assertThat(gateway.send(with(acme, gateway.request("/v1/dead-letters/" + foreign + '/' + what))
                                    .POST(BodyPublishers.noBody()))
                            .status())
                    .as(what)
                    .isEqualTo(404);
            Answer every = gateway.send(with(acme, gateway.request("/v1/dead-letters/" + what))
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString("{\"taskId\":\"" + task + "\"}")));
            assertThat(every.status()).as(every.body()).isBetween(200, 202);
            assertThat(every.body()).doesNotContain(foreign);
        }
        assertThat(gateway.send(with(all, gateway.request("/v1/dead-letters/" + foreign)))
                        .status())
                .as("it is still there")
                .isEqualTo(200);
    }

    private static Stream<Map<?, ?>> letters(Answer page) {
        return page.field("deadLetters") instanceof List<?> letters
                ? letters.stream().map(letter -> (Map<?, ?>) letter)
                : Stream.empty();
    }

    @Test
    @DisplayName("a chat is refused in the shape that its clients read, for another tenant and without a key")
    void shouldRefuseChats() throws Exception {
        String chat = "{\"model\":\"general\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
        HttpRequest.Builder foreign = with(
                        value(IssuerResource.API_KEY, String.class), gateway.request("/v1/chat/completions"))
                .header("Content-Type", "application/json")
                .header("X-Namespace", "rival")
                .POST(BodyPublishers.ofString(chat));

        Answer refused = gateway.send(foreign);
        Answer unknown = gateway.postText("/v1/chat/completions", chat);

        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.json()).extractingByKey("error").asString().contains("not_permitted", "rival:write");
        assertThat(unknown.status()).isEqualTo(401);
        assertThat(unknown.header("WWW-Authenticate")).startsWith("Bearer");
        assertThat(unknown.json()).extractingByKey("error").asString().contains("not_logged_in");
    }

    @Test
    @DisplayName("over MCP memory is for those who may read it: writing alone is not enough")
    void shouldKeepMemoryFromThoseWhoMayOnlyWrite() throws Exception {
        String list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}";
        String read = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/read\","
                + "\"params\":{\"uri\":\"memory:///facts/nothing.md\"}}";

        for (String message : List.of(list, read)) {
            Answer refused = mcp(token("acme:write rival:read"), message);
            assertThat(refused.status()).isEqualTo(200);
            assertThat(refused.json())
                    .as(refused.body())
                    .doesNotContainKey("result")
                    .extractingByKey("error")
                    .asString()
                    .contains("-32602", "is not granted acme:read");
        }
        String mark = Ids.random();
        mcp(issued(Map.of("sub", mark, "millrace", List.of("acme:write"))), read);
        try (TopicReader reader = TestBroker.shared().read(gateway.topics().audit())) {
            Predicate<Map<String, @Nullable Object>> refused = entry -> "REFUSED".equals(entry.get("outcome"));
            reader.until(
                    records -> ofMark(records, mark).stream()
                            .map(record -> readObject(record.value()))
                            .anyMatch(refused.and(entry -> "read".equals(entry.get("needs"))
                                    && "acme".equals(entry.get("namespace"))
                                    && "not_permitted".equals(entry.get("code")))),
                    GatewayClient.LIMIT);
        }
        String both = token("acme:write acme:read");
        assertThat(mcp(both, list).json()).extractingByKey("result").asString().contains("resources=[");
        assertThat(mcp(both, read).body()).contains("Resource not found");
    }

    private Answer mcp(String token, String message) throws IOException, InterruptedException {
        return gateway.send(with(token, gateway.request("/mcp"))
                .header("Content-Type", "application/json")
                .header("X-Namespace", "acme")
                .POST(BodyPublishers.ofString(message)));
    }

    @Test
    @DisplayName("namespaces: those in which there is something, by pages, and of others not even a name")
    void shouldTellOnlyTheirOwnNamespaces() throws Exception {
        String all = token("*:read");
        Answer first = gateway.send(with(all, gateway.request("/v1/namespaces?limit=2")));
        Answer rest = gateway.send(with(all, gateway.request("/v1/namespaces?cursor=" + first.text("next"))));

        assertThat(first.json()).containsEntry("namespaces", List.of("acme", "default"));
        assertThat(rest.field("namespaces"))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .contains("rival", "zeta");
        assertThat(rest.field("next")).isNull();
        assertThat(gateway.send(with(token("rival:read zeta:write"), gateway.request("/v1/namespaces?limit=1")))
                        .body())
                .isEqualTo("{\"namespaces\":[\"rival\"],\"next\":null}");
        assertThat(gateway.send(with(all, gateway.request("/v1/namespaces?limit=1001")))
                        .json())
                .containsEntry("code", "bad_parameter");
    }

    @Test
    @DisplayName("who names no namespace is in their own, where the things of others are not to be found")
    void shouldBeAtHome() throws Exception {
        String acme = value(IssuerResource.API_KEY, String.class);
        String rival = token("rival:read rival:write");
        String taskId = gateway.send(with(rival, gateway.request("/v1/tasks"))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString("{\"text\":\"mine\"}")))
                .text("taskId");

        assertThat(gateway.send(with(rival, gateway.request("/v1/tasks/" + taskId)))
                        .status())
                .isEqualTo(200);
        assertThat(gateway.send(with(acme, gateway.request("/v1/tasks/" + taskId)))
                        .status())
                .isEqualTo(404);
        assertThat(gateway.send(with(token("*:*"), gateway.request("/v1/tasks/" + taskId)))
                        .status())
                .isEqualTo(404);
        for (String query : List.of("", "?namespace=", "?namespace=%20")) {
            assertThat(gateway.send(with(acme, gateway.request("/v1/tasks" + query)))
                            .body())
                    .as(query)
                    .contains("\"namespace\":\"acme\"");
        }
    }

    @Test
    @DisplayName("a stream of all that names no namespace has its reader's own events and nobody else's")
    void shouldStreamTheOwnEvents() throws Exception {
        try (SseClient stream = gateway.stream(with(token("acme:read"), gateway.request("/v1/stream")))) {
            for (String namespace : List.of("rival", "default", "acme")) {
                TestBroker.shared()
                        .produce(
                                gateway.topics().journal(),
                                Event.root(Ids.random(), KnownEventType.MESSAGE_RECEIVED, Instant.now())
                                        .source("user")
                                        .namespace(namespace)
                                        .sessionId("one-partition")
                                        .payload(Map.of("text", namespace))
                                        .build());
            }

            assertThat(stream.next()).asString().contains("\"text\":\"acme\"");
        }
    }

    @Test
    @DisplayName("a tenant has as many streams open as its quota allows, and takes none from others")
    void shouldLimitTheStreamsOfATenant() throws Exception {
        String few = token("few:read");
        try (SseClient first = gateway.stream(with(few, gateway.request("/v1/stream")));
                SseClient second = gateway.stream(with(few, gateway.request("/v1/notifications?namespace=few")))) {
            assertThat(first.response().statusCode()).isEqualTo(200);
            assertThat(second.response().statusCode()).isEqualTo(200);

            Answer refused = gateway.send(with(few, gateway.request("/v1/stream")));

            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.json()).containsEntry("code", "too_many_streams").containsEntry("limit", 2);
            assertThat(refused.text("detail")).contains("millrace.gateway.quotas.few.streams");
            try (SseClient other = gateway.stream(with(token("acme:read"), gateway.request("/v1/stream")));
                    SseClient all = gateway.stream(with(token("*:read"), gateway.request("/v1/stream")))) {
                assertThat(other.response().statusCode()).isEqualTo(200);
                assertThat(all.response().statusCode()).isEqualTo(200);
            }
        }
        await().atMost(GatewayClient.LIMIT).untilAsserted(() -> {
            try (SseClient again = gateway.stream(with(few, gateway.request("/v1/stream")))) {
                assertThat(again.response().statusCode()).isEqualTo(200);
            }
        });
    }

    @Test
    @DisplayName("a stream ends when the token expires that it was opened with, and nothing is sent on it after that")
    void shouldEndTheStreamOfAnExpiredToken() throws Exception {
        // 30 s of clock difference are allowed
        long end = Instant.now().getEpochSecond() - 30 + 3;
        String token = issued(Map.of("exp", end, "millrace", List.of("acme:read")));
        try (SseClient stream = gateway.stream(with(token, gateway.request("/v1/stream")))) {
            String all = new String(stream.response().body().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(all).contains(": alive").endsWith("\n\n").contains(": logged out");
            assertThat(Instant.now().getEpochSecond() - end - 30).isBetween(0L, 20L);
        }
    }

    @Test
    @DisplayName(
            "the audit log has each change before it is done, and each refusal, with who asked and without content")
    void shouldKeepAnAuditLog() throws Exception {
        // given
        String key = value(IssuerResource.API_KEY, String.class);
        String secret = "a text that is nobody's business";
        String mark = Ids.random();

        // when
        gateway.send(with(key, gateway.request("/v1/tasks/" + mark + "/cancel"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"reason\":\"" + secret + "\"}")));
        gateway.send(with(token("acme:read"), gateway.request("/v1/tasks/" + mark + "/cancel?namespace=acme"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{}")));
        gateway.send(with(key, gateway.request("/v1/tasks/" + mark + "?namespace=rival&x=" + secret.hashCode())));
        gateway.send(gateway.request("/v1/tasks/" + mark));
        gateway.send(with(key, gateway.request("/v1/tasks/" + mark + "?namespace=acme")));
        gateway.send(with(issued(Map.of("sub", mark, "millrace", List.of("acme:write"))), gateway.request("/v1/tasks"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"text\":\"" + secret + "\",\"namespace\":\"acme\"}")));

        // then
        List<Map<String, @Nullable Object>> entries;
        try (TopicReader reader = TestBroker.shared().read(gateway.topics().audit())) {
            entries = reader.until(records -> ofMark(records, mark).size() == 5, GatewayClient.LIMIT).stream()
                    .filter(record -> text(record).contains(mark))
                    .map(record -> readObject(record.value()))
                    .toList();
            assertThat(ofMark(reader.until(all -> true, GatewayClient.LIMIT), secret))
                    .isEmpty();
        }
        String path = "/v1/tasks/" + mark;
        assertThat(entries)
                .extracting(
                        entry -> entry.get("outcome"),
                        entry -> entry.get("principal"),
                        entry -> entry.get("login"),
                        entry -> entry.get("path"),
                        entry -> entry.get("namespace"),
                        entry -> entry.get("needs"),
                        entry -> entry.get("code"))
                .containsExactlyInAnyOrder(
                        tuple("PERMITTED", "robot", "key", path + "/cancel", "acme", "write", null),
                        tuple("PERMITTED", mark, "jwt", "/v1/tasks", "acme", "write", null),
                        tuple("REFUSED", "alice", "jwt", path + "/cancel", "acme", "write", "not_permitted"),
                        tuple("REFUSED", "robot", "key", path, "rival", "read", "not_permitted"),
                        tuple("REFUSED", null, null, path, null, "read", "not_logged_in"));
        assertThat(entries).allSatisfy(entry -> {
            assertThat(entry).containsEntry("client", "127.0.0.1");
            assertThat(Instant.parse(String.valueOf(entry.get("at")))).isBefore(Instant.now());
        });
    }

    private static List<ConsumerRecord<String, byte[]>> ofMark(
            List<ConsumerRecord<String, byte[]>> records, String mark) {
        return records.stream().filter(record -> text(record).contains(mark)).toList();
    }

    private static String text(ConsumerRecord<String, byte[]> record) {
        return new String(record.value(), StandardCharsets.UTF_8);
    }

    private static Map<String, @Nullable Object> readObject(byte[] json) {
        try {
            return Json.readObject(json);
        } catch (MalformedEventException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @DisplayName("who sent an event is what the gateway says, whatever its sender claims")
    void shouldStampEvents() throws Exception {
        String key = value(IssuerResource.API_KEY, String.class);
        String id = Ids.random();
        String claimed = Json.writeText(Map.of(
                "specversion",
                "1.0",
                "id",
                id,
                "source",
                "tools",
                "type",
                "a.b",
                "authid",
                "root",
                "authtype",
                "system",
                "data",
                Map.of()));

        Answer sent = gateway.send(with(key, gateway.request("/v1/events"))
                .header("Content-Type", "application/cloudevents+json")
                .POST(BodyPublishers.ofString(claimed)));
        Answer edited = gateway.send(with(key, gateway.request("/v1/memory/acme/facts/a.md?by=root&wait=1ms"))
                .header("Content-Type", "text/markdown")
                .PUT(BodyPublishers.ofString("x")));

        assertThat(sent.status()).isEqualTo(202);
        Event event = onItsLane(id);
        assertThat(event.namespace()).isEqualTo("acme");
        assertThat(event.extensions()).containsEntry(Access.PRINCIPAL, "robot").doesNotContainKey("authtype");
        assertThat(edited.status()).isEqualTo(202);
        assertThat(onTopic(gateway.topics().memoryRequests(), edited.text("eventId"))
                        .fields())
                .containsEntry("editedBy", "robot");
    }

    private Event onItsLane(String id) {
        return onTopic(gateway.topics().lanes().toArray(String[]::new), id);
    }

    private static Event onTopic(String topic, String id) {
        return onTopic(new String[] {topic}, id);
    }

    private static Event onTopic(String[] topics, String id) {
        try (TopicReader reader = TestBroker.shared().read(topics)) {
            return reader.event(event -> event.id().equals(id), GatewayClient.LIMIT);
        }
    }

    /** A request of this route for this namespace that does no harm where it is let through. */
    private HttpRequest.Builder request(Route route, String namespace) {
        String path = route.path()
                .replace("{namespace}", namespace)
                .replace("{path}", "facts/a.md")
                .replace("{version}", "1")
                .replace("{callId}", "t/c/1")
                .replace("{cursor}", "0:0")
                .replaceAll("\\{\\w+}", "x");
        List<String> query = new ArrayList<>();
        if (route.takes("namespace")) {
            query.add("namespace=" + namespace);
        }
        if (route.path().startsWith("/v1/memory") && route.takes("wait")) {
            query.add("wait=1ms");
        }
        String body =
                switch (route.path()) {
                    case "/v1/sessions/{sessionId}/queue" -> "{\"type\":\"a.b\",\"namespace\":\"" + namespace + "\"}";
                    case "/v1/tasks" -> "{\"text\":\"x\",\"namespace\":\"" + namespace + "\"}";
                    case "/v1/sessions" -> "{\"namespace\":\"" + namespace + "\"}";
                    case "/v1/forget" -> "{\"scope\":\"memory\",\"namespace\":\"" + namespace + "\"}";
                    default -> "{}";
                };
        HttpRequest.Builder request = gateway.request(path + (query.isEmpty() ? "" : "?" + String.join("&", query)))
                .method(
                        route.method(),
                        route.method().equals("GET") || route.method().equals("DELETE")
                                ? BodyPublishers.noBody()
                                : BodyPublishers.ofString(body))
                .header("Content-Type", "application/json");
        switch (route.path()) {
            case "/v1/chat/completions" -> request.header("X-Namespace", namespace);
            case "/v1/events" ->
                request.header("ce-specversion", "1.0")
                        .header("ce-id", Ids.random())
                        .header("ce-source", "test")
                        .header("ce-type", "a.b")
                        .header("ce-namespace", namespace);
            default -> {
                if (List.of("/v1/responses", "/v1/agui", "/mcp", "/a2a").stream()
                        .anyMatch(route.path()::startsWith)) {
                    request.header("X-Namespace", namespace);
                }
            }
        }
        return request;
    }

    private static HttpRequest.Builder with(String token, HttpRequest.Builder request) {
        return request.header("Authorization", "Bearer " + token);
    }

    private static Consumer<HttpRequest.Builder> bearer(String token) {
        return value("Bearer " + token);
    }

    private static Consumer<HttpRequest.Builder> value(String header) {
        return request -> request.header("Authorization", header);
    }

    /** A token that is in order, with these grants between blanks. */
    private static String token(String grants) throws JoseException {
        return issued(Map.of(
                "millrace",
                Stream.of(grants.split(" ", -1)).filter(one -> !one.isEmpty()).toList()));
    }

    private static String issued(Map<String, @Nullable Object> claims) throws JoseException {
        return signed(signingKey(), Map.of("kid", "k1"), claims(claims));
    }

    private static Map<String, @Nullable Object> without(String claim) {
        Map<String, @Nullable Object> none = new LinkedHashMap<>();
        none.put(claim, null);
        return none;
    }

    /** Claims that are in order but for these; {@code null} takes one away. */
    private static Map<String, @Nullable Object> claims(Map<String, @Nullable Object> other) {
        Map<String, @Nullable Object> claims = new LinkedHashMap<>();
        claims.put("iss", IssuerResource.ISSUER);
        claims.put("aud", IssuerResource.AUDIENCE);
        claims.put("sub", "alice");
        claims.put("exp", Instant.now().getEpochSecond() + 600);
        claims.put("millrace", List.of("*:*"));
        claims.putAll(other);
        claims.values().removeIf(value -> value == null);
        return claims;
    }

    private static String signed(
            PublicJsonWebKey key, Map<String, Object> headers, Map<String, @Nullable Object> claims)
            throws JoseException {
        return signed("RS256", key.getPrivateKey(), headers, claims);
    }

    private static String hmac(byte[] secret) throws JoseException {
        return signed("HS256", new HmacKey(secret), Map.of("kid", "k1"), claims(Map.of()));
    }

    private static String signed(
            String algorithm, Key key, Map<String, Object> headers, Map<String, @Nullable Object> claims)
            throws JoseException {
        JsonWebSignature signature = new JsonWebSignature();
        signature.setAlgorithmConstraints(AlgorithmConstraints.NO_CONSTRAINTS);
        signature.setDoKeyValidation(false);
        signature.setAlgorithmHeaderValue(algorithm);
        headers.forEach(signature.getHeaders()::setObjectHeaderValue);
        signature.setPayload(Json.writeText(claims));
        signature.setKey(key);
        return signature.getCompactSerialization();
    }

    private static String unsigned(String algorithm) {
        return base64("{\"alg\":\"" + algorithm + "\",\"kid\":\"k1\"}")
                + '.'
                + base64(Json.writeText(claims(Map.of())))
                + '.';
    }

    private static String base64(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static PublicJsonWebKey signingKey() throws JoseException {
        return PublicJsonWebKey.Factory.newPublicJwk(value(IssuerResource.SIGNING_KEY, String.class));
    }

    private static <T> T value(String key, Class<T> type) {
        return ConfigProvider.getConfig().getValue(key, type);
    }
}
