package dev.millrace.gateway.rest.catalogue;

import dev.millrace.api.UsageAnswer;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** What model calls use. */
@Path("/v1/usage")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Usage", description = "What model calls have used, in tokens and money.")
public class UsageResource {
    private final AgentClient agentService;

    @Inject
    UsageResource(AgentClient agentService) {
        this.agentService = agentService;
    }

    @GET
    @Needs(Permission.READ)
    @Operation(
            summary = "What model calls have used",
            description =
                    "Every model call is counted once, when it ends, also one that failed, was cut off or came too"
                            + " late. Sums are kept by the hour, in UTC. A call that has just ended is counted a moment later."
                            + " Filters can be combined.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = UsageAnswer.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter: one that cannot be read, or too much to add up")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response usage(
            @Parameter(description = "Of this tenant; * = of all.")
                    @QueryParam("namespace")
                    @DefaultValue(Event.DEFAULT_NAMESPACE)
                    String namespace,
            @Parameter(description = "Of the tasks of this conversation only.") @QueryParam("sessionId") @Nullable
                    String sessionId,
            @Parameter(description = "Of this task only.") @QueryParam("taskId") @Nullable String taskId,
            @Parameter(description = "Of this agent only.") @QueryParam("agent") @Nullable String agent,
            @Parameter(description = "Of this model only, by the name that its provider gives it.")
                    @QueryParam("model")
                    @Nullable
                    String model,
            @Parameter(
                            description =
                                    "Since this moment (RFC 3339) or day, and since the hour that it is in. Absent ="
                                            + " since the oldest that is kept.",
                            example = "2026-01-31T08:00:00Z")
                    @QueryParam("from")
                    @Nullable
                    String from,
            @Parameter(
                            description =
                                    "Before this moment or day, and to the end of the hour that it is in. Absent ="
                                            + " until now.",
                            example = "2026-02-01")
                    @QueryParam("to")
                    @Nullable
                    String to,
            @Parameter(
                            description =
                                    "One sum for each of these: namespace, session, task, agent, model, hour, day;"
                                            + " several with commas. Absent = one for all.",
                            example = "agent,model")
                    @QueryParam("groupBy")
                    @Nullable
                    String groupBy)
            throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> query = new HashMap<>();
        query.put("namespace", namespace);
        query.put("sessionId", sessionId);
        query.put("taskId", taskId);
        query.put("agent", agent);
        query.put("model", model);
        query.put("from", from);
        query.put("to", to);
        query.put("groupBy", groupBy);
        return Response.ok(agentService.get(AgentClient.path("usage"), query).json())
                .build();
    }
}
