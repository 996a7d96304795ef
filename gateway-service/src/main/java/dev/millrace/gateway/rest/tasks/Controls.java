package dev.millrace.gateway.rest.tasks;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.JournalListener;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.IdempotencyKey;
import dev.millrace.gateway.rest.requests.WaitParameter;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Puts what people want of running tasks on the lanes; the task machine decides what becomes of it. */
@Singleton
public class Controls {
    private static final String SOURCE = "user";

    private final TaskIntake intake;
    private final TaskWaiter waiter;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    Controls(TaskIntake intake, TaskWaiter waiter, Access access, GatewayConfig config) {
        this.intake = intake;
        this.access = access;
        this.waiter = waiter;
        this.config = config;
    }

    /**
     * A task, as far as an event for it has to know it: with its session the event lands on its partition.
     *
     * @param taskId {@code null} = the event is for none
     * @param sessionId {@code null} = the task is a conversation of its own
     */
    public record Target(
            String namespace,
            @Nullable String taskId,
            @Nullable String sessionId) {}

    /**
     * The body of a request, which has to say that it is JSON; an empty record if there is none.
     *
     * @throws ProblemException if it has other fields, or of another kind
     */
    public <T extends Record> T body(InputStream body, HttpHeaders headers, Class<T> type)
            throws IOException, InterruptedException {
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            if (read.bytes().length == 0) {
                return BodyReader.read(Json.MAPPER.createObjectNode(), type);
            }
            BodyReader.requireJson(headers);
            return BodyReader.read(read.bytes(), type);
        }
    }

    /** The reason that a body gives and nothing else; {@code null} = none. */
    @Nullable
    public String reason(InputStream body, HttpHeaders headers) throws IOException, InterruptedException {
        return BodyReader.text("reason", body(body, headers, Task.Reason.class).reason(), Task.Request.MAX_TEXT);
    }

    /** The namespace of a request whose body says this of it, see {@link Access#namespace}. */
    public String namespace(@Nullable String given) {
        return access.namespace(given);
    }

    /** Returns if this is granted in all namespaces. */
    public void requireEverywhere(Permission permission) {
        access.requireEverywhere(permission);
    }

    /** Who asks, in place of whoever the request says does; the latter if nobody had to log in. */
    @Nullable
    String principalOr(@Nullable String said) {
        String principal = access.principal();
        return principal == null ? said : principal;
    }

    /** How long the client wants to wait; zero = not at all. */
    public Duration patience(@Nullable String wait) {
        return WaitParameter.parse(wait, config.maxWait());
    }

    /**
     * The event; it is not yet sent.
     *
     * @throws ProblemException if its payload is not what its type takes
     */
    public Event event(KnownEventType type, @Nullable Target target, Payload payload, HttpHeaders headers) {
        String key = IdempotencyKey.or(null, headers.getHeaderString(IdempotencyKey.HEADER));
        try {
            Event.Builder builder = Event.root(
                            key == null ? Ids.random() : id(key, type, target, payload), type, Instant.now())
                    .source(SOURCE)
                    .traceparent(headers.getHeaderString(EventCodec.TRACEPARENT))
                    .tracestate(headers.getHeaderString(EventCodec.TRACESTATE))
                    .payload(payload);
            if (target != null) {
                builder.taskId(target.taskId()).sessionId(target.sessionId()).namespace(target.namespace());
            }
            Event event = access.stamped(builder.build());
            intake.requireValid(event);
            return event;
        } catch (IllegalArgumentException e) {
            throw ProblemException.unreadable(e);
        }
    }

    /**
     * The id of the event that a client's key stands for. A key that was given before with a request of another kind,
     * or about something else, stands for another event: otherwise that request would be taken for a repeated one and
     * dropped.
     */
    private static String id(String key, KnownEventType type, @Nullable Target target, Payload payload) {
        return Ids.hash(Json.writeText(Arrays.asList(
                        key,
                        type.wireName(),
                        target == null ? null : target.namespace(),
                        target == null ? null : target.taskId(),
                        payload instanceof Payload.ApprovalDecided decided ? decided.callId() : null)))
                .substring(0, 32);
    }

    /**
     * Sends the event, and waits until its task has ended or waits for somebody.
     *
     * @param wait {@code ?wait=}; {@code null} = not at all
     * @param note what the client should know; {@code null} = nothing
     * @return a 202, or a 200 with the task
     */
    Response send(Event event, @Nullable String wait, @Nullable String note)
            throws BrokerUnavailableException, EventTooLargeException, InterruptedException {
        Duration patience = patience(wait);
        if (patience.isZero()) {
            intake.accept(List.of(event));
            return accepted(event, note);
        }
        SentEvent outgoing = new SentEvent(event);
        Event outline = outgoing.outline();
        try (JournalListener listener = waiter.listen(outline, config.produceTimeout())) {
            outgoing.send(intake);
            Optional<ObjectNode> rested = waiter.await(listener, outline, patience, false);
            return rested.isPresent() ? TaskWaiter.response(outline, rested.get()) : accepted(outline, note);
        }
    }

    private static Response accepted(Event event, @Nullable String note) {
        String taskId = event.taskId() == null ? event.id() : event.taskId();
        return Response.accepted(Json.writeText(new Task.ControlAccepted(
                        taskId,
                        event.id(),
                        event.sessionId(),
                        "accepted",
                        note,
                        Task.Links.of(event.namespace(), taskId))))
                .build();
    }
}
