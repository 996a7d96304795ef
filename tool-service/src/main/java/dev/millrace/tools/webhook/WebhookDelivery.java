package dev.millrace.tools.webhook;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.requests.NoticeHandler;
import dev.millrace.schemas.Backoff;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Redaction;
import dev.millrace.schemas.WebhookSignatures;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Delivers one NOTIFICATION_REQUESTED to its callback URL, within a budget of time. Follows no redirects. */
public final class WebhookDelivery implements NoticeHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(WebhookDelivery.class);

    private static final String FAILED = "webhook_failed";
    /** Another time it may be another answer; every other refusal is taken at its word. */
    private static final Set<Integer> COME_AGAIN = Set.of(408, 409, 425, 429);

    /** What a receiver knows by what it is told of; it stays, whatever patterns there are. */
    private static final Set<String> ENVELOPE =
            Set.of("type", "taskId", "sessionId", "namespace", "eventId", "timestamp", "channelId");

    private final GuardedHttp http;
    private final WebhookSecrets secrets;
    private final Redaction redaction;
    private final Limits limits;

    /**
     * How long it is tried.
     *
     * @param budget from the first attempt to the last
     * @param attemptTimeout one attempt, from the connection to the end of the answer
     * @param firstPause after the first failure; it doubles with each further one
     * @param longestPause the longest such pause; what the receiver asks for with Retry-After may be longer
     */
    public record Limits(Duration budget, Duration attemptTimeout, Duration firstPause, Duration longestPause) {}

    /**
     * Delivers over this client.
     *
     * @param redaction what no receiver is told
     */
    public WebhookDelivery(GuardedHttp http, WebhookSecrets secrets, Redaction redaction, Limits limits) {
        this.http = http;
        this.secrets = secrets;
        this.redaction = redaction;
        this.limits = limits;
    }

    /** What it has to know of any notice, a stranger's as well. The receiver is told the rest, redacted. */
    private record Notice(
            @Nullable Object callbackUrl, @Nullable Object eventId) {}

    /** How one attempt went. */
    private sealed interface Attempt {
        record Delivered() implements Attempt {}

        record Refused(String why) implements Attempt {}

        record Failed(String why, @Nullable Duration retryAfter) implements Attempt {}
    }

    @Override
    public Outcome handle(Event event) throws InterruptedException {
        if (event.type() != KnownEventType.NOTIFICATION_REQUESTED
                || !(Json.MAPPER.convertValue(event.fields(), Notice.class) instanceof Notice(String url, String id))) {
            return new Outcome.GivenUp(
                    "unexpected_type", "expected a NOTIFICATION_REQUESTED with callbackUrl and eventId");
        }
        URI target;
        try {
            target = new URI(url);
        } catch (URISyntaxException e) {
            return new Outcome.GivenUp(FAILED, "callbackUrl: expected a URL, found one with: " + e.getReason());
        }
        ObjectNode told = Json.MAPPER.valueToTree(event.fields());
        told.remove("callbackUrl");
        String body = Json.writeText(redacted(told).put("audience", audience(target)));
        Backoff backoff = new Backoff(limits.firstPause(), limits.longestPause(), id);
        long end = System.nanoTime() + limits.budget().toNanos();
        for (int attempt = 1; true; attempt++) {
            switch (attempt(target, id, body)) {
                case Attempt.Delivered delivered -> {
                    return new Outcome.Done();
                }
                case Attempt.Refused(String why) -> {
                    return new Outcome.GivenUp(FAILED, said(target, attempt, why));
                }
                case Attempt.Failed(String why, Duration retryAfter) -> {
                    LOGGER.atDebug()
                            .addKeyValue("taskId", event.taskId())
                            .addKeyValue("attempt", attempt)
                            .log("A webhook was not delivered");
                    if (!backoff.pause(attempt, retryAfter, end)) {
                        return new Outcome.GivenUp(FAILED, said(target, attempt, why));
                    }
                }
            }
        }
    }

    /** What is left to tell. */
    private ObjectNode redacted(ObjectNode notice) {
        ObjectNode told = notice.objectNode();
        notice.properties()
                .forEach(field -> told.set(
                        field.getKey(),
                        ENVELOPE.contains(field.getKey()) ? field.getValue() : redaction.json(field.getValue())));
        return told;
    }

    /** Whom it is for, so that a receiver can tell what was meant for somebody else; a query may hold a token. */
    private static String audience(URI target) {
        String path = target.getRawPath();
        return target.getScheme() + "://" + target.getRawAuthority() + (path == null ? "" : path);
    }

    private static String said(URI target, int attempts, String why) {
        return target.getScheme() + "://" + target.getAuthority() + ": " + why + " (attempt " + attempts + ")";
    }

    private Attempt attempt(URI target, String id, String body) throws InterruptedException {
        try {
            long now = System.currentTimeMillis() / 1_000;
            Map<String, String> headers = new LinkedHashMap<>();
            headers.put("Content-Type", "application/json");
            headers.put("webhook-id", id);
            headers.put("webhook-timestamp", Long.toString(now));
            List<String> keys = secrets.of(target);
            if (!keys.isEmpty()) {
                headers.put("webhook-signature", WebhookSignatures.of(id, now, body, keys));
            }
            GuardedHttp.Answer answer =
                    http.send("POST", target, headers, body.getBytes(StandardCharsets.UTF_8), limits.attemptTimeout());
            int status = answer.status();
            if (status >= 200 && status < 300) {
                return new Attempt.Delivered();
            }
            String why = "the receiver answered with status " + status;
            return status >= 500 || COME_AGAIN.contains(status)
                    ? new Attempt.Failed(why, answer.retryAfter())
                    : new Attempt.Refused(why);
        } catch (IOException e) {
            return GuardedHttp.isRefused(e)
                    ? new Attempt.Refused(String.valueOf(e.getMessage()))
                    : new Attempt.Failed(String.valueOf(e.getMessage()), null);
        } catch (RuntimeException e) {
            return new Attempt.Failed(String.valueOf(e), null);
        }
    }
}
