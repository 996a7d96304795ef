package dev.millrace.gateway.rest.tasks;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.JournalListener;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.WaitParameter;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Submitting tasks. */
@Path("/v1/tasks")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Tasks", description = "Submit tasks and see what becomes of them.")
public class SubmitResource {
    private final TaskIntake intake;
    private final TaskWaiter waiter;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    SubmitResource(TaskIntake intake, TaskWaiter waiter, Access access, GatewayConfig config) {
        this.intake = intake;
        this.waiter = waiter;
        this.access = access;
        this.config = config;
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Consumes(MediaType.APPLICATION_JSON)
    @Operation(
            summary = "Submit a task",
            description =
                    "Returns as soon as the task is stored by Kafka, or with ?wait= as soon as it has ended, asks a"
                            + " question or needs an approval. A repeated request with the same id makes no second task.")
    @RequestBody(
            required = true,
            content =
                    @Content(
                            mediaType = MediaType.APPLICATION_JSON,
                            schema = @Schema(implementation = Task.Request.class)))
    @APIResponse(
            responseCode = "202",
            description = "The task is stored. With ?wait=: it has not ended in that time, and goes on.",
            content = @Content(schema = @Schema(implementation = Task.Accepted.class)))
    @APIResponse(
            responseCode = "200",
            description =
                    "Only with ?wait=: the task as it has ended, asks a question or needs an approval; with eventId and links.",
            content = @Content(schema = @Schema(implementation = Task.AtRest.class)))
    @APIResponse(responseCode = "400", description = "bad_json, missing_text, unknown_field, bad_field, bad_parameter")
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(
            responseCode = "422",
            description = "text_too_long, unknown_agent (lists the known ones), invalid_payload")
    @APIResponse(
            responseCode = "503",
            description = "broker_unavailable: try again with the same id; too_many_bodies: try again")
    public Response submit(
            InputStream body,
            @Parameter(description = "How long to wait for the end, such as 10s or PT10S; at most 120 s.")
                    @QueryParam("wait")
                    @Nullable
                    String wait,
            @Parameter(description = "The same as the field id.") @HeaderParam("Idempotency-Key") @Nullable
                    String idempotencyKey,
            @Parameter(description = "W3C trace context, goes into the event.") @HeaderParam("traceparent") @Nullable
                    String traceparent,
            @Parameter(hidden = true) @HeaderParam("tracestate") @Nullable String tracestate,
            @Context HttpHeaders headers)
            throws IOException, InterruptedException, BrokerUnavailableException, EventTooLargeException {
        BodyReader.requireJson(headers);
        Duration patience = WaitParameter.parse(wait, config.maxWait());
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            Submitted submitted = submitted(read, idempotencyKey, traceparent, tracestate);
            if (patience.isZero()) {
                submitted.task().send(intake);
                return accepted(submitted.task().outline());
            }
            return await(submitted, read, patience);
        }
    }

    /**
     * A task that is not yet sent.
     *
     * @param maybeOld whether it may have been submitted before
     */
    private record Submitted(SentEvent task, boolean maybeOld) {}

    private Submitted submitted(
            Bodies.Body read,
            @Nullable String idempotencyKey,
            @Nullable String traceparent,
            @Nullable String tracestate)
            throws InterruptedException {
        Instant now = Instant.now();
        TaskSubmission submission = TaskSubmission.of(read.bytes(), idempotencyKey, now);
        String namespace = access.namespace(submission.request().namespace());
        Event event = access.stamped(submission.event(namespace, now, traceparent, tracestate));
        intake.requireValid(event);
        intake.requireAgent(submission.taskType(), namespace);
        return new Submitted(new SentEvent(event), submission.id() != null);
    }

    /** Sends the task, and waits for it with nothing of its body in hand. */
    private Response await(Submitted submitted, Bodies.Body read, Duration patience)
            throws BrokerUnavailableException, EventTooLargeException, InterruptedException {
        Event outline = submitted.task().outline();
        try (JournalListener listener = waiter.listen(outline, config.produceTimeout())) {
            submitted.task().send(intake);
            read.close();
            Optional<ObjectNode> ended = waiter.await(listener, outline, patience, submitted.maybeOld());
            return ended.isPresent() ? TaskWaiter.response(outline, ended.get()) : accepted(outline);
        }
    }

    private static Response accepted(Event event) {
        Task.Links links = Task.Links.of(event.namespace(), event.id());
        return Response.accepted(
                        Json.writeText(new Task.Accepted(event.id(), event.id(), event.sessionId(), "accepted", links)))
                .location(URI.create(links.self()))
                .build();
    }
}
