package dev.millrace.gateway.rest.a2a;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
import dev.millrace.http.client.BadQueryException;
import dev.millrace.http.client.QueryUnavailableException;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.vertx.core.http.HttpServerRequest;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** A2A by JSON-RPC, at any instance. docs/a2a.md. */
@Path("/a2a/{agent}")
@RunOnVirtualThread
@Tag(name = "A2A", description = "Agents for clients that speak A2A.")
public class A2aRpcResource {
    private final A2aDoor door;
    private final A2aRuns runs;
    private final TaskIntake intake;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    A2aRpcResource(A2aDoor door, A2aRuns runs, TaskIntake intake, Access access, GatewayConfig config) {
        this.door = door;
        this.runs = runs;
        this.intake = intake;
        this.access = access;
        this.config = config;
    }

    private record Answer(String jsonrpc, JsonNode id, Object result) {}

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "A message of an A2A client, by JSON-RPC",
            description =
                    "SendMessage, SendStreamingMessage, GetTask, ListTasks, CancelTask and SubscribeToTask of A2A 1.0. A decision"
                            + " about a tool call needs the permission approve as well, what only reads needs read.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = Object.class)))
    @APIResponse(responseCode = "200", description = "The answer, a stream of answers, or an error of JSON-RPC.")
    @APIResponse(responseCode = "202", description = "A notification; nobody answers it.")
    @APIResponse(responseCode = "400", description = "It is no message.")
    @APIResponse(responseCode = "404", description = "unknown_agent")
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client; quota_exceeded")
    @APIResponse(
            responseCode = "503",
            description = "broker_unavailable, query_unavailable, too_many_bodies, too_many_streams")
    public Response message(
            @PathParam("agent") String agent,
            InputStream body,
            @Parameter(description = "The tenant. Absent = the caller's own.") @HeaderParam("X-Namespace") @Nullable
                    String tenant,
            @Parameter(description = "1.0; absent means 0.3, which is not spoken here.")
                    @HeaderParam(A2aRequest.VERSION)
                    @Nullable
                    String version,
            @Context HttpHeaders headers,
            @Context HttpServerRequest http)
            throws IOException, InterruptedException, QueryUnavailableException, BrokerUnavailableException,
                    EventTooLargeException {
        BodyReader.requireJson(headers);
        String namespace = access.namespace(Parameters.given(tenant));
        JsonNode id = null;
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            RpcCall call = RpcCall.of(read.bytes());
            id = call.id();
            if (id == null) {
                return Response.accepted().build();
            }
            A2aRequest.requireVersion(version);
            return answer(id, call, door.place(agent, namespace), http);
        } catch (RpcFault e) {
            return e.response(id);
        } catch (A2aFault e) {
            return e.rpc().response(id);
        } catch (BadQueryException e) {
            return RpcFault.params(String.valueOf(e.getMessage())).response(id);
        } catch (ProblemException e) {
            return A2aFault.of(e).orElseThrow(() -> e).rpc().response(id);
        }
    }

    private Response answer(JsonNode id, RpcCall call, A2aDoor.Place place, HttpServerRequest http)
            throws QueryUnavailableException, InterruptedException, BrokerUnavailableException, EventTooLargeException {
        ObjectNode params = call.params();
        A2aSend.requireNoTenant(A2aRequest.text(params, "tenant"));
        A2aRuns.Wrap wrap = result -> new Answer(RpcFault.VERSION, id, result);
        Object result =
                switch (call.method()) {
                    case "SendMessage" -> {
                        A2aSend send = A2aSend.of(params);
                        yield new A2aTask.Sent(runs.begin(door.turn(send, place), send.waits(), http));
                    }
                    case "SendStreamingMessage" -> {
                        yield runs.stream(door.turn(A2aSend.of(params), place), wrap, http);
                    }
                    case "GetTask" -> door.task(door.readable(place), A2aRequest.id(params));
                    case "ListTasks" -> door.list(door.readable(place), A2aRequest.listing(params));
                    case "CancelTask" -> door.cancel(place, A2aRequest.id(params));
                    case "SubscribeToTask" ->
                        runs.follow(door.current(door.readable(place), A2aRequest.id(params)), wrap, http);
                    case "CreateTaskPushNotificationConfig",
                            "GetTaskPushNotificationConfig",
                            "ListTaskPushNotificationConfigs",
                            "DeleteTaskPushNotificationConfig" -> throw A2aRequest.noPush();
                    case "GetExtendedAgentCard" -> throw A2aRequest.noOtherCard();
                    default -> throw RpcFault.unknownMethod(200, call.method());
                };
        return result instanceof Response stream ? stream : RpcFault.json(200, wrap.apply(result));
    }
}
