package dev.millrace.tools.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.requests.NoticeHandler.Outcome;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Redaction;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("webhooks")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WebhookDeliveryTest {

    private record Hit(String path, Map<String, List<String>> headers, String body) {
        private String header(String name) {
            return headers.entrySet().stream()
                    .filter(header -> header.getKey().equalsIgnoreCase(name))
                    .map(header -> header.getValue().getFirst())
                    .findFirst()
                    .orElse("");
        }
    }

    private static final WebhookDelivery.Limits LIMITS = new WebhookDelivery.Limits(
            Duration.ofSeconds(10), Duration.ofMillis(500), Duration.ofMillis(10), Duration.ofMillis(50));

    private static final Redaction REDACTION = Redaction.named(Map.of("card", "\\d{13,16}"));

    @TempDir
    Path temp = Path.of("");

    private final List<Hit> hits = new CopyOnWriteArrayList<>();
    private final List<GuardedHttp> clients = new ArrayList<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch end = new CountDownLatch(1);
    private final HttpServer server;

    WebhookDeliveryTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    }

    @BeforeEach
    void startServer() {
        server.setExecutor(threads);
        server.createContext("/", this::serve);
        server.start();
    }

    @AfterEach
    void stopServer() throws IOException {
        end.countDown();
        for (GuardedHttp client : clients) {
            client.close();
        }
        server.stop(0);
        threads.shutdownNow();
    }

    @Test
    void shouldDeliverSigned() throws Exception {
        // given
        String key = Base64.getEncoder().encodeToString("0123456789abcdef".getBytes(UTF_8));
        // when
        Outcome outcome = delivery(List.of("whsec_" + key), null).handle(notice("/ok"));
        // then
        assertThat(outcome).isEqualTo(new Outcome.Done());
        Hit hit = hits.getFirst();
        assertThat(hit.header("webhook-id")).isEqualTo("event-1");
        assertThat(hit.header("content-type")).isEqualTo("application/json");
        assertThat(Long.parseLong(hit.header("webhook-timestamp")))
                .isCloseTo(Instant.now().getEpochSecond(), org.assertj.core.data.Offset.offset(60L));
        assertThat(hit.header("webhook-signature")).isEqualTo("v1," + hmac("0123456789abcdef".getBytes(UTF_8), hit));
        assertThat(hit.body())
                .contains("\"type\":\"completed\"", "\"taskId\":\"task-1\"")
                .contains("\"audience\":\"" + url("/ok") + "\"")
                .doesNotContain("callbackUrl");
    }

    @Test
    @DisplayName("what patterns match is not told; ids and the moment are, whatever they look like")
    void shouldRedact() throws Exception {
        // when
        delivery(List.of(), null)
                .handle(notice("/ok", Map.of("result", Map.of("response", "4111111111111111 is taken"))));
        // then
        assertThat(hits.getFirst().body())
                .contains("\"result\":{\"response\":\"[redacted:card] is taken\"}", "\"timestamp\":1800000000000")
                .doesNotContain("4111");
    }

    @Test
    @DisplayName("two secrets, two signatures: so that one of them can be changed")
    void shouldSignWithEachSecret() throws Exception {
        // given
        Path file = Files.writeString(temp.resolve("secrets"), "old\n");
        WebhookDelivery delivery = delivery(List.of(), file);
        // when
        delivery.handle(notice("/ok"));
        Files.writeString(file, "new\nold\n\n");
        delivery.handle(notice("/ok"));
        // then
        Hit first = hits.getFirst();
        Hit second = hits.getLast();
        assertThat(first.header("webhook-signature")).isEqualTo("v1," + hmac("old".getBytes(UTF_8), first));
        assertThat(second.header("webhook-signature"))
                .isEqualTo("v1," + hmac("new".getBytes(UTF_8), second) + " v1," + hmac("old".getBytes(UTF_8), second));
    }

    @Test
    @DisplayName("what one receiver is sent, another one does not take when it is passed on")
    void shouldSignForOneReceiverOnly() throws Exception {
        // given
        byte[] mine = "a".getBytes(UTF_8);
        byte[] others = "b".getBytes(UTF_8);
        WebhookDelivery delivery = delivery(
                LIMITS,
                new WebhookSecrets.Receiver("a", List.of(url("/ok")), List.of("a"), null),
                new WebhookSecrets.Receiver("b", List.of(url("/thrice/")), List.of("b"), null));
        // when
        delivery.handle(notice("/ok"));
        delivery.handle(notice("/okay"));
        // then
        Hit first = hits.getFirst();
        assertThat(first.header("webhook-signature"))
                .isEqualTo("v1," + hmac(mine, first))
                .isNotEqualTo("v1," + hmac(others, first));
        assertThat(hits.getLast().header("webhook-signature")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "https://a.example/x, a",
        "https://A.example:443/x/y?z=1, a",
        "https://a.example/x/deep/er, deep",
        "https://a.example/xy, ",
        "https://a.example/, ",
        "http://a.example/x, ",
        "https://a.example:444/x, ",
        "https://a.example/x/../y, ",
        "https://a.example/y/../x, a",
        "https://a.example/x/%2e%2E/y, ",
        "https://a.example/x%2Fy, ",
        "https://b.example/x, ",
        "mailto:a@a.example, "
    })
    void shouldKnowAReceiverByTheBeginningOfItsUrl(URI target, @Nullable String expected) {
        // given
        WebhookSecrets secrets = new WebhookSecrets(List.of(
                new WebhookSecrets.Receiver("a", List.of(URI.create("https://a.example/x/")), List.of("a"), null),
                new WebhookSecrets.Receiver(
                        "deep", List.of(URI.create("https://a.example/x/deep")), List.of("deep"), null)));
        // then
        assertThat(secrets.of(target)).isEqualTo(expected == null ? List.of() : List.of(expected));
    }

    @Test
    void shouldRefuseASecretOfTwoReceivers() {
        // given
        WebhookSecrets.Receiver a =
                new WebhookSecrets.Receiver("a", List.of(URI.create("https://a.example")), List.of("s"), null);
        WebhookSecrets.Receiver b =
                new WebhookSecrets.Receiver("b", List.of(URI.create("https://b.example")), List.of("s "), null);
        // then
        assertThatThrownBy(() -> new WebhookSecrets(List.of(a, b)))
                .hasMessageStartingWith("millrace.tools.webhook.receivers.b.secrets: expected secrets of its own");
    }

    @Test
    void shouldSendNoSignatureWithoutASecret() throws Exception {
        // when
        delivery(List.of(), null).handle(notice("/ok"));
        // then
        assertThat(hits.getFirst().header("webhook-signature")).isEmpty();
    }

    @Test
    @DisplayName("three times 500, then 200: delivered, with one id")
    void shouldTryAgainUntilItWorks() throws Exception {
        // when
        Outcome outcome = delivery(List.of("s"), null).handle(notice("/thrice"));
        // then
        assertThat(outcome).isEqualTo(new Outcome.Done());
        assertThat(hits).hasSize(4).extracting(hit -> hit.header("webhook-id")).containsOnly("event-1");
    }

    @Test
    void shouldWaitAsLongAsTheReceiverAsks() throws Exception {
        // given
        long start = System.nanoTime();
        // when
        Outcome outcome = delivery(List.of("s"), null).handle(notice("/later"));
        // then
        assertThat(outcome).isEqualTo(new Outcome.Done());
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void shouldGiveUpAtTheEndOfItsBudget() throws Exception {
        // given
        WebhookDelivery delivery = delivery(
                List.of("s"),
                null,
                new WebhookDelivery.Limits(
                        Duration.ofMillis(300), Duration.ofMillis(500), Duration.ofMillis(50), Duration.ofMillis(50)));
        // when
        Outcome outcome = delivery.handle(notice("/broken"));
        // then
        assertThat(outcome).isInstanceOfSatisfying(Outcome.GivenUp.class, givenUp -> {
            assertThat(givenUp.code()).isEqualTo("webhook_failed");
            assertThat(givenUp.detail()).contains("status 500");
        });
        assertThat(hits).hasSizeBetween(4, 20);
    }

    @Test
    void shouldGiveUpAtOnceOnARefusal() throws Exception {
        // when
        Outcome outcome = delivery(List.of("s"), null).handle(notice("/gone"));
        // then
        assertThat(outcome).isInstanceOf(Outcome.GivenUp.class);
        assertThat(hits).hasSize(1);
    }

    @Test
    @DisplayName("a receiver that takes for ever is left after the attempt's time")
    void shouldNotWaitForASlowReceiver() throws Exception {
        // given
        WebhookDelivery delivery = delivery(
                List.of("s"),
                null,
                new WebhookDelivery.Limits(
                        Duration.ofMillis(900), Duration.ofMillis(300), Duration.ofMillis(10), Duration.ofMillis(10)));
        long start = System.nanoTime();
        // when
        Outcome outcome = delivery.handle(notice("/drip"));
        // then
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.GivenUp.class,
                        givenUp -> assertThat(givenUp.detail()).contains("no answer within 300 ms"));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    @DisplayName("a redirect is not followed, least of all to the loopback address")
    void shouldNotFollowRedirects() throws Exception {
        // when
        Outcome outcome = delivery(List.of("s"), null).handle(notice("/redirect"));
        // then
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.GivenUp.class,
                        givenUp -> assertThat(givenUp.detail()).contains("status 302"));
        assertThat(hits).extracting(Hit::path).containsExactly("/redirect");
    }

    @Test
    void shouldRefusePrivateAddresses() throws Exception {
        // given
        GuardedHttp strict = client(List.of());
        WebhookDelivery delivery = new WebhookDelivery(strict, new WebhookSecrets(List.of()), Redaction.NONE, LIMITS);
        // when
        Outcome outcome = delivery.handle(notice("/ok"));
        // then
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.GivenUp.class,
                        givenUp -> assertThat(givenUp.detail()).contains("private"));
        assertThat(hits).isEmpty();
    }

    @Test
    void shouldSayThatSomethingElseIsNoNotice() throws Exception {
        // given
        Event other = Event.root("e", KnownEventType.TASK_NOTIFY, Instant.now()).build();
        // then
        assertThat(delivery(List.of(), null).handle(other))
                .isInstanceOfSatisfying(
                        Outcome.GivenUp.class,
                        givenUp -> assertThat(givenUp.code()).isEqualTo("unexpected_type"));
    }

    private WebhookDelivery delivery(List<String> secrets, @Nullable Path file) {
        return delivery(secrets, file, LIMITS);
    }

    private WebhookDelivery delivery(List<String> secrets, @Nullable Path file, WebhookDelivery.Limits limits) {
        return delivery(limits, new WebhookSecrets.Receiver("it", List.of(url("")), secrets, file));
    }

    private WebhookDelivery delivery(WebhookDelivery.Limits limits, WebhookSecrets.Receiver... receivers) {
        return new WebhookDelivery(
                client(List.of("127.0.0.1")), new WebhookSecrets(List.of(receivers)), REDACTION, limits);
    }

    private URI url(String path) {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
    }

    private GuardedHttp client(List<String> allowed) {
        GuardedHttp client = new GuardedHttp(new GuardedHttp.Limits(allowed, 1_000, 5_000, 10_000));
        clients.add(client);
        return client;
    }

    private Event notice(String path) {
        return notice(path, Map.of());
    }

    private Event notice(String path, Map<String, Object> more) {
        Map<String, Object> payload = new HashMap<>(Map.of(
                "callbackUrl",
                "http://127.0.0.1:" + server.getAddress().getPort() + path,
                "type",
                "completed",
                "taskId",
                "task-1",
                "eventId",
                "event-1",
                "timestamp",
                1_800_000_000_000L));
        payload.putAll(more);
        return Event.root("request-1", KnownEventType.NOTIFICATION_REQUESTED, Instant.now())
                .taskId("task-1")
                .payload(payload)
                .build();
    }

    private static String hmac(byte[] key, Hit hit) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        String signed = hit.header("webhook-id") + "." + hit.header("webhook-timestamp") + "." + hit.body();
        return Base64.getEncoder().encodeToString(mac.doFinal(signed.getBytes(UTF_8)));
    }

    private void serve(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        hits.add(new Hit(path, Map.copyOf(exchange.getRequestHeaders()), body));
        try (exchange) {
            switch (path) {
                case "/ok" -> exchange.sendResponseHeaders(204, -1);
                case "/thrice" -> exchange.sendResponseHeaders(hits.size() < 4 ? 500 : 200, -1);
                case "/later" -> {
                    exchange.getResponseHeaders().set("Retry-After", "1");
                    exchange.sendResponseHeaders(hits.size() == 1 ? 429 : 200, -1);
                }
                case "/broken" -> exchange.sendResponseHeaders(500, -1);
                case "/gone" -> exchange.sendResponseHeaders(410, -1);
                case "/redirect" -> {
                    exchange.getResponseHeaders()
                            .set(
                                    "Location",
                                    "http://127.0.0.1:" + server.getAddress().getPort() + "/ok");
                    exchange.sendResponseHeaders(302, -1);
                }
                case "/drip" -> {
                    exchange.sendResponseHeaders(200, 0);
                    while (!end.await(50, java.util.concurrent.TimeUnit.MILLISECONDS)) {
                        exchange.getResponseBody().write('x');
                        exchange.getResponseBody().flush();
                    }
                }
                default -> exchange.sendResponseHeaders(404, -1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
