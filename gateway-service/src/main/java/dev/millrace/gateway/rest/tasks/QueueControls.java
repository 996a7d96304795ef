package dev.millrace.gateway.rest.tasks;

import dev.millrace.api.QueueItem;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.DeadLetter;
import dev.millrace.gateway.kafka.DeadLetterReader;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.ForgottenTopic;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Ttl;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Problem;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Events that were accepted, as items of a queue: looked at, put in, and tried again. */
@Singleton
public class QueueControls {

    private static final String PENDING = "pending";

    static final Set<String> STATUSES =
            Set.of(PENDING, "processing", "completed", "failed", "expired", "overwritten", "cancelled", "dead_letter");

    private static final String DEAD_LETTER = "dead_letter";
    /** The order in which what is pending is worked on. */
    private static final String WORK = "work";
    /** Nothing is to become of it. */
    private static final String CANCELLED = "cancelled";

    private static final Set<String> RETRIED = Set.of("failed", "expired", "cancelled");

    private final Tasks tasks;
    private final AgentClient agentService;
    private final TaskIntake intake;
    private final Letters letters;
    private final Access access;

    /** What was not taken. */
    @Singleton
    static class Letters {
        private final DeadLetterReader reader;
        private final ForgottenTopic forgotten;
        private final GatewayConfig config;

        @Inject
        Letters(DeadLetterReader reader, ForgottenTopic forgotten, GatewayConfig config) {
            this.reader = reader;
            this.forgotten = forgotten;
            this.config = config;
        }

        DeadLetterReader.Page page(Map<Integer, Long> before, Predicate<DeadLetter> wanted, int limit)
                throws BrokerUnavailableException, InterruptedException {
            forgotten.readUpToNow();
            return reader.page(
                    before, letter -> wanted.test(letter) && !forgotten.hides(letter), limit, config.produceTimeout());
        }

        /** The newest that is about this, also if it is discarded, among those of the last page alone. */
        Optional<DeadLetter> recent(Predicate<DeadLetter> wanted)
                throws BrokerUnavailableException, InterruptedException {
            forgotten.readUpToNow();
            return reader.page(Map.of(), kept(wanted), 1, config.produceTimeout()).letters().stream()
                    .findFirst();
        }

        /** The same among as many as can be looked at. */
        DeadLetterReader.Sought newest(Predicate<DeadLetter> wanted)
                throws BrokerUnavailableException, InterruptedException {
            forgotten.readUpToNow();
            return reader.newest(kept(wanted), config.produceTimeout());
        }

        private Predicate<DeadLetter> kept(Predicate<DeadLetter> wanted) {
            return letter -> wanted.test(letter) && !forgotten.isForgotten(letter);
        }

        boolean isDiscarded(DeadLetter letter) {
            return forgotten.isDiscarded(letter);
        }
    }

    @Inject
    QueueControls(Tasks tasks, AgentClient agentService, TaskIntake intake, Letters letters, Access access) {
        this.tasks = tasks;
        this.agentService = agentService;
        this.intake = intake;
        this.letters = letters;
        this.access = access;
    }

    /**
     * Which items are wanted, as the parameters say.
     *
     * @param status {@code null} = any
     * @param sessionId {@code null} = any, and of none
     * @param order {@code null} = the newest first
     * @param cursor {@code null} = the first page
     */
    record Wanted(
            String namespace,
            @Nullable String status,
            @Nullable String sessionId,
            @Nullable String order,
            int limit,
            @Nullable String cursor) {
        Wanted {
            TasksResource.requireOneOf("status", status, STATUSES);
            TasksResource.requireOneOf("order", order, Set.of("newest", WORK));
            if (WORK.equals(order) && sessionId == null) {
                throw ProblemException.badParameter("order", "a sessionId with work", "none");
            }
            if (WORK.equals(order) && status != null && !status.equals(PENDING)) {
                throw ProblemException.badParameter("status", PENDING + " with order=work", status);
            }
        }
    }

    /** A page, as JSON: of agent-service, or of the dead letters. */
    String page(Wanted wanted) throws QueryUnavailableException, BrokerUnavailableException, InterruptedException {
        if (DEAD_LETTER.equals(wanted.status())) {
            access.require(wanted.namespace(), Permission.ADMIN);
            return deadLetters(wanted);
        }
        Map<String, @Nullable String> query = new LinkedHashMap<>();
        query.put("namespace", wanted.namespace());
        query.put("status", wanted.status());
        query.put("sessionId", wanted.sessionId());
        query.put("order", wanted.order());
        query.put("limit", Integer.toString(wanted.limit()));
        query.put("before", wanted.cursor());
        return agentService.get(AgentClient.path("queue"), query).json();
    }

    private String deadLetters(Wanted wanted) throws BrokerUnavailableException, InterruptedException {
        String cursor = wanted.cursor();
        String sessionId = wanted.sessionId();
        Map<Integer, Long> before = cursor == null
                ? Map.of()
                : Places.parse(cursor)
                        .map(Places::facts)
                        .orElseThrow(() -> ProblemException.badParameter("cursor", "what next said", cursor));
        DeadLetterReader.Page page = letters.page(
                before,
                letter -> OutsideEvents.isOf(wanted.namespace(), letter)
                        && (sessionId == null || sessionId.equals(letter.header("ce_" + EventCodec.SESSION_ID))),
                wanted.limit());
        return Json.writeText(new QueueItem.Page(
                page.letters().stream().map(letter -> item(letter, DEAD_LETTER)).toList(),
                page.next().isEmpty() ? null : Places.ofFacts(page.next()).toString()));
    }

    /** One of them; what was not taken is looked for among the dead letters. */
    QueueItem item(String namespace, String eventId)
            throws QueryUnavailableException, BrokerUnavailableException, InterruptedException {
        Found found = tasks.queueItem(namespace, eventId).orElse(null);
        return switch (found) {
            case Found.Known known -> known.answer().as(QueueItem.class);
            // nobody tells the door that what it took was refused further in; if it was, that was a moment ago
            case Found.Accepted accepted ->
                letters.recent(is(namespace, eventId)).map(this::item).orElseGet(() -> pending(accepted.event()));
            case null -> letter(namespace, eventId);
        };
    }

    /** The newest dead letter that was this event. */
    private QueueItem letter(String namespace, String eventId) throws BrokerUnavailableException, InterruptedException {
        DeadLetterReader.Sought sought = letters.newest(is(namespace, eventId));
        return sought.letter()
                .map(this::item)
                .orElseThrow(() -> unknown(
                        namespace,
                        eventId,
                        sought.all()
                                ? " or among the dead letters"
                                : " or among the newest " + sought.lookedAt() + " dead letters"));
    }

    private static Predicate<DeadLetter> is(String namespace, String eventId) {
        return letter -> eventId.equals(letter.header(EventCodec.CE_ID)) && namespace.equals(namespace(letter));
    }

    private QueueItem item(DeadLetter letter) {
        return item(letter, letters.isDiscarded(letter) ? CANCELLED : DEAD_LETTER);
    }

    /** Puts something in. */
    QueueItem.Queued put(String sessionId, QueueItem.Request request)
            throws BrokerUnavailableException, EventTooLargeException, InterruptedException {
        String namespace = access.namespace(request.namespace());
        if (request.type() == null) {
            throw ProblemException.badField("type", "the name of a type, such as MESSAGE_RECEIVED", "none");
        }
        Instant now = Instant.now();
        Event event;
        try {
            EventType type = EventType.of(request.type());
            JsonObject payload = JsonObject.ofNullable(request.payload());
            event = access.stamped(Event.root(request.id() == null ? Ids.random() : request.id(), type, now)
                    .source("queue")
                    .namespace(namespace)
                    .sessionId(sessionId)
                    .priority(rank(type, request.priority()))
                    .expiry(expiry(now, request.ttl()))
                    .parentEventId(request.parentEventId())
                    .payload(new Payload.Unknown(payload == null ? JsonObject.empty() : payload))
                    .build());
        } catch (IllegalArgumentException e) {
            throw ProblemException.unreadable(e);
        }
        access.require(namespace, OutsideEvents.needs(event.type()));
        OutsideEvents.requireTaken(event);
        OutsideEvents.requireKnownFields(event);
        intake.requireValid(event);
        intake.requireAgent(event);
        intake.accept(List.of(event));
        return new QueueItem.Queued(event.id(), sessionId, PENDING, null);
    }

    /** The edge where higher goes first; inside lower does. */
    private static @Nullable Integer rank(EventType type, @Nullable Integer priority) {
        int highest = QueueItem.HIGHEST - Event.lowestPriority(type);
        if (priority != null && priority > highest) {
            throw ProblemException.badField("priority", "at most " + highest, priority);
        }
        return priority == null ? null : QueueItem.HIGHEST - priority;
    }

    private static @Nullable Instant expiry(Instant now, @Nullable Long ttl) {
        if (ttl != null && ttl < 1) {
            throw ProblemException.badField("ttl", "1 or more milliseconds", ttl);
        }
        return ttl == null ? null : Ttl.expiry(now, ttl);
    }

    /** Sends what has failed once more, as an event that the failed one has led to. */
    QueueItem.Queued retry(String namespace, String eventId, @Nullable Map<String, @Nullable Object> payload)
            throws QueryUnavailableException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        if (!(tasks.queueItem(namespace, eventId).orElse(null) instanceof Found.Known known)) {
            throw unknown(namespace, eventId, "");
        }
        QueueItem item = known.answer().as(QueueItem.class);
        if (!RETRIED.contains(item.status())) {
            throw refused(
                    "not_failed",
                    "This has not failed",
                    "Expected an event that is failed, expired or cancelled, found one that is " + item.status()
                            + ". Dead letters are sent again with POST /v1/dead-letters/{cursor}/redrive.");
        }
        Event failed = whole(namespace, eventId);
        if (failed.payload() instanceof Payload.MessageReceived message && message.parent() != null) {
            throw refused(
                    "part_of_a_task",
                    "This is a part of another task",
                    "Expected an event that stands for itself, found one whose answer the task "
                            + message.parent().taskId() + " waited for; try that one again.");
        }
        Event again = TaskIntake.inPlaceOf(failed, again(failed, item, payload));
        intake.requireValid(again);
        intake.requireAgent(again);
        intake.acceptWithTheMachines(again);
        return new QueueItem.Queued(again.id(), again.sessionId(), PENDING, eventId);
    }

    private Event whole(String namespace, String eventId) throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> query = Map.of("namespace", namespace, "eventId", eventId);
        AgentClient.Answer answer = agentService.get(AgentClient.path("queue", "event"), query);
        if (!answer.found()) {
            throw unknown(namespace, eventId, "");
        }
        try {
            return EventJson.fromJson(Json.readObject(answer.json().getBytes(StandardCharsets.UTF_8)));
        } catch (MalformedEventException e) {
            throw new QueryUnavailableException("agent-service answered with something that is no event", e);
        }
    }

    private Event again(Event failed, QueueItem item, @Nullable Map<String, @Nullable Object> payload) {
        Instant now = Instant.now();
        // one failure is tried again once, however often that is asked for
        String id = Ids.hash(failed.namespace() + '\n' + failed.id() + "\nretry\n" + item.updatedAt())
                .substring(0, 32);
        try {
            JsonObject fields = payload == null ? failed.fields() : JsonObject.of(payload);
            return access.stamped(Event.root(id, failed.type(), now)
                    .source(failed.source())
                    .namespace(failed.namespace())
                    .sessionId(failed.sessionId())
                    .priority(failed.priority())
                    .expiry(expiry(now, item.ttl() == null || item.ttl() < 1 ? null : item.ttl()))
                    .parentEventId(failed.id())
                    .correlationId(failed.correlationId())
                    .causalDepth(failed.causalDepth())
                    .traceparent(failed.traceparent())
                    .tracestate(failed.tracestate())
                    .extensions(failed.extensions())
                    .payload(fields)
                    .build());
        } catch (IllegalArgumentException e) {
            throw ProblemException.unreadable(e);
        }
    }

    private static ProblemException refused(String code, String title, String detail) {
        return new ProblemException(Problem.of(409, code, title, detail));
    }

    private static ProblemException unknown(String namespace, String eventId, String andWhere) {
        return new ProblemException(Problem.of(
                404,
                "unknown_event",
                "Unknown event",
                "There is no event " + eventId + " in the journal" + andWhere + " of the namespace " + namespace
                        + "."));
    }

    /** One that this gateway has accepted, of which the journal has not told yet. */
    private static QueueItem pending(Event event) {
        long date = event.timestamp().toEpochMilli();
        return new QueueItem(
                event.id(),
                event.sessionId(),
                event.type().wireName(),
                event.fields(),
                PENDING,
                QueueItem.HIGHEST - event.effectivePriority(),
                event.expiry() == null ? null : event.expiry().toEpochMilli() - date,
                event.correlationId(),
                event.parentEventId(),
                event.namespace(),
                date,
                date,
                event.taskId() == null ? event.id() : event.taskId(),
                null,
                null,
                null,
                null);
    }

    private static String namespace(DeadLetter letter) {
        return Objects.requireNonNullElse(letter.header("ce_" + EventCodec.NAMESPACE), Event.DEFAULT_NAMESPACE);
    }

    private static QueueItem item(DeadLetter letter, String status) {
        String type = Objects.requireNonNullElse(letter.header(EventCodec.CE_TYPE), "");
        return new QueueItem(
                Objects.requireNonNullElse(letter.header(EventCodec.CE_ID), letter.place()),
                letter.header("ce_" + EventCodec.SESSION_ID),
                type,
                payload(letter),
                status,
                QueueItem.HIGHEST - rank(letter, type),
                null,
                letter.header("ce_" + EventCodec.CORRELATION_ID),
                letter.header("ce_" + EventCodec.CAUSATION_ID),
                namespace(letter),
                letter.timestampMs(),
                letter.timestampMs(),
                letter.header(EventCodec.CE_SUBJECT),
                null,
                letter.header(DeadLetters.REASON),
                letter.header(DeadLetters.DETAIL),
                letter.place());
    }

    private static int rank(DeadLetter letter, String type) {
        String said = letter.header("ce_" + EventCodec.PRIORITY);
        try {
            return said == null ? EventType.of(type).code() : Integer.parseInt(said);
        } catch (IllegalArgumentException e) {
            return QueueItem.HIGHEST; // anybody's words
        }
    }

    /** As far as it is an object, and kept whole. */
    private static Map<String, @Nullable Object> payload(DeadLetter letter) {
        byte[] value = letter.value();
        try {
            if (value != null) {
                return Json.readMap(value);
            }
            return Map.of();
        } catch (MalformedEventException e) {
            return Map.of();
        }
    }
}
