package dev.millrace.gateway.webhook;

import dev.millrace.schemas.WebhookSignatures;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** How a system signs what it sends. */
public enum WebhookScheme {
    /** Standard Webhooks: {@code webhook-id}, {@code webhook-timestamp}, {@code webhook-signature}. */
    STANDARD,
    /** {@code X-Hub-Signature-256} over the body; says no time. */
    GITHUB,
    /** {@code Stripe-Signature} with {@code t} and {@code v1}. */
    STRIPE,
    /** {@code X-Slack-Signature} and {@code X-Slack-Request-Timestamp}. */
    SLACK,
    /** A header that is named, over the body; says no time. */
    HMAC,
    /** Nothing is signed: whoever reaches the route is believed. */
    NONE;

    private static final byte[] DOT = {'.'};

    /**
     * How the header of {@link #HMAC} is written.
     *
     * @param header its name
     * @param prefix what stands before the signature, such as {@code sha256=}; may be empty
     * @param encoding how the signature is written
     */
    public record Named(String header, String prefix, Encoding encoding) {}

    /** How a signature is written. */
    public enum Encoding {
        /** Hexadecimal, in either case. */
        HEX,
        /** Base64, with padding. */
        BASE64
    }

    /**
     * What a signature is checked with.
     *
     * @param secrets any of them will do; none = nothing is believed
     * @param tolerance how far the time that was signed may be from now
     * @param named of {@link #HMAC}
     */
    public record Check(List<String> secrets, Duration tolerance, Named named) {}

    /**
     * Why a request is not believed; empty if it is.
     *
     * @param now the clock
     * @return what was expected and found, without anything that helps to sign
     */
    Optional<String> refusal(WebhookRequest request, Check check, Instant now) {
        return switch (this) {
            case NONE -> Optional.empty();
            case STANDARD -> standard(request, check, now);
            case GITHUB -> overBody(request, check, new Named("X-Hub-Signature-256", "sha256=", Encoding.HEX));
            case HMAC -> overBody(request, check, check.named());
            case STRIPE -> stripe(request, check, now);
            case SLACK -> slack(request, check, now);
        };
    }

    private static Optional<String> standard(WebhookRequest request, Check check, Instant now) {
        String id = request.find("webhook-id").orElse(null);
        String time = request.find("webhook-timestamp").orElse(null);
        String signatures = request.find("webhook-signature").orElse(null);
        if (id == null || time == null || signatures == null) {
            return Optional.of("expected the headers webhook-id, webhook-timestamp and webhook-signature, found "
                    + (id == null ? "no id" : time == null ? "no time" : "no signature"));
        }
        List<byte[]> given = new ArrayList<>();
        for (String one : signatures.split(" ", -1)) {
            if (one.startsWith("v1,")) {
                decoded(one.substring(3), Encoding.BASE64).ifPresent(given::add);
            }
        }
        byte[] head = (id + '.' + time + '.').getBytes(StandardCharsets.UTF_8);
        return late(time, check, now).or(() -> unsigned(given, check, WebhookSignatures::key, head, request.body()));
    }

    private static Optional<String> stripe(WebhookRequest request, Check check, Instant now) {
        String header = request.find("Stripe-Signature").orElse("");
        String time = "";
        List<byte[]> given = new ArrayList<>();
        for (String part : header.split(",", -1)) {
            String[] named = part.strip().split("=", 2);
            if (named.length == 2 && named[0].equals("t")) {
                time = named[1];
            } else if (named.length == 2 && named[0].equals("v1")) {
                decoded(named[1], Encoding.HEX).ifPresent(given::add);
            }
        }
        if (time.isEmpty() || given.isEmpty()) {
            return Optional.of("expected the header Stripe-Signature with t= and v1=, found "
                    + (header.isEmpty() ? "none" : "another"));
        }
        byte[] signed = time.getBytes(StandardCharsets.UTF_8);
        return late(time, check, now)
                .or(() -> unsigned(given, check, WebhookScheme::plain, signed, DOT, request.body()));
    }

    private static Optional<String> slack(WebhookRequest request, Check check, Instant now) {
        String time = request.find("X-Slack-Request-Timestamp").orElse(null);
        String signature = request.find("X-Slack-Signature").orElse("");
        if (time == null || !signature.startsWith("v0=")) {
            return Optional.of("expected the headers X-Slack-Request-Timestamp and X-Slack-Signature with v0=, found "
                    + (time == null ? "no time" : "no such signature"));
        }
        List<byte[]> given =
                decoded(signature.substring(3), Encoding.HEX).stream().toList();
        byte[] head = ("v0:" + time + ':').getBytes(StandardCharsets.UTF_8);
        return late(time, check, now).or(() -> unsigned(given, check, WebhookScheme::plain, head, request.body()));
    }

    private static Optional<String> overBody(WebhookRequest request, Check check, Named named) {
        String signature = request.find(named.header()).orElse(null);
        if (signature == null || !signature.startsWith(named.prefix())) {
            return Optional.of("expected the header " + named.header()
                    + (named.prefix().isEmpty() ? "" : " that begins with " + named.prefix()) + ", found "
                    + (signature == null ? "none" : "another"));
        }
        List<byte[]> given = decoded(signature.substring(named.prefix().length()), named.encoding()).stream()
                .toList();
        return unsigned(given, check, WebhookScheme::plain, request.body());
    }

    /** The time is part of what was signed, so nobody can send the same again later. */
    private static Optional<String> late(String time, Check check, Instant now) {
        Instant signedAt;
        try {
            signedAt = Instant.ofEpochSecond(Long.parseLong(time));
        } catch (RuntimeException e) { // a number out of range is no time either
            return Optional.of("expected the time of the signature in Unix seconds, found another text");
        }
        return Duration.between(signedAt, now).abs().compareTo(check.tolerance()) > 0
                ? Optional.of("expected a signature of at most "
                        + check.tolerance().toSeconds() + " s ago, found an older one or one of the future")
                : Optional.empty();
    }

    /** All secrets are tried with all signatures, whatever comes of it, so that the time it takes tells nothing. */
    private static Optional<String> unsigned(
            List<byte[]> given, Check check, Function<String, byte[]> key, byte[]... signed) {
        boolean right = false;
        for (String secret : check.secrets()) {
            byte[] expected = WebhookSignatures.hmac(key.apply(secret), signed);
            for (byte[] one : given) {
                right |= MessageDigest.isEqual(expected, one);
            }
        }
        return right
                ? Optional.empty()
                : Optional.of("expected a signature with the secret of this source, found another");
    }

    private static byte[] plain(String secret) {
        return secret.getBytes(StandardCharsets.UTF_8);
    }

    private static Optional<byte[]> decoded(String text, Encoding encoding) {
        try {
            return Optional.of(
                    switch (encoding) {
                        case HEX -> HexFormat.of().parseHex(text.strip());
                        case BASE64 -> Base64.getDecoder().decode(text.strip());
                    });
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
