package dev.millrace.gateway.rest.responses;

import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.rest.chat.ChatException;
import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.streams.SsePump.Outlet;
import dev.millrace.gateway.rest.turns.TurnFeed;
import dev.millrace.gateway.rest.turns.TurnPatience;
import dev.millrace.gateway.rest.turns.TurnStreams;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waits for responses on behalf of their clients, whole or piece by piece. */
@Singleton
class ResponseRuns {
    private static final Logger LOGGER = LoggerFactory.getLogger(ResponseRuns.class);
    private static final String TASK_ID = "X-Task-Id";
    private static final Duration CANCEL_PATIENCE = Duration.ofSeconds(10);

    private final TurnFeed turns;
    private final TurnStreams streams;
    private final GatewayConfig config;

    @Inject
    ResponseRuns(TurnFeed turns, TurnStreams streams, GatewayConfig config) {
        this.turns = turns;
        this.streams = streams;
        this.config = config;
    }

    /**
     * Waits for all of a response, as long as its client does.
     *
     * @throws ChatException if it takes too long; the task is cancelled then. Or if this instance stops
     */
    Response whole(ResponseStory.Asked asked, HttpServerResponse client) throws InterruptedException {
        ResponseStory story = new ResponseStory(asked, event -> {});
        try {
            turns.follow(
                    asked.begin(),
                    story.fold(),
                    new TurnPatience(client, null, config.openai().timeout()));
            return Response.ok(Json.writeText(story.view()))
                    .header(TASK_ID, TurnFeed.taskOf(asked.begin()))
                    .build();
        } catch (ClientGoneException e) {
            streams.giveUp(asked.begin(), story.fold(), story.taskId(), "its client is gone");
            return Response.noContent().build(); // nobody reads it
        } catch (TurnPatience.OverException e) {
            streams.giveUp(asked.begin(), story.fold(), story.taskId(), "its client was told that it took too long");
            throw ChatException.tooLate("The response " + asked.id() + " was not there after "
                    + config.openai().timeout().toSeconds() + " s.");
        } catch (ListenerDroppedException | InterruptedException e) {
            throw ChatException.leftAlone(
                    "This instance stops and cannot wait for the response " + asked.id() + ", which goes on.");
        }
    }

    /** The response once its task is cancelled, or as it stands after some seconds. */
    ResponseView cancelled(Event begin) throws InterruptedException {
        ResponseStory story = new ResponseStory(ResponseStory.Asked.before(begin), event -> {});
        try {
            turns.follow(begin, story.fold(), new TurnPatience(null, null, CANCEL_PATIENCE));
        } catch (TurnPatience.OverException | ClientGoneException | ListenerDroppedException e) {
            LOGGER.debug("A response was not cancelled while its client waited");
        }
        return story.view();
    }

    /** Sends a response piece by piece, what comes behind this number. */
    Response stream(ResponseStory.Asked asked, long after, HttpServerRequest http) {
        return streams.open(outlet -> run(asked, after, outlet, http.response()), http)
                .header(TASK_ID, TurnFeed.taskOf(asked.begin()))
                .build();
    }

    private void run(ResponseStory.Asked asked, long after, Outlet outlet, HttpServerResponse client)
            throws InterruptedException, ClientGoneException, ListenerDroppedException {
        boolean ours = Boolean.FALSE.equals(asked.background());
        Duration timeout = ours ? config.openai().timeout() : Duration.ofDays(1);
        ResponseSequel sequel = new ResponseSequel(after, event -> outlet.named(event.type(), Json.writeText(event)));
        ResponseStory story = new ResponseStory(asked, sequel);
        try {
            turns.follow(asked.begin(), story.fold(), new TurnPatience(client, outlet, timeout));
        } catch (TurnPatience.OverException e) {
            if (ours) {
                streams.giveUp(
                        asked.begin(), story.fold(), story.taskId(), "its client was told that it took too long");
            }
            sequel.send(new ResponseEvent.Broken(
                    "error",
                    sequel.last() + 1,
                    "timeout",
                    "The response was not there after " + timeout.toSeconds() + " s.",
                    null));
        } catch (ClientGoneException e) {
            if (ours) {
                streams.giveUp(asked.begin(), story.fold(), story.taskId(), "its client is gone");
            }
            throw e;
        } catch (InterruptedException e) {
            if (ours) {
                streams.cancel(asked.begin(), story.fold(), story.taskId(), "its client is gone");
            }
            throw e;
        }
    }
}
