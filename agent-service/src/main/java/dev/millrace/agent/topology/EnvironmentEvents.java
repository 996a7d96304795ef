package dev.millrace.agent.topology;

import dev.millrace.agent.SessionOrigin;
import dev.millrace.agent.expressions.UndecidableException;
import dev.millrace.agent.rules.Rule;
import dev.millrace.agent.rules.Rules;
import dev.millrace.engine.ReplyLimits;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Extensions;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.InputTemplate;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What follows from an event that is for no task: the rule that takes it, and the message by which an agent is given
 * it. Whatever is wrong with a rule, a session or an event is noted and stops nothing. For one stream thread.
 */
final class EnvironmentEvents {

    /** As much of an event's payload as an agent is shown, in characters of JSON. */
    static final int MAX_SHOWN = 100_000;

    private static final Logger LOGGER = LoggerFactory.getLogger(EnvironmentEvents.class);
    private static final String SOURCE = "rules";
    private static final String RULE_FAILED = "rule_failed";
    private static final String RULE_RATE = "rule_rate";
    private static final int MAX_UNDECIDED = 1_000;

    private final Rules rules;
    private final RuleRates rates;
    private final BiPredicate<String, String> isSession;
    private final SessionLookup sessions;
    private final HeldEvents held;
    /** Rules of which was said that their conditions do not fit an event. */
    private final Set<String> undecided = new HashSet<>();

    /**
     * With these.
     *
     * @param isSession whether there is a session in a namespace
     * @param sessions knows those of other partitions
     * @param held those that wait
     */
    EnvironmentEvents(
            Rules rules,
            RuleRates rates,
            BiPredicate<String, String> isSession,
            SessionLookup sessions,
            HeldEvents held) {
        this.rules = rules;
        this.rates = rates;
        this.isSession = isSession;
        this.sessions = sessions;
        this.held = held;
    }

    /**
     * What follows.
     *
     * @param noted the event as it is to stand in the journal: with the rule that took it
     * @param outcome why nothing follows although a rule wants it, for the journal; {@code null} = all went well
     * @param derived what has to go on the lanes for an agent to be given it; empty = none is
     */
    record Followed(Event noted, @Nullable String outcome, List<Event> derived) {}

    /** Whether what people say is to be noted and no more, since the rule for it is disabled. */
    boolean swallows(Event message) {
        // asked of every message, and hardly anybody disables such a rule
        return rules.bounds().enabled()
                && rules.current().rules().stream()
                        .anyMatch(rule -> !rule.enabled() && rule.handler() instanceof Rule.Query)
                && Stream.concat(
                                Stream.of(KnownEventType.MESSAGE_RECEIVED.name()),
                                KnownEventType.MESSAGE_RECEIVED.aliases().stream())
                        .flatMap(name -> rules
                                .current()
                                .match(name, rule -> rule.handler() instanceof Rule.Query && takes(rule, message))
                                .stream())
                        .max(Comparator.comparingInt(Rule::priority))
                        .filter(rule -> !rule.enabled())
                        .isPresent();
    }

    /** What follows from an event of an open type. */
    Followed follow(Event event, Instant now) {
        Event noted = event.with(Extensions.RULE, null);
        if (!rules.bounds().enabled()) {
            return new Followed(noted, null, List.of());
        }
        Rule rule = rules.current()
                .match(event.type().wireName(), one -> takes(one, event))
                .orElse(null);
        if (rule == null) {
            LOGGER.warn("No rule matched for event: {}", event.type().wireName());
            return new Followed(noted, null, List.of());
        }
        Event taken = event.with(Extensions.RULE, rule.reference());
        if (!rule.enabled()) {
            return new Followed(taken, null, List.of());
        }
        Rule.Debounce debounce = rule.terms().debounce();
        return debounce == null ? handle(taken, rule, now) : hold(taken, rule, debounce, now);
    }

    private boolean takes(Rule rule, Event event) {
        try {
            return rule.takes(() -> shown(event));
        } catch (UndecidableException e) {
            if (undecided.size() >= MAX_UNDECIDED) {
                undecided.clear();
            }
            if (undecided.add(rule.reference())) {
                LOGGER.atWarn()
                        .addKeyValue("eventId", event.id())
                        .addKeyValue("rule", rule.reference())
                        .addKeyValue("problem", e.getMessage())
                        .log(
                                "A rule's condition cannot be decided of an event, so the rule does not take it; said once");
            }
            return false;
        }
    }

    /** It waits until no other one like it has come for a while. */
    private Followed hold(Event event, Rule rule, Rule.Debounce debounce, Instant now) {
        JsonObject shown = shown(event);
        String kind = debounce.key() == null ? "" : filled(debounce.key(), shown, event, rule);
        if (kind == null) {
            return dropped(event, rule, RULE_FAILED, "A rule's key does not fit the event");
        }
        String key = HeldEvents.key(rule.id(), event, kind);
        return held.hold(key, rule.id(), event, now.toEpochMilli() + debounce.quietMs())
                ? new Followed(event, null, List.of())
                : dropped(event, rule, RULE_RATE, "Too many events wait, so nothing follows from this one");
    }

    /** Keys of events that have waited long enough, so many at most. */
    List<String> due(long nowMs, int most) {
        return held.due(nowMs, most);
    }

    /**
     * What follows from an event that has waited, by the rule as it is now.
     *
     * @return what has to go on the lanes
     */
    List<Event> release(String key, Instant now) {
        HeldEvents.Row row = held.take(key);
        Rule rule = row == null
                ? null
                : rules.current().rules().stream()
                        .filter(one -> one.id().equals(row.ruleId()) && one.enabled())
                        .findFirst()
                        .orElse(null);
        if (row == null || rule == null || !rules.bounds().enabled()) {
            LOGGER.atInfo().addKeyValue("key", key).log("An event has waited for a rule that is gone");
            return List.of();
        }
        return handle(row.event(), rule, now).derived();
    }

    /** Nothing follows from an event that has waited. */
    void discard(String key) {
        HeldEvents.Row row = held.take(key);
        LOGGER.atError()
                .addKeyValue("eventId", row == null ? key : row.event().id())
                .log("A defect kept an event that had waited from being handed over");
    }

    private Followed handle(Event taken, Rule rule, Instant now) {
        return switch (rule.handler()) {
            case Rule.Log ignored -> {
                LOGGER.atInfo()
                        .addKeyValue("eventId", taken.id())
                        .addKeyValue("eventType", taken.type().wireName())
                        .addKeyValue("sessionId", taken.sessionId())
                        .addKeyValue("rule", rule.reference())
                        .log("An event was noted");
                yield new Followed(taken, null, List.of());
            }
            // no file says so of an open type
            case Rule.Query ignored -> new Followed(taken, null, List.of());
            case Rule.AgentHandler handler -> give(taken, rule, handler, now);
            case Rule.CallHandler handler -> call(taken, rule, handler, now);
        };
    }

    private Followed give(Event event, Rule rule, Rule.AgentHandler handler, Instant now) {
        String named = event.sessionId();
        String session = named == null ? ofOrigin(event) : named;
        boolean begins = session == null && rules.bounds().newSessions();
        if (begins) {
            session = Ids.derived(event.id(), event.type(), 0);
        } else if (session == null) {
            return dropped(event, rule, "no_session", "An event names no session, so no agent is given it");
        } else if (named != null
                && !isSession.test(event.namespace(), named)
                && !rules.bounds().newSessions()) {
            return dropped(
                    event, rule, "unknown_session", "An event names an unknown session, so no agent is given it");
        }
        JsonObject shown = shown(event);
        String prompt = filled(handler.prompt(), shown, event, rule);
        String systemPrompt = filled(handler.systemPrompt(), shown, event, rule);
        if ((handler.prompt() != null && prompt == null) || (handler.systemPrompt() != null && systemPrompt == null)) {
            return dropped(event, rule, RULE_FAILED, "A rule's template does not fit the event");
        }
        if (!rates.take(StoredTask.conversation(event.namespace(), session), rule.id(), now.toEpochMilli())) {
            return dropped(event, rule, RULE_RATE, "Too many events in a minute, so no agent is given this one");
        }
        Payload.Observed observed = observed(
                event, rule, systemPrompt, handler.includeToolCall() ? handler.toolName() : null, handler.retries());
        String text = prompt == null ? "Process event: " + event.type().wireName() : prompt;
        Event message = message(event, session, text, handler.agent(), observed, now);
        return new Followed(
                event,
                null,
                begins
                        ? List.of(
                                GivenEvents.titled(
                                        message,
                                        event.type().wireName(),
                                        event.timestamp().toString(),
                                        now),
                                message)
                        : List.of(message));
    }

    /** A call needs no session: it is made in that of the event, if that is there. */
    private Followed call(Event event, Rule rule, Rule.CallHandler handler, Instant now) {
        JsonObject shown = shown(event);
        List<String> problems = handler.arguments().problems(shown);
        JsonObject arguments =
                problems.isEmpty() ? handler.arguments().fill(shown).orElse(null) : null;
        if (arguments == null || Json.write(arguments).length > ReplyLimits.MAX_ARGUMENTS_BYTES) {
            unfit(event, rule, problems.isEmpty() ? "the arguments are too long" : problems);
            return dropped(event, rule, RULE_FAILED, "A rule's arguments do not fit the event");
        }
        String session = event.sessionId();
        if (session != null && !isSession.test(event.namespace(), session)) {
            session = null;
        }
        String conversation = session == null ? null : StoredTask.conversation(event.namespace(), session);
        if (!rates.take(conversation, rule.id(), now.toEpochMilli())) {
            return dropped(event, rule, RULE_RATE, "Too many events in a minute, so no tool is called for this one");
        }
        Payload.Observed observed = new Payload.Observed(
                event.id(),
                event.type().wireName(),
                event.timestamp().toString(),
                rule.reference(),
                null,
                null,
                null,
                null,
                new Payload.OpeningCall(handler.tool(), arguments),
                null,
                null);
        String text = "Call " + handler.tool() + " for event: " + event.type().wireName();
        return new Followed(event, null, List.of(message(event, session, text, handler.agent(), observed, now)));
    }

    /** The session that the sender means by where it is used from; {@code null} = none is known. */
    private @Nullable String ofOrigin(Event event) {
        for (SessionOrigin origin : SessionOrigin.values()) {
            String session = origin.in(event)
                    .flatMap(name -> sessions.newestOf(event.namespace(), origin, name))
                    .orElse(null);
            if (session != null) {
                return session;
            }
        }
        return null;
    }

    private static Payload.Observed observed(
            Event event, Rule rule, @Nullable String systemPrompt, @Nullable String toolName, int retries) {
        return new Payload.Observed(
                event.id(),
                event.type().wireName(),
                event.timestamp().toString(),
                rule.reference(),
                systemPrompt,
                event.extension(Extensions.GUIDE),
                toolName,
                toolName == null ? null : info(event),
                null,
                retries == 0 ? null : (Long) (long) retries,
                null);
    }

    private static Event message(
            Event event, @Nullable String session, String text, String agent, Payload.Observed observed, Instant now) {
        JsonObject origin = JsonObject.builder()
                .put("rule", observed.rule())
                .put("eventId", event.id())
                .put("eventType", event.type().wireName())
                .build();
        return event.derive(KnownEventType.MESSAGE_RECEIVED, 0, now)
                .taskId(null)
                .source(SOURCE)
                .sessionId(session)
                .priority(event.effectivePriority())
                .causalDepth(event.causalDepth() + 1)
                .payload(new Payload.MessageReceived(
                        text, null, List.of(), List.of(), agent, origin, null, null, null, observed))
                .build();
    }

    /** The event as an agent is told of it. */
    private static JsonObject info(Event event) {
        String payload = Json.writeText(event.fields());
        return JsonObject.builder()
                .put("event_id", event.id())
                .put("event_type", event.type().wireName())
                .put("timestamp", event.timestamp().toString())
                .put("metadata", metadata(event))
                .put(
                        "payload",
                        payload.length() <= MAX_SHOWN
                                ? event.fields()
                                : Map.of("truncated", JsonText.cut(payload, MAX_SHOWN)))
                .build();
    }

    private static JsonObject metadata(Event event) {
        Map<String, String> extensions = new LinkedHashMap<>(event.extensions());
        extensions.remove(Extensions.RULE);
        return JsonObject.builder()
                .putAll(extensions)
                .put("source", event.source())
                .putIfPresent("trigger_session_id", event.sessionId())
                .build();
    }

    /** What templates and filters look into. */
    private static JsonObject shown(Event event) {
        return JsonObject.builder()
                .put("id", event.id())
                .put("type", event.type().wireName())
                .put("timestamp", event.timestamp().toString())
                .put("metadata", metadata(event))
                .put("payload", event.fields())
                .build();
    }

    /** {@code null} = there is no template, or it does not fit, which is said. */
    private static @Nullable String filled(@Nullable InputTemplate template, JsonObject shown, Event event, Rule rule) {
        if (template == null) {
            return null;
        }
        List<String> problems = template.problems(shown);
        String text = problems.isEmpty() ? template.fill(shown).orElse(null) : null;
        if (text == null || text.isBlank()) {
            unfit(event, rule, problems.isEmpty() ? "the text is empty or too long" : problems);
            return null;
        }
        return text;
    }

    private static void unfit(Event event, Rule rule, Object problem) {
        LOGGER.atWarn()
                .addKeyValue("eventId", event.id())
                .addKeyValue("rule", rule.reference())
                .addKeyValue("problem", problem)
                .log("A template does not fit an event");
    }

    private static Followed dropped(Event event, Rule rule, String outcome, String words) {
        LOGGER.atWarn()
                .addKeyValue("eventId", event.id())
                .addKeyValue("eventType", event.type().wireName())
                .addKeyValue("sessionId", event.sessionId())
                .addKeyValue("rule", rule.reference())
                .log(words);
        return new Followed(event, outcome, List.of());
    }
}
