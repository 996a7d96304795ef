package dev.millrace.gateway.rest.outside;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each scheme over HTTP, signed here as its system signs; what is refused leaves nothing on the lanes. */
@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class WebhookSignaturesIT {

    private static final Duration OLD = Duration.ofMinutes(6);

    private final GatewayClient gateway = new GatewayClient();

    /** A system that signs; its source has the same name, and the secret "sesame of NAME". */
    enum Sender {
        STANDARD {
            @Override
            Map<String, String> sign(String secret, String id, long time, String body) {
                return Map.of(
                        "webhook-id",
                        id,
                        "webhook-timestamp",
                        Long.toString(time),
                        "webhook-signature",
                        "v1," + Base64.getEncoder().encodeToString(hmac(secret, id + '.' + time + '.' + body)));
            }
        },
        STRIPE {
            @Override
            Map<String, String> sign(String secret, String id, long time, String body) {
                return Map.of("Stripe-Signature", "t=" + time + ",v1=" + hex(secret, time + "." + body));
            }
        },
        SLACK {
            @Override
            Map<String, String> sign(String secret, String id, long time, String body) {
                return Map.of(
                        "X-Slack-Request-Timestamp",
                        Long.toString(time),
                        "X-Slack-Signature",
                        "v0=" + hex(secret, "v0:" + time + ':' + body));
            }
        },
        HMAC {
            @Override
            Map<String, String> sign(String secret, String id, long time, String body) {
                return Map.of("X-Signature-256", hex(secret, body), "X-Id", id);
            }
        },
        GITHUB {
            @Override
            Map<String, String> sign(String secret, String id, long time, String body) {
                return Map.of(
                        "X-Hub-Signature-256",
                        "sha256=" + hex(secret, body),
                        "X-GitHub-Delivery",
                        id,
                        "X-GitHub-Event",
                        "ping");
            }
        };

        abstract Map<String, String> sign(String secret, String id, long time, String body);

        boolean saysTheTime() {
            return this != HMAC && this != GITHUB;
        }

        String source() {
            return "it-" + name().toLowerCase(Locale.ROOT);
        }

        private static String hex(String secret, String signed) {
            return HexFormat.of().formatHex(hmac(secret, signed));
        }

        private static byte[] hmac(String secret, String signed) {
            try {
                Mac mac = Mac.getInstance("HmacSHA256");
                mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
                return mac.doFinal(signed.getBytes(StandardCharsets.UTF_8));
            } catch (GeneralSecurityException e) {
                throw new AssertionError(e);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("one that is signed is taken once, however often it is sent; a wrong, changed or old one never")
    void shouldTakeWhatIsSigned(Sender sender) throws Exception {
        // given
        String secret = "sesame of " + sender.name();
        String id = Ids.random();
        String body = Json.writeText(Map.of("id", id, "event_id", id, "type", "ping", "kite", "ж"));
        long now = Instant.now().getEpochSecond();

        // when: refused
        Answer unsigned = send(sender, Map.of(), body);
        Answer wrong = send(sender, sender.sign("another secret", id, now, body), body);
        Answer changed = send(sender, sender.sign(secret, id, now, body), body.replace("ping", "pong"));
        Answer old = send(sender, sender.sign(secret, id, now - OLD.toSeconds(), body), body);
        Answer early = send(sender, sender.sign(secret, id, now + OLD.toSeconds(), body), body);
        // and taken
        Answer first = send(sender, sender.sign(secret, id, now, body), body);
        Answer again = send(sender, sender.sign(secret, id, now, body), body);
        Answer later = send(sender, sender.sign(secret, id, now + 1, body), body);

        // then
        assertThat(List.of(unsigned, wrong, changed)).allSatisfy(WebhookSignaturesIT::assertRefused);
        if (sender.saysTheTime()) {
            assertThat(List.of(old, early)).allSatisfy(WebhookSignaturesIT::assertRefused);
        }
        assertThat(List.of(first, again, later)).allSatisfy(answer -> {
            assertThat(answer.status()).isEqualTo(202);
            assertThat(answer.text("eventId"))
                    .as("the same event for the same delivery")
                    .isEqualTo(first.text("eventId"));
        });
        try (TopicReader lanes =
                TestBroker.shared().read(gateway.topics().lanes().toArray(String[]::new))) {
            List<Event> events = lanes
                    .events(
                            read -> read.stream()
                                            .filter(event -> event.id().equals(first.text("eventId")))
                                            .count()
                                    >= 3,
                            GatewayClient.LIMIT)
                    .stream()
                    .filter(event -> event.source().equals("webhook/" + sender.source()))
                    .toList();
            assertThat(events.stream().map(Event::id).distinct()).hasSize(1);
            assertThat(events.getFirst().fields())
                    .containsEntry("event", "ping")
                    .containsEntry("deliveryId", id)
                    .containsEntry("body", Json.readObject(body.getBytes(StandardCharsets.UTF_8)));
        }
    }

    private static void assertRefused(Answer answer) {
        assertThat(answer.status()).isEqualTo(401);
        assertThat(answer.text("code")).isEqualTo("bad_signature");
        assertThat(answer.body()).doesNotContain("sesame");
    }

    private Answer send(Sender sender, Map<String, String> headers, String body) throws Exception {
        HttpRequest.Builder request = gateway.request("/v1/webhooks/" + sender.source())
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body));
        headers.forEach(request::header);
        return gateway.send(request);
    }
}
