package dev.millrace.gateway.rest.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.streams.OpenStreams;
import dev.millrace.gateway.rest.streams.SsePump.Outlet;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.gateway.rest.turns.TurnFeed;
import dev.millrace.gateway.rest.turns.TurnInputs;
import dev.millrace.gateway.rest.turns.TurnPatience;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes turns of calls of tools, and tells their clients what comes of them. */
@Singleton
class McpRuns {
    private static final Logger LOGGER = LoggerFactory.getLogger(McpRuns.class);
    private static final String MESSAGE = "message";

    private final McpCalls calls;
    private final TurnFeed turns;
    private final OpenStreams open;
    private final TaskIntake intake;
    private final GatewayConfig config;

    @Inject
    McpRuns(McpCalls calls, TurnFeed turns, OpenStreams open, TaskIntake intake, GatewayConfig config) {
        this.calls = calls;
        this.turns = turns;
        this.open = open;
        this.intake = intake;
        this.config = config;
    }

    /** See {@link McpCalls#events}. */
    List<Event> events(String agent, McpRequest request, String namespace)
            throws QueryUnavailableException, InterruptedException {
        return calls.events(agent, request, namespace);
    }

    /** Tells how far the call is, and what comes of it; a client that goes before that takes the task along. */
    Response stream(JsonNode id, McpStory.Call call, HttpServerRequest http) {
        return Response.ok(
                        open.body(outlet -> run(id, call, outlet, http.response()), http, () -> {}),
                        MediaType.SERVER_SENT_EVENTS_TYPE)
                .header("Cache-Control", "no-store")
                .header("X-Accel-Buffering", "no")
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
            cancel(call, story, "its client was told that it took too long");
            outlet.named(
                    MESSAGE,
                    Json.writeText(new McpMessage.Refusal(
                            McpMessage.VERSION,
                            id,
                            new McpMessage.Fault(
                                    McpFault.INTERNAL_ERROR,
                                    "Task " + story.taskId() + " took longer than "
                                            + config.mcp().timeout().toSeconds()
                                            + " s (millrace.gateway.mcp.timeout) and is cancelled.",
                                    null))));
        } catch (ClientGoneException | InterruptedException e) {
            cancel(call, story, "its client is gone");
            throw e;
        }
    }

    private void cancel(McpStory.Call call, McpStory story, String reason) {
        try {
            intake.accept(List.of(TurnInputs.cancel(call.begin(), story.taskId(), reason)));
        } catch (BrokerUnavailableException | EventTooLargeException e) {
            LOGGER.atWarn().setCause(e).addKeyValue("taskId", story.taskId()).log("A task could not be cancelled");
        }
    }
}
