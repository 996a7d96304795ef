package dev.millrace.gateway.rest.tasks;

import dev.millrace.api.QueueItem;
import dev.millrace.api.Session;
import dev.millrace.api.Task;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.CustomEventType;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What can be done with sessions, whichever route asks for it. */
@Singleton
public class SessionControls {

    /** What a prompt is answered, whichever route takes it. */
    static final String STARTED = "Processing started";

    static final String CONTENT_REQUIRED = "Content is required";
    static final String UNSUPPORTED = "Session support not available";

    /** A session that was made just now is known a moment later. */
    private static final Duration FIRST_PAUSE = Duration.ofMillis(40);

    private static final int MAX_TRIES = 5; // with pauses of 40, 80, 120 and 160 ms
    private static final int PAGE = 200;
    private static final String SOURCE = "user";

    private final TaskIntake intake;
    private final Tasks tasks;
    private final AgentClient agentService;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    SessionControls(TaskIntake intake, Tasks tasks, AgentClient agentService, Access access, GatewayConfig config) {
        this.access = access;
        this.intake = intake;
        this.tasks = tasks;
        this.agentService = agentService;
        this.config = config;
    }

    /** A session by its tenant and its id. */
    record Name(String namespace, String sessionId) {}

    /** Which messages are wanted; {@code null} = whatever there is. */
    record Wanted(
            int limit,
            @Nullable String from,
            @Nullable String to,
            @Nullable String before) {}

    /** Whether there are sessions here at all. */
    boolean enabled() {
        return config.sessions().enabled();
    }

    /** The session; empty if nobody knows it. */
    Optional<Session> find(Name name) throws QueryUnavailableException, InterruptedException {
        AgentClient.Answer answer = ask("session", query(name)).orElse(null);
        return answer == null ? Optional.empty() : Optional.of(answer.as(Session.class));
    }

    /** Whether a prompt may come: the session is known, or is made by its first prompt. */
    boolean takesPrompts(Name name) throws QueryUnavailableException, InterruptedException {
        return config.sessions().autoCreate() || find(name).isPresent();
    }

    /** Some sessions, the one in which something happened last first. */
    Session.Page list(String namespace, int limit, @Nullable String cursor)
            throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> query = new HashMap<>();
        query.put("namespace", namespace);
        query.put("limit", Integer.toString(limit));
        query.put("before", cursor);
        return agentService.get(AgentClient.path("sessions"), query).as(Session.Page.class);
    }

    /** What was said; empty if nobody knows the session. */
    Optional<Session.Messages> messages(Name name, Wanted wanted)
            throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> query = query(name);
        query.put("limit", Integer.toString(wanted.limit()));
        query.put("from", wanted.from());
        query.put("to", wanted.to());
        query.put("before", wanted.before());
        AgentClient.Answer answer = ask("messages", query).orElse(null);
        return answer == null ? Optional.empty() : Optional.of(answer.as(Session.Messages.class));
    }

    /** Makes a session. */
    Session create(Name name, @Nullable String title, List<String> participants)
            throws BrokerUnavailableException, EventTooLargeException {
        Instant now = Instant.now();
        JsonObject payload = JsonObject.builder()
                .put("sessionId", name.sessionId())
                .putIfPresent("title", title)
                .putIfPresent("participants", participants.isEmpty() ? null : participants)
                .build();
        intake.accept(List.of(access.stamped(Event.root(Ids.random(), new CustomEventType("session.created"), now)
                .source(SOURCE)
                .sessionId(name.sessionId())
                .namespace(name.namespace())
                .payload(payload)
                .build())));
        return new Session(
                name.sessionId(), name.namespace(), title, now.toEpochMilli(), now.toEpochMilli(), participants, 0);
    }

    /**
     * Says something in a session.
     *
     * @param headers of the request, which may carry a trace
     * @return the event, which is stored
     */
    Event prompt(Name name, String content, HttpHeaders headers)
            throws BrokerUnavailableException, EventTooLargeException {
        try {
            Event event = Event.root(Ids.random(), KnownEventType.MESSAGE_RECEIVED, Instant.now())
                    .source(SOURCE)
                    .sessionId(name.sessionId())
                    .namespace(name.namespace())
                    .traceparent(headers.getHeaderString(EventCodec.TRACEPARENT))
                    .tracestate(headers.getHeaderString(EventCodec.TRACESTATE))
                    .payload(new Payload.MessageReceived(
                            null,
                            content,
                            List.of(),
                            List.of(),
                            null,
                            JsonObject.of(Map.of("trigger_session_id", name.sessionId(), "source", SOURCE)),
                            null,
                            null,
                            null))
                    .build();
            intake.requireValid(event);
            Event stamped = access.stamped(event);
            intake.accept(List.of(stamped));
            return stamped;
        } catch (IllegalArgumentException e) {
            throw ProblemException.unreadable(e);
        }
    }

    /** Has a session forgotten; returns the id of the request. */
    String forget(Name name) throws BrokerUnavailableException, EventTooLargeException {
        Event event = Event.root(Ids.random(), KnownEventType.FORGET_REQUESTED, Instant.now())
                .source(SOURCE)
                .sessionId(name.sessionId())
                .namespace(name.namespace())
                .payload(new Payload.ForgetRequested(
                        ForgetScope.Kind.SESSION.wireName(), null, name.sessionId(), null, null))
                .build();
        intake.accept(List.of(access.stamped(event)));
        ForgetScope.of(event).ifPresent(tasks::forget);
        return event.id();
    }

    /**
     * Has the tasks of a session cancelled that have begun, with their sub-tasks; those that wait for their turn come
     * afterwards.
     */
    Interruption interrupt(Name name)
            throws QueryUnavailableException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        Map<String, @Nullable String> query = query(name);
        query.put("status", "processing");
        query.put("limit", Integer.toString(PAGE));
        List<Event> cancels = new ArrayList<>();
        int children = 0;
        QueueItem.Page page;
        do {
            page = agentService.get(AgentClient.path("queue"), query).as(QueueItem.Page.class);
            for (QueueItem item : page.items()) {
                Task.WaitingFor waitingFor = item.waitingFor();
                children += waitingFor != null && waitingFor.kind().equals("children")
                        ? waitingFor.callIds().size()
                        : 0;
                cancels.add(Event.root(Ids.random(), KnownEventType.TASK_CANCEL_REQUESTED, Instant.now())
                        .source(SOURCE)
                        .taskId(item.taskId())
                        .sessionId(name.sessionId())
                        .namespace(name.namespace())
                        .payload(new Payload.TaskCancelRequested("Session interrupted by user", true))
                        .build());
            }
            query.put("before", page.next());
        } while (page.next() != null);
        intake.accept(cancels.stream().map(access::stamped).toList());
        return new Interruption(
                cancels.stream().map(event -> String.valueOf(event.taskId())).toList(), children);
    }

    /**
     * What has been stopped.
     *
     * @param children sub-tasks that the tasks waited for
     */
    record Interruption(List<String> taskIds, int children) {}

    private Optional<AgentClient.Answer> ask(String what, Map<String, @Nullable String> query)
            throws QueryUnavailableException, InterruptedException {
        String path = what.equals("session") ? AgentClient.path(what) : AgentClient.path("session", what);
        for (int tried = 1; ; tried++) {
            AgentClient.Answer answer = agentService.get(path, query);
            if (answer.found()) {
                return Optional.of(answer);
            }
            if (tried == MAX_TRIES) {
                return Optional.empty();
            }
            Thread.sleep(FIRST_PAUSE.multipliedBy(tried));
        }
    }

    private static Map<String, @Nullable String> query(Name name) {
        Map<String, @Nullable String> query = new HashMap<>();
        query.put("namespace", name.namespace());
        query.put("sessionId", name.sessionId());
        return query;
    }
}
