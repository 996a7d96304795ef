package dev.millrace.gateway.rest.mcp;

import com.fasterxml.jackson.databind.JsonNode;
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
import dev.millrace.gateway.rest.rpc.RpcCall;
import dev.millrace.gateway.rest.rpc.RpcFault;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.vertx.core.http.HttpServerRequest;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The Model Context Protocol over HTTP, at any instance. docs/mcp-server.md. */
@Path("/mcp")
@RunOnVirtualThread
@Tag(name = "MCP", description = "Agents and memory for clients of the Model Context Protocol.")
public class McpResource {
    private final McpDoor server;
    private final McpRuns runs;
    private final TaskIntake intake;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    McpResource(McpDoor server, McpRuns runs, TaskIntake intake, Access access, GatewayConfig config) {
        this.server = server;
        this.runs = runs;
        this.intake = intake;
        this.access = access;
        this.config = config;
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "A message of an MCP client",
            description =
                    "JSON-RPC of the protocol 2026-07-28, or of those with a handshake (2025-03-26 to 2025-11-25), without a"
                            + " session. Resources and the tasks of calls need the permission read as well, a decision about a"
                            + " tool call the permission approve. tools/call is answered by server-sent events, or at once by a"
                            + " task if the client has that extension.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = Object.class)))
    @APIResponse(responseCode = "200", description = "The answer, or an error of JSON-RPC.")
    @APIResponse(responseCode = "202", description = "A notification; nobody answers it.")
    @APIResponse(responseCode = "400", description = "It is no message, or its headers say something else than it.")
    @APIResponse(responseCode = "404", description = "There is no such method.")
    @APIResponse(responseCode = "413", description = "body_too_large")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(
            responseCode = "503",
            description = "broker_unavailable, query_unavailable, too_many_bodies, too_many_streams")
    public Response message(
            InputStream body,
            @Parameter(description = "The tenant. Absent = the caller's own.") @HeaderParam("X-Namespace") @Nullable
                    String tenant,
            @Context HttpHeaders headers,
            @Context HttpServerRequest http)
            throws IOException, InterruptedException, QueryUnavailableException, BrokerUnavailableException,
                    EventTooLargeException {
        BodyReader.requireJson(headers);
        String namespace = access.namespace(Parameters.given(tenant));
        JsonNode id = null;
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            RpcCall message = RpcCall.of(read.bytes());
            id = message.id(); // so that also what is wrong with it names it
            McpRequest request = McpRequest.of(
                    message,
                    new McpRequest.Headers(
                            headers.getHeaderString("MCP-Protocol-Version"),
                            headers.getHeaderString("Mcp-Method"),
                            headers.getHeaderString("Mcp-Name")));
            if (id == null) {
                return Response.accepted().build();
            }
            return answer(id, request, namespace, http);
        } catch (RpcFault e) {
            return e.response(id);
        }
    }

    private Response answer(JsonNode id, McpRequest request, String namespace, HttpServerRequest http)
            throws QueryUnavailableException, InterruptedException, BrokerUnavailableException, EventTooLargeException {
        try {
            if (request.method().equals("tools/call")) {
                return call(id, request, namespace, http);
            }
            McpMessage.Result result = server.answer(request, namespace);
            if (result == null) {
                throw RpcFault.unknownMethod(request.stateless() ? 404 : 200, request.method());
            }
            return RpcFault.json(200, new McpMessage.Answer(id, result));
        } catch (ProblemException e) {
            if (e.problem().status() >= 500 || e.problem().status() == 429) {
                throw e;
            }
            throw RpcFault.params(e.problem().detail());
        }
    }

    private Response call(JsonNode id, McpRequest request, String namespace, HttpServerRequest http)
            throws QueryUnavailableException, InterruptedException, BrokerUnavailableException, EventTooLargeException {
        String name = request.text("name");
        if (name == null || !server.hasTool(name)) {
            throw RpcFault.params("There is no tool " + name + "; tools/list names those that there are.");
        }
        List<Event> events = runs.events(name, request, namespace);
        Event begin = events.getLast();
        if (request.takesTasks() && begin.taskId() == null) { // of one that goes on, the last result is known still
            intake.accept(events);
            return RpcFault.json(200, new McpMessage.Answer(id, McpTasks.created(begin)));
        }
        Response stream =
                runs.stream(id, new McpStory.Call(begin, request, access.may(namespace, Permission.APPROVE)), http);
        intake.accept(events); // once there is a place for the stream
        return stream;
    }
}
