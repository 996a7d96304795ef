package dev.millrace.gateway.rest.tasks;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.api.Entry;
import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.requests.TaskFilters;
import dev.millrace.gateway.rest.requests.WaitParameter;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Asking about tasks. */
@Path("/v1/tasks")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Tasks", description = "Submit tasks and see what becomes of them.")
public class TasksResource {
    static final Set<String> STATES =
            Set.of("idle", "reasoning", "acting", "suspended", "completed", "failed", "cancelled");
    static final Set<String> WAITS = Set.of("admission", "model", "tools", "answer", "approval", "resume", "children");
    private static final int MAX_TASKS = 200;
    private static final int MAX_EVENTS = 500;
    /** No page of events is much larger; a single larger event is a page of its own. */
    private static final int MAX_PAGE_BYTES = 1024 * 1024;

    private static final String NO_MOVES_YET = "{\"history\":[],\"next\":null}";
    private static final String NO_EVENTS_YET = "{\"events\":[],\"next\":null,\"upTo\":null}";

    private final TaskWaiter waiter;
    private final Tasks tasks;
    private final AgentClient agentService;
    private final GatewayConfig config;

    @Inject
    TasksResource(TaskWaiter waiter, Tasks tasks, AgentClient agentService, GatewayConfig config) {
        this.waiter = waiter;
        this.tasks = tasks;
        this.agentService = agentService;
        this.config = config;
    }

    @GET
    @Needs(Permission.READ)
    @Operation(summary = "List tasks", description = "Newest first. Filters can be combined.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Task.Page.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response list(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "Only tasks in this state.") @QueryParam("state") @Nullable String state,
            @BeanParam TaskFilters filters,
            @Parameter(description = "The same as sessionId.") @QueryParam("session") @Nullable String session,
            @Parameter(description = "1 to 200", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "50"))
                    @QueryParam("limit")
                    @DefaultValue("50")
                    String limit,
            @Parameter(description = "What next said on the page before.") @QueryParam("cursor") @Nullable
                    String cursor)
            throws QueryUnavailableException, InterruptedException {
        requireOneOf("state", state, STATES);
        requireOneOf("waitingFor", filters.waitingFor(), WAITS);
        Map<String, @Nullable String> query = filters.query(state);
        query.put("namespace", namespace);
        String sessionId = query.get("sessionId");
        query.put("sessionId", sessionId != null && !sessionId.isBlank() ? sessionId : session);
        query.put("limit", Integer.toString(Parameters.number("limit", limit, MAX_TASKS)));
        query.put("before", cursor);
        return Response.ok(agentService.get(AgentClient.path("tasks"), query).json())
                .build();
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{taskId}")
    @Operation(
            summary = "One task",
            description =
                    "A task that was accepted a moment ago and is not known everywhere yet is in the state accepted."
                            + " history has the last 50 moves from state to state; transitions says how many there are."
                            + " With ?wait= the answer comes as soon as the task has ended, asks a question, needs an"
                            + " approval or is held by hand; if that takes longer, it is the task as it is then.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Task.Details.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_task")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response task(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "How long to wait for the end, such as 10s or PT10S; at most 120 s.")
                    @QueryParam("wait")
                    @Nullable
                    String wait)
            throws QueryUnavailableException, InterruptedException {
        Duration patience = WaitParameter.parse(wait, config.maxWait());
        Found found =
                tasks.task(namespace, taskId, null).orElseThrow(() -> ProblemException.unknownTask(namespace, taskId));
        if (!patience.isZero()) {
            Optional<ObjectNode> waitedFor = waiter.awaitRest(namespace, taskId, found, patience);
            if (waitedFor.isPresent()) {
                return Response.ok(Json.writeText(waitedFor.get())).build();
            }
        }
        return Response.ok(
                        switch (found) {
                            case Found.Known known -> known.answer().json();
                            case Found.Accepted accepted -> Json.writeText(waiter.notYetKnown(accepted.event()));
                        })
                .build();
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{taskId}/history")
    @Operation(summary = "How a task moved from state to state", description = "The oldest move first.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Task.MovePage.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_task")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response history(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "Only what comes after this cursor.") @QueryParam("after") @Nullable String after,
            @Parameter(description = "1 to 500", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "500"))
                    @QueryParam("limit")
                    @DefaultValue("500")
                    String limit)
            throws QueryUnavailableException, InterruptedException {
        return page("history", namespace, taskId, after, limit, NO_MOVES_YET);
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{taskId}/events")
    @Operation(summary = "What happened to a task", description = "In the order of the journal.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Entry.Page.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_task")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response events(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "Only what comes after this cursor.") @QueryParam("after") @Nullable String after,
            @Parameter(description = "1 to 500", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "500"))
                    @QueryParam("limit")
                    @DefaultValue("500")
                    String limit)
            throws QueryUnavailableException, InterruptedException {
        return page("events", namespace, taskId, after, limit, NO_EVENTS_YET);
    }

    private Response page(
            String what, String namespace, String taskId, @Nullable String after, String limit, String noneYet)
            throws QueryUnavailableException, InterruptedException {
        Found found = tasks.page(
                        what,
                        namespace,
                        taskId,
                        new Tasks.PageQuery(
                                Parameters.cursor("after", after),
                                null,
                                Parameters.number("limit", limit, MAX_EVENTS),
                                MAX_PAGE_BYTES))
                .orElseThrow(() -> ProblemException.unknownTask(namespace, taskId));
        return Response.ok(found instanceof Found.Known known ? known.answer().json() : noneYet)
                .build();
    }

    static void requireOneOf(String name, @Nullable String value, Set<String> known) {
        if (value != null && !value.isBlank() && !known.contains(value)) {
            throw ProblemException.badParameter(name, "one of " + String.join(", ", new TreeSet<>(known)), value);
        }
    }
}
