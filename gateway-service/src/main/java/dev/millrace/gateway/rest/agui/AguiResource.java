package dev.millrace.gateway.rest.agui;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.gateway.rest.turns.TurnInputs;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.vertx.core.http.HttpServerRequest;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Runs of agents for user interfaces that speak AG-UI, at any instance. docs/agui.md. */
@Path("/v1/agui/{agent}")
@RunOnVirtualThread
@Tag(name = "AG-UI", description = "Agents for user interfaces that speak AG-UI.")
public class AguiResource {
    private static final String NO_ANSWER = "(The user does not want to answer this.)";

    private final TurnInputs inputs;
    private final AguiRuns runs;
    private final TaskIntake intake;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    AguiResource(TurnInputs inputs, AguiRuns runs, TaskIntake intake, Access access, GatewayConfig config) {
        this.inputs = inputs;
        this.runs = runs;
        this.intake = intake;
        this.access = access;
        this.config = config;
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Consumes(MediaType.APPLICATION_JSON)
    @Produces(MediaType.SERVER_SENT_EVENTS)
    @Operation(
            summary = "Run an agent, as AG-UI's clients do",
            description =
                    "threadId is the session, and the messages of the client are the conversation. The same runId again tells"
                            + " the same run from its beginning, at any instance. resume answers the questions and decides on the"
                            + " tool calls that interrupted the run before; decisions need the permission approve as well.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = AguiRequest.Body.class)))
    @APIResponse(responseCode = "200", description = "The events of the run.")
    @APIResponse(responseCode = "400", description = "bad_json, bad_field, several_tasks")
    @APIResponse(responseCode = "404", description = "unknown_task, unknown_approval: of an interrupt")
    @APIResponse(responseCode = "409", description = "not_resumable, not_waiting, already_decided")
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(responseCode = "422", description = "unknown_agent (lists the known ones), invalid_payload")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(
            responseCode = "503",
            description = "broker_unavailable, query_unavailable, too_many_bodies, too_many_streams")
    public Response run(
            @PathParam("agent") String agent,
            InputStream body,
            @Parameter(description = "The tenant. Absent = the caller's own.") @HeaderParam("X-Namespace") @Nullable
                    String tenant,
            @Context HttpHeaders headers,
            @Context HttpServerRequest http)
            throws IOException, InterruptedException, QueryUnavailableException, BrokerUnavailableException,
                    EventTooLargeException {
        BodyReader.requireJson(headers);
        String namespace = access.namespace(Parameters.given(tenant));
        try (Bodies.Body read = intake.read(body, config.openai().maxBodySize().asLongValue())) {
            AguiRequest request = AguiRequest.of(read.bytes());
            intake.requireAgent(agent, namespace);
            List<Event> events = events(agent, request, namespace);
            events.forEach(intake::requireValid);
            Response response = runs.stream(request, events.getLast(), http);
            intake.accept(events); // once there is a place for the stream
            return response;
        }
    }

    private List<Event> events(String agent, AguiRequest request, String namespace)
            throws QueryUnavailableException, InterruptedException {
        try {
            List<Event.Builder> made = request.resume().isEmpty()
                    ? List.of(message(agent, request, namespace))
                    : resumed(request.resume(), namespace);
            List<Event> events = new ArrayList<>();
            for (Event.Builder one : made) {
                Event event = one.build();
                events.add(access.stamped(
                        TurnInputs.root(id(request, events.size()), (KnownEventType) event.type(), namespace)
                                .taskId(event.taskId())
                                .sessionId(event.sessionId())
                                .payload(event.payload())
                                .build()));
            }
            return events;
        } catch (IllegalArgumentException e) {
            throw ProblemException.unreadable(e);
        }
    }

    /** Of the client's own ids, so that the same run a second time is no other one. */
    private static String id(AguiRequest request, int ordinal) {
        return Ids.hash(request.threadId() + '\n' + request.runId() + '\n' + ordinal)
                .substring(0, 32);
    }

    private static Event.Builder message(String agent, AguiRequest request, String namespace) {
        return TurnInputs.root(KnownEventType.MESSAGE_RECEIVED, namespace)
                .sessionId(request.threadId())
                .payload(new Payload.MessageReceived(
                        request.text(), null, List.of(), request.history(), agent, null, null, null, null));
    }

    private List<Event.Builder> resumed(List<AguiRequest.Answer> answers, String namespace)
            throws QueryUnavailableException, InterruptedException {
        AguiRequest.Answer first = answers.getFirst();
        String id = String.valueOf(first.interruptId());
        if (id.startsWith(AguiStory.QUESTION)) {
            if (answers.size() > 1) {
                throw ProblemException.badField("resume", "one answer, since there is one question", answers.size());
            }
            Task task = inputs.task(namespace, id.substring(AguiStory.QUESTION.length()));
            JsonNode payload = first.payload();
            String words = payload == null ? "" : payload.isTextual() ? payload.textValue() : payload.toString();
            return List.of(inputs.goOn(task, resolved(first) && !words.isBlank() ? words : NO_ANSWER));
        }
        return inputs.decided(
                namespace,
                answers.stream()
                        .map(one -> new TurnInputs.Decision(
                                String.valueOf(one.interruptId()), resolved(one) && approved(one), reason(one)))
                        .toList());
    }

    private static boolean resolved(AguiRequest.Answer answer) {
        return "resolved".equals(answer.status());
    }

    private static boolean approved(AguiRequest.Answer answer) {
        JsonNode payload = answer.payload();
        return payload != null && (payload.isBoolean() ? payload : payload.path("approved")).booleanValue();
    }

    private static @Nullable String reason(AguiRequest.Answer answer) {
        JsonNode payload = answer.payload();
        String reason = payload == null ? null : payload.path("reason").textValue();
        return Parameters.given(reason);
    }
}
