package dev.millrace.gateway.rest.tasks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Approval;
import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.tasks.Controls.Target;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Problem;
import dev.millrace.schemas.ToolArguments;
import dev.millrace.schemas.ToolDefinition;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/**
 * Tool calls that wait for a person. The id of a call has slashes; it may stand in a path as it is or with {@code %2F}.
 * Whether a call is open is judged by what the query side knows; the task machine has the last word.
 */
@Path("/v1/approvals")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Approvals", description = "Tool calls that wait for a person's decision.")
public class ApprovalsResource {
    private static final int MAX_APPROVALS = 200;

    private final Controls controls;
    private final Tasks tasks;
    private final AgentClient agentService;

    @Inject
    ApprovalsResource(Controls controls, Tasks tasks, AgentClient agentService) {
        this.controls = controls;
        this.tasks = tasks;
        this.agentService = agentService;
    }

    @GET
    @Needs(Permission.READ)
    @Operation(
            summary = "Open approvals",
            description = "The one that has waited longest first. Filters can be combined.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Approval.Page.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response list(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "Only of this task.") @QueryParam("taskId") @Nullable String taskId,
            @Parameter(description = "Only of this conversation.") @QueryParam("sessionId") @Nullable String sessionId,
            @Parameter(description = "Only of this tool.") @QueryParam("toolName") @Nullable String toolName,
            @Parameter(description = "1 to 200", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "50"))
                    @QueryParam("limit")
                    @DefaultValue("50")
                    String limit,
            @Parameter(description = "What next said on the page before.") @QueryParam("cursor") @Nullable
                    String cursor)
            throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> query = new HashMap<>();
        query.put("namespace", namespace);
        query.put("taskId", taskId);
        query.put("sessionId", sessionId);
        query.put("toolName", toolName);
        query.put("limit", Integer.toString(Parameters.number("limit", limit, MAX_APPROVALS)));
        query.put("after", cursor);
        return Response.ok(
                        agentService.get(AgentClient.path("approvals"), query).json())
                .build();
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{callId: .+}")
    @Operation(summary = "One tool call that waits, or waited, for a decision")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Approval.Details.class)))
    @APIResponse(responseCode = "404", description = "unknown_approval")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response approval(
            @PathParam("callId") String callId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws QueryUnavailableException, InterruptedException {
        return Response.ok(tasks.approval(namespace, callId)
                        .orElseThrow(() -> unknown(namespace, callId))
                        .json())
                .build();
    }

    @POST
    @Needs(Permission.APPROVE)
    @Path("/{callId: .+}")
    @Consumes(MediaType.APPLICATION_JSON)
    @Operation(
            summary = "Decide on a tool call",
            description =
                    "approve runs the call exactly as it was asked for, or with the params that you give; reject does"
                            + " not run it and tells the model your reason. The first decision counts; the same one a second time"
                            + " does no harm. The id of the call may stand in the path with its slashes as they are or as %2F.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = Approval.Decision.class)))
    @APIResponse(
            responseCode = "202",
            description = "The decision is stored. With ?wait=: the task has not ended in that time, and goes on.",
            content = @Content(schema = @Schema(implementation = Task.ControlAccepted.class)))
    @APIResponse(
            responseCode = "200",
            description = "Only with ?wait=: the task as it has ended, asks a question or needs another approval.",
            content = @Content(schema = @Schema(implementation = Task.AtRest.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field, bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_approval")
    @APIResponse(responseCode = "409", description = "already_decided (differently), not_waiting")
    @APIResponse(responseCode = "422", description = "invalid_arguments: the tool cannot take these params")
    @APIResponse(responseCode = "503", description = "query_unavailable, broker_unavailable")
    public Response decide(
            @PathParam("callId") String callId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "How long to wait for the end, such as 10s; at most 120 s.")
                    @QueryParam("wait")
                    @Nullable
                    String wait,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, QueryUnavailableException, BrokerUnavailableException, EventTooLargeException,
                    InterruptedException {
        Payload.ApprovalDecided payload = payload(callId, controls.body(body, headers, Approval.Decision.class));
        Approval.Details details = tasks.approval(namespace, callId)
                .orElseThrow(() -> unknown(namespace, callId))
                .as(Approval.Details.class);
        Approval approval = details.approval();
        Target target = new Target(namespace, approval.taskId(), approval.sessionId());
        Event event = controls.event(KnownEventType.APPROVAL_DECIDED, target, payload, headers);
        if (details.open()) {
            requireFitting(approval.toolName(), payload);
            return controls.send(event, wait, null);
        }
        requireSame(callId, details, payload.decision());
        return controls.send(event, null, "The call was decided in the same way before; this changes nothing.");
    }

    /**
     * Refuses arguments that the tool cannot take; while it is not known what it takes, the task machine judges alone.
     */
    private void requireFitting(String toolName, Payload.ApprovalDecided decided)
            throws QueryUnavailableException, InterruptedException {
        if (decided.params() == null) {
            return;
        }
        ToolArguments known = tool(toolName).flatMap(ToolArguments::soon).orElse(null);
        List<String> problems = known == null ? List.of() : known.problemsSoon(decided.params());
        if (!problems.isEmpty()) {
            throw new ProblemException(new Problem(
                    422,
                    "invalid_arguments",
                    "The tool cannot take these arguments",
                    "params: " + String.join("; ", problems) + ". Nothing was decided.",
                    Map.of("field", "params", "toolName", toolName, "problems", problems)));
        }
    }

    private Optional<ToolDefinition> tool(String name) throws QueryUnavailableException, InterruptedException {
        JsonNode tools = agentService
                .get(AgentClient.path("tools"), Map.of("name", name))
                .as(JsonNode.class)
                .path("tools");
        try {
            return tools.size() == 1
                    ? Optional.of(ToolDefinition.fromJson(Json.write(tools.get(0))))
                    : Optional.empty();
        } catch (MalformedEventException e) {
            return Optional.empty();
        }
    }

    private Payload.ApprovalDecided payload(String callId, Approval.Decision decision) {
        if (!List.of("approve", "reject").contains(String.valueOf(decision.decision()))) {
            throw ProblemException.badField("decision", "approve or reject", decision.decision());
        }
        if (decision.params() != null && decision.decision().equals("reject")) {
            throw ProblemException.badField("params", "none, since the call is rejected", decision.params());
        }
        try {
            return new Payload.ApprovalDecided(
                    callId,
                    decision.decision(),
                    JsonObject.ofNullable(decision.params()),
                    BodyReader.text("reason", decision.reason(), Task.Request.MAX_TEXT),
                    controls.principalOr(BodyReader.text("decidedBy", decision.decidedBy(), Ids.MAX_LENGTH)));
        } catch (IllegalArgumentException e) {
            throw ProblemException.unreadable(e);
        }
    }

    private static void requireSame(String callId, Approval.Details approval, String decision) {
        Approval.Decided decided = approval.decided();
        if (decided == null) {
            throw new ProblemException(new Problem(
                    409,
                    "not_waiting",
                    "The call does not wait any more",
                    "The call " + callId + " was never decided on and waits no more: its task is "
                            + approval.taskState() + ".",
                    Map.of("state", approval.taskState())));
        }
        if (!decision.equals(decided.decision())) {
            throw new ProblemException(new Problem(
                    409,
                    "already_decided",
                    "Somebody has decided already",
                    "The call " + callId + " was decided before: " + decided.decision()
                            + (decided.decidedBy() == null ? "" : ", by " + decided.decidedBy()) + ".",
                    Map.of("decided", decided)));
        }
    }

    private static ProblemException unknown(String namespace, String callId) {
        return new ProblemException(Problem.of(
                404,
                "unknown_approval",
                "Unknown approval",
                "No approval was asked for a call " + callId + " in the namespace " + namespace + "."));
    }
}
