package dev.millrace.gateway.webhook;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.InputTemplate;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A system that sends webhooks: how its requests are checked, and which event one of them becomes. */
public final class WebhookSource {

    private static final int MAX_EVENT_NAME = 200;

    private final String name;
    private final WebhookScheme scheme;
    private final Supplier<WebhookScheme.Check> check;
    private final Mapping mapping;

    /**
     * Which event a request becomes. Templates may use {@code source}, {@code event}, {@code deliveryId} and
     * {@code body}.
     *
     * @param type of the event; one that starts a task has a template
     * @param namespace the tenant
     * @param session template of the conversation; {@code null} = each event is one of its own
     * @param template of the text that a task begins with; {@code null} = none
     * @param agent who does the task; {@code null} = the default one
     * @param priority {@code null} = the type's
     * @param only names of events that are taken; empty = all
     * @param idHeader which header tells one delivery from another; {@code null} = as the scheme has it
     */
    public record Mapping(
            EventType type,
            String namespace,
            @Nullable String session,
            @Nullable String template,
            @Nullable String agent,
            @Nullable Integer priority,
            Set<String> only,
            @Nullable String idHeader) {

        public Mapping {
            only = Set.copyOf(only);
            boolean starts = type == KnownEventType.WEBHOOK_TRIGGERED;
            if (type instanceof KnownEventType && !starts) {
                throw new IllegalArgumentException("type: expected WEBHOOK_TRIGGERED, or one of your own such as"
                        + " webhook.received, found " + type.wireName());
            }
            if (starts == (template == null)) {
                throw new IllegalArgumentException(
                        starts
                                ? "template: expected one, which makes the text that the task begins with, found none"
                                : "template: expected none for " + type.wireName()
                                        + ", which starts no task by itself, found one");
            }
            if (agent != null && !starts) {
                throw new IllegalArgumentException("agent: expected none for " + type.wireName() + ", found " + agent);
            }
            if (priority != null && priority < Event.lowestPriority(type)) {
                throw new IllegalArgumentException(
                        "priority: expected " + Event.lowestPriority(type) + " or more, found " + priority);
            }
        }
    }

    /** What becomes of a request. */
    public sealed interface Outcome {}

    /** An event, always with the same id for the same delivery. */
    public record Accepted(Event event) implements Outcome {}

    /** It is believed, and its source is set to leave such events out. */
    public record LeftOut(String eventName) implements Outcome {}

    /** It asks whether this is the right address, and is to hear this. */
    public record Challenge(String answer) implements Outcome {}

    /** It is not from whom it says, or too old, for this reason. */
    public record NotBelieved(String reason) implements Outcome {}

    /** It is believed, and no event can be made of it, for this reason. */
    public record Unusable(String code, String reason) implements Outcome {}

    /**
     * A source.
     *
     * @param check asked for each request, so that secrets can change
     */
    public WebhookSource(String name, WebhookScheme scheme, Supplier<WebhookScheme.Check> check, Mapping mapping) {
        this.name = name;
        this.scheme = scheme;
        this.check = check;
        this.mapping = mapping;
    }

    /** Looks at a request; nothing of its body is read before it is believed. */
    public Outcome take(WebhookRequest request, Instant now) {
        Optional<String> refusal = scheme.refusal(request, check.get(), now);
        if (refusal.isPresent()) {
            return new NotBelieved(refusal.get());
        }
        Object body;
        try {
            body = body(request);
        } catch (MalformedEventException e) {
            return new Unusable(e.code(), String.valueOf(e.getMessage()));
        }
        Map<?, ?> fields = body instanceof Map<?, ?> object ? object : Map.of();
        if (scheme == WebhookScheme.SLACK
                && "url_verification".equals(fields.get("type"))
                && fields.get("challenge") instanceof String challenge) {
            return new Challenge(challenge);
        }
        String event = eventName(request, fields).orElse("");
        return mapping.only().isEmpty() || mapping.only().contains(event)
                ? event(body, event, deliveryId(request, fields).orElseGet(Ids::random), now)
                : new LeftOut(event);
    }

    private Outcome event(@Nullable Object body, String eventName, String deliveryId, Instant now) {
        JsonObject told = JsonObject.builder()
                .put("source", name)
                .put("event", eventName)
                .put("deliveryId", deliveryId)
                .put("body", body)
                .build();
        String session = null;
        if (mapping.session() != null) {
            InputTemplate template = new InputTemplate(mapping.session());
            List<String> problems = template.problems(told);
            session = problems.isEmpty() ? template.fill(told).orElse("").strip() : "";
            if (session.isEmpty() || session.length() > Ids.MAX_LENGTH) {
                return new Unusable(
                        "bad_session",
                        problems.isEmpty()
                                ? "session: expected to make 1 to " + Ids.MAX_LENGTH + " characters, found "
                                        + session.length()
                                : String.join("; ", problems).replace("/template", "session"));
            }
        }
        JsonObject payload = told;
        if (mapping.template() != null) {
            payload = JsonObject.builder()
                    .put("template", mapping.template())
                    .putIfPresent("body", body)
                    .putIfPresent("taskType", mapping.agent())
                    .put("metadata", Map.of("source", name, "event", eventName, "deliveryId", deliveryId))
                    .build();
        }
        try {
            return new Accepted(Event.root(
                            Ids.derived(name + '\n' + mapping.namespace() + '\n' + deliveryId, mapping.type(), 0),
                            mapping.type(),
                            now)
                    .source("webhook/" + name)
                    .namespace(mapping.namespace())
                    .sessionId(session)
                    .priority(mapping.priority())
                    .payload(payload)
                    .build());
        } catch (IllegalArgumentException e) {
            return new Unusable("bad_field", String.valueOf(e.getMessage()));
        }
    }

    /** JSON as its values, a form as its fields, anything else as text. */
    private static @Nullable Object body(WebhookRequest request) throws MalformedEventException {
        if (request.body().length == 0) {
            return null;
        }
        String type = request.find("Content-Type")
                .map(text -> text.split(";", 2)[0].strip().toLowerCase(Locale.ROOT))
                .orElse("application/json");
        if (type.endsWith("/json") || type.endsWith("+json")) {
            return json(request.body());
        }
        String text = new String(request.body(), StandardCharsets.UTF_8);
        if (!type.equals("application/x-www-form-urlencoded")) {
            return text;
        }
        Map<String, String> form = new LinkedHashMap<>();
        for (String pair : text.split("&", -1)) {
            String[] named = pair.split("=", 2);
            if (!named[0].isEmpty()) {
                form.putIfAbsent(decoded(named[0]), named.length == 2 ? decoded(named[1]) : "");
            }
        }
        // as GitHub and Slack send JSON in a form
        String payload = form.get("payload");
        return payload != null && form.size() == 1 ? json(payload.getBytes(StandardCharsets.UTF_8)) : form;
    }

    private static String decoded(String text) throws MalformedEventException {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new MalformedEventException("bad_json", "expected a form, found one that cannot be read");
        }
    }

    private static @Nullable Object json(byte[] bytes) throws MalformedEventException {
        // lists and plain values are no objects, so they are read inside one
        byte[] wrapped = new byte[bytes.length + 6];
        System.arraycopy("{\"b\":".getBytes(StandardCharsets.UTF_8), 0, wrapped, 0, 5);
        System.arraycopy(bytes, 0, wrapped, 5, bytes.length);
        wrapped[bytes.length + 5] = '}';
        JsonObject read = Json.readObject(wrapped);
        if (read.size() != 1) {
            throw new MalformedEventException("bad_json", "expected one JSON value, found several");
        }
        return read.get("b");
    }

    private Optional<String> eventName(WebhookRequest request, Map<?, ?> body) {
        Optional<String> named =
                switch (scheme) {
                    case GITHUB -> request.find("X-GitHub-Event");
                    case SLACK ->
                        text(body.get("event") instanceof Map<?, ?> event ? event.get("type") : body.get("type"));
                    case STANDARD, STRIPE, HMAC, NONE -> text(body.get("type"));
                };
        return named.filter(event -> event.length() <= MAX_EVENT_NAME);
    }

    private Optional<String> deliveryId(WebhookRequest request, Map<?, ?> body) {
        if (mapping.idHeader() != null) {
            return request.find(mapping.idHeader());
        }
        return switch (scheme) {
            case STANDARD -> request.find("webhook-id");
            case GITHUB -> request.find("X-GitHub-Delivery");
            case STRIPE -> text(body.get("id"));
            case SLACK -> text(body.get("event_id"));
            case HMAC, NONE -> Optional.empty();
        };
    }

    private static Optional<String> text(@Nullable Object value) {
        return value instanceof String text && !text.isBlank() ? Optional.of(text) : Optional.empty();
    }
}
