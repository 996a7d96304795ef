package dev.millrace.gateway.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.KnownEventType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Signatures are those of the schemes' own documents where they have one, else made with Python's hmac. */
class WebhookSourceTest {

    private static final WebhookSource.Mapping RECEIVED = new WebhookSource.Mapping(
            EventType.of("webhook.received"), "default", null, null, null, null, Set.of(), null);

    /** A request that is right, with the secret and the time of it. */
    private record Sample(WebhookScheme scheme, String secret, Instant at, Map<String, String> headers, String body) {

        Sample with(String header, String value) {
            Map<String, String> changed = new HashMap<>(headers);
            changed.put(header, value);
            return new Sample(scheme, secret, at, changed, body);
        }

        Sample without(String header) {
            Map<String, String> changed = new HashMap<>(headers);
            changed.remove(header);
            return new Sample(scheme, secret, at, changed, body);
        }

        Sample saying(String other) {
            return new Sample(scheme, secret, at, headers, other);
        }
    }

    private static final Sample STANDARD = new Sample(
            WebhookScheme.STANDARD,
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            Instant.ofEpochSecond(1_614_265_330),
            Map.of(
                    "webhook-id",
                    "msg_p5jXN8AQM9LWM0D4loKWxJek",
                    "webhook-timestamp",
                    "1614265330",
                    "webhook-signature",
                    "v1,b3RoZXI= v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v2,x"),
            "{\"test\": 2432232314}");
    private static final Sample GITHUB = new Sample(
            WebhookScheme.GITHUB,
            "It's a Secret to Everybody",
            Instant.EPOCH,
            Map.of(
                    "x-hub-signature-256",
                    "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
                    "x-github-event",
                    "push",
                    "x-github-delivery",
                    "72d3162e-cc78-11e3-81ab-4c9367dc0958",
                    "content-type",
                    "text/plain"),
            "Hello, World!");
    private static final Sample SLACK = new Sample(
            WebhookScheme.SLACK,
            "8f742231b10e8888abcd99yyyzzz85a5",
            Instant.ofEpochSecond(1_531_420_618),
            Map.of(
                    "x-slack-request-timestamp",
                    "1531420618",
                    "x-slack-signature",
                    "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
                    "content-type",
                    "application/x-www-form-urlencoded"),
            "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
                    + "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
                    + "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554"
                    + "%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121"
                    + ".803a0bc887a14d10d2c447fce8b6703c");
    private static final Sample STRIPE = new Sample(
            WebhookScheme.STRIPE,
            "whsec_test_secret",
            Instant.ofEpochSecond(1_492_774_577),
            Map.of(
                    "stripe-signature",
                    "t=1492774577,v1=00,v1=4ee5e8d695c9619e003fd480d3d51700d924e29697337d379a6ef6e06e703ab4,v0=11"),
            "{\"id\":\"evt_1\",\"type\":\"charge.succeeded\"}");
    private static final Sample HMAC = new Sample(
            WebhookScheme.HMAC,
            "plain",
            Instant.EPOCH,
            Map.of("x-sig", "b64:/QO6gxho42tbbSdWhQlVF3t+kA6RDdvsK8KCG+SLiRk="),
            "{\"a\":1}");
    private static final List<Sample> SIGNED = List.of(STANDARD, GITHUB, SLACK, STRIPE, HMAC);

    @Test
    @DisplayName("what is signed as the scheme's own documents have it is believed, and becomes an event")
    void shouldBelieve() {
        assertThat(SIGNED).allSatisfy(sample -> {
            Event event = accepted(sample);
            assertThat(event.type().wireName()).isEqualTo("webhook.received");
            assertThat(event.source()).isEqualTo("webhook/test");
            assertThat(event.fields().get("source")).isEqualTo("test");
        });
        assertThat(accepted(STANDARD).fields().get("body")).isEqualTo(Map.of("test", 2_432_232_314L));
        assertThat(accepted(STANDARD).fields().get("deliveryId")).isEqualTo("msg_p5jXN8AQM9LWM0D4loKWxJek");
        assertThat(accepted(GITHUB).fields())
                .isEqualTo(Map.of(
                        "source",
                        "test",
                        "event",
                        "push",
                        "deliveryId",
                        "72d3162e-cc78-11e3-81ab-4c9367dc0958",
                        "body",
                        "Hello, World!"));
        assertThat(accepted(SLACK).fields().get("body"))
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .containsEntry("command", "/webhook-collect")
                .containsEntry("text", "");
        assertThat(accepted(STRIPE).fields())
                .containsEntry("event", "charge.succeeded")
                .containsEntry("deliveryId", "evt_1");
    }

    @Test
    @DisplayName("another body, another secret, no signature or one that is none is not believed")
    void shouldNotBelieve() {
        assertThat(SIGNED).allSatisfy(sample -> {
            assertThat(take(sample.saying(sample.body() + " "))).isInstanceOf(WebhookSource.NotBelieved.class);
            assertThat(take(sample.saying(""))).isInstanceOf(WebhookSource.NotBelieved.class);
            assertThat(source(sample.scheme(), "another", RECEIVED).take(request(sample), sample.at()))
                    .isInstanceOf(WebhookSource.NotBelieved.class);
            for (String header : sample.headers().keySet()) {
                if (header.contains("sig")) {
                    assertThat(take(sample.without(header))).isInstanceOf(WebhookSource.NotBelieved.class);
                    assertThat(take(sample.with(header, ""))).isInstanceOf(WebhookSource.NotBelieved.class);
                    assertThat(take(sample.with(header, "v1,%%% v0=zz sha256=zz t=1,v1=zz b64:%%")))
                            .isInstanceOf(WebhookSource.NotBelieved.class);
                }
            }
        });
        assertThat(take(STANDARD.with("webhook-id", "another"))).isInstanceOf(WebhookSource.NotBelieved.class);
        assertThat(source(WebhookScheme.GITHUB, null, RECEIVED).take(request(GITHUB), GITHUB.at()))
                .isInstanceOf(WebhookSource.NotBelieved.class);
    }

    @Test
    @DisplayName("a signature with a time is believed for five minutes before and after it, and no longer")
    void shouldLimitTheTime() {
        for (Sample sample : List.of(STANDARD, SLACK, STRIPE)) {
            WebhookSource source = source(sample.scheme(), sample.secret(), RECEIVED);
            for (long seconds : List.of(-300L, 300L)) {
                assertThat(source.take(request(sample), sample.at().plusSeconds(seconds)))
                        .isInstanceOf(WebhookSource.Accepted.class);
            }
            for (long seconds : List.of(-301L, 301L)) {
                assertThat(source.take(request(sample), sample.at().plusSeconds(seconds)))
                        .isInstanceOfSatisfying(
                                WebhookSource.NotBelieved.class,
                                refused -> assertThat(refused.reason()).contains("at most 300 s ago"));
            }
        }
    }

    @ParameterizedTest
    @DisplayName("a time that is none is not believed")
    @ValueSource(strings = {"", "x", "-1", "99999999999999999999", "9223372036854775807", "1614265330.5"})
    void shouldNotBelieveOddTimes(String time) {
        assertThat(take(STANDARD.with("webhook-timestamp", time))).isInstanceOf(WebhookSource.NotBelieved.class);
        assertThat(take(SLACK.with("x-slack-request-timestamp", time))).isInstanceOf(WebhookSource.NotBelieved.class);
        assertThat(take(STRIPE.with("stripe-signature", "t=" + time + ",v1=00")))
                .isInstanceOf(WebhookSource.NotBelieved.class);
    }

    @Test
    @DisplayName("the same delivery has the same id, another one another; without ids every request counts")
    void shouldDeriveIds() {
        assertThat(accepted(STANDARD).id()).isEqualTo(accepted(STANDARD).id());
        assertThat(accepted(GITHUB).id())
                .isEqualTo(accepted(GITHUB).id())
                .isNotEqualTo(
                        accepted(GITHUB.with("x-github-delivery", "another")).id());
        assertThat(accepted(HMAC).id()).isNotEqualTo(accepted(HMAC).id());
        WebhookSource.Mapping named =
                new WebhookSource.Mapping(EventType.of("a.b"), "default", null, null, null, null, Set.of(), "X-Id");
        WebhookSource source = source(WebhookScheme.HMAC, "plain", named);
        WebhookRequest request = request(HMAC.with("x-id", "7"));
        assertThat(source.take(request, Instant.EPOCH)).isEqualTo(source.take(request, Instant.EPOCH));
    }

    @Test
    @DisplayName("a webhook can start a task: with a template, in the conversation that a template names")
    void shouldStartTasks() {
        WebhookSource source = source(
                WebhookScheme.NONE,
                null,
                new WebhookSource.Mapping(
                        KnownEventType.WEBHOOK_TRIGGERED,
                        "acme",
                        "{{body.repo}}",
                        "Look at {{body.repo}}: {{metadata.event}}",
                        "clerk",
                        120,
                        Set.of("push"),
                        "X-Id"));

        Event event = ((WebhookSource.Accepted)
                        source.take(body("{\"type\":\"push\",\"repo\":\"a/b\"}", Map.of("x-id", "1")), Instant.EPOCH))
                .event();

        assertThat(event.type()).isEqualTo(KnownEventType.WEBHOOK_TRIGGERED);
        assertThat(event.namespace()).isEqualTo("acme");
        assertThat(event.sessionId()).isEqualTo("a/b");
        assertThat(event.effectivePriority()).isEqualTo(120);
        assertThat(event.fields())
                .isEqualTo(Map.of(
                        "template",
                        "Look at {{body.repo}}: {{metadata.event}}",
                        "body",
                        Map.of("type", "push", "repo", "a/b"),
                        "taskType",
                        "clerk",
                        "metadata",
                        Map.of("source", "test", "event", "push", "deliveryId", "1")));
        assertThat(source.take(body("{\"type\":\"pull\",\"repo\":\"a/b\"}", Map.of()), Instant.EPOCH))
                .isEqualTo(new WebhookSource.LeftOut("pull"));
        assertThat(source.take(body("{\"type\":\"push\"}", Map.of()), Instant.EPOCH))
                .isInstanceOfSatisfying(WebhookSource.Unusable.class, unusable -> {
                    assertThat(unusable.code()).isEqualTo("bad_session");
                    assertThat(unusable.reason()).contains("{{body.repo}}, which leads nowhere");
                });
        assertThat(source.take(
                        body("{\"type\":\"push\",\"repo\":\"" + "x".repeat(201) + "\"}", Map.of()), Instant.EPOCH))
                .isInstanceOf(WebhookSource.Unusable.class);
        assertThat(source.take(body("{\"type\":\"push\",\"repo\":\"a\\u0000b\"}", Map.of()), Instant.EPOCH))
                .isInstanceOf(WebhookSource.Unusable.class);
    }

    @Test
    @DisplayName("Slack's question whether this is the right address is answered, once it is signed")
    void shouldAnswerChallenges() {
        // python: hmac.new(b"plain", b'v0:5:{"type":"url_verification","challenge":"abc"}', sha256)
        String body = "{\"type\":\"url_verification\",\"challenge\":\"abc\"}";
        Map<String, String> headers = Map.of(
                "x-slack-request-timestamp",
                "5",
                "x-slack-signature",
                "v0=3e3350c2a2a67c8749b7640b2424f6c9ec00bd205d73467f262365eb65ecfab5");
        WebhookSource source = source(WebhookScheme.SLACK, "plain", RECEIVED);

        assertThat(source.take(body(body, headers), Instant.ofEpochSecond(5)))
                .isEqualTo(new WebhookSource.Challenge("abc"));
        assertThat(source.take(body(body, Map.of()), Instant.ofEpochSecond(5)))
                .isInstanceOf(WebhookSource.NotBelieved.class);
    }

    @ParameterizedTest
    @DisplayName("a body that is no JSON although it says so is told, and any JSON value is a body")
    @ValueSource(strings = {"{", "{\"a\":1}}", "1,2", "1},{", "\"x", "{\"a\":NaN}"})
    void shouldTellWhatIsNoJson(String body) {
        WebhookSource source = source(WebhookScheme.NONE, null, RECEIVED);

        assertThat(source.take(body(body, Map.of()), Instant.EPOCH))
                .isInstanceOfSatisfying(
                        WebhookSource.Unusable.class,
                        unusable -> assertThat(unusable.code()).isEqualTo("bad_json"));
        assertThat(source.take(body("{\"n\":1e400}", Map.of()), Instant.EPOCH))
                .isInstanceOfSatisfying(
                        WebhookSource.Unusable.class,
                        unusable -> assertThat(unusable.code()).isEqualTo("bad_field"));
        assertThat(source.take(body("[1,2]", Map.of()), Instant.EPOCH))
                .isInstanceOfSatisfying(
                        WebhookSource.Accepted.class,
                        taken -> assertThat(taken.event().fields().get("body")).isEqualTo(List.of(1, 2)));
    }

    @ParameterizedTest
    @DisplayName("a form with JSON in its only field, as GitHub can send it, is that JSON")
    @EnumSource(names = {"NONE"})
    void shouldReadForms(WebhookScheme scheme) {
        WebhookSource source = source(scheme, null, RECEIVED);

        assertThat(source.take(
                        body(
                                "payload=%7B%22type%22%3A%22push%22%7D",
                                Map.of("content-type", "application/x-www-form-urlencoded; charset=utf-8")),
                        Instant.EPOCH))
                .isInstanceOfSatisfying(
                        WebhookSource.Accepted.class,
                        taken -> assertThat(taken.event().fields().get("event")).isEqualTo("push"));
        assertThat(source.take(
                        body("a=%zz", Map.of("content-type", "application/x-www-form-urlencoded")), Instant.EPOCH))
                .isInstanceOf(WebhookSource.Unusable.class);
    }

    @Test
    @DisplayName("a source that makes no sense is refused")
    void shouldRefuseOddSources() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> mapping(KnownEventType.WEBHOOK_TRIGGERED, null, null))
                .withMessageContaining("template: expected one");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> mapping(EventType.of("a.b"), "x", null))
                .withMessageContaining("template: expected none for a.b");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> mapping(KnownEventType.TASK_COMPLETED, null, null))
                .withMessageContaining("type: expected WEBHOOK_TRIGGERED");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> mapping(EventType.of("a.b"), null, 99))
                .withMessageContaining("priority: expected 100 or more, found 99");
    }

    private static WebhookSource.Mapping mapping(
            EventType type, @Nullable String template, @Nullable Integer priority) {
        return new WebhookSource.Mapping(type, "default", null, template, null, priority, Set.of(), null);
    }

    private static Event accepted(Sample sample) {
        assertThat(take(sample)).isInstanceOf(WebhookSource.Accepted.class);
        return ((WebhookSource.Accepted) take(sample)).event();
    }

    private static WebhookSource.Outcome take(Sample sample) {
        return source(sample.scheme(), sample.secret(), RECEIVED).take(request(sample), sample.at());
    }

    private static WebhookSource source(WebhookScheme scheme, @Nullable String secret, WebhookSource.Mapping mapping) {
        return new WebhookSource(
                "test",
                scheme,
                () -> new WebhookScheme.Check(
                        secret == null ? List.of() : List.of("some other secret", secret),
                        Duration.ofMinutes(5),
                        new WebhookScheme.Named("X-Sig", "b64:", WebhookScheme.Encoding.BASE64)),
                mapping);
    }

    private static WebhookRequest request(Sample sample) {
        return body(sample.body(), sample.headers());
    }

    private static WebhookRequest body(String body, Map<String, String> headers) {
        return new WebhookRequest(
                name -> headers.get(name.toLowerCase(Locale.ROOT)), body.getBytes(StandardCharsets.UTF_8));
    }
}
