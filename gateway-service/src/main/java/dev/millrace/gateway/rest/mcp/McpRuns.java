package dev.millrace.gateway.rest.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.rest.rpc.RpcFault;
import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.streams.SsePump.Outlet;
import dev.millrace.gateway.rest.turns.TurnFeed;
import dev.millrace.gateway.rest.turns.TurnPatience;
import dev.millrace.gateway.rest.turns.TurnStreams;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.Response;
import java.util.List;

/** Makes turns of calls of tools, and tells their clients what comes of them. */
@Singleton
class McpRuns {
    private static final String MESSAGE = "message";

    private final McpCalls calls;
    private final TurnFeed turns;
    private final TurnStreams streams;
    private final GatewayConfig config;

    @Inject
    McpRuns(McpCalls calls, TurnFeed turns, TurnStreams streams, GatewayConfig config) {
        this.calls = calls;
        this.turns = turns;
        this.streams = streams;
        this.config = config;
    }

    /** See {@link McpCalls#events}. */
    List<Event> events(String agent, McpRequest request, String namespace)
            throws QueryUnavailableException, InterruptedException {
        return calls.events(agent, request, namespace);
    }

    /** Tells how far the call is, and what comes of it; a client that goes before that takes the task along. */
    Response stream(JsonNode id, McpStory.Call call, HttpServerRequest http) {
        return streams.open(outlet -> run(id, call, outlet, http.response()), http)
                .build();
    }

    private void run(JsonNode id, McpStory.Call call, Outlet outlet, HttpServerResponse client)
            throws InterruptedException, ClientGoneException, ListenerDroppedException {
        McpStory story = new McpStory(call, message -> outlet.named(MESSAGE, Json.writeText(message)));
        try {
            turns.follow(
                    call.begin(),
                    story.fold(),
                    new TurnPatience(client, outlet, config.mcp().timeout()));
            outlet.named(MESSAGE, Json.writeText(new McpMessage.Answer(id, story.result())));
        } catch (TurnPatience.OverException e) {
            streams.giveUp(call.begin(), story.fold(), story.taskId(), "its client was told that it took too long");
            outlet.named(
                    MESSAGE,
                    Json.writeText(new RpcFault(
                                    200,
                                    RpcFault.INTERNAL_ERROR,
                                    "Task " + story.taskId() + " took longer than "
                                            + config.mcp().timeout().toSeconds()
                                            + " s (millrace.gateway.mcp.timeout)"
                                            + (story.fold().ownsTask() ? " and is cancelled." : "."),
                                    null)
                            .refusal(id)));
        } catch (ClientGoneException e) {
            streams.giveUp(call.begin(), story.fold(), story.taskId(), "its client is gone");
            throw e;
        } catch (InterruptedException e) {
            streams.cancel(call.begin(), story.fold(), story.taskId(), "its client is gone");
            throw e;
        }
    }
}
