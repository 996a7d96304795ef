package dev.millrace.gateway.rest.agui;

import dev.millrace.gateway.kafka.ListenerDroppedException;
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

/** Tells runs to those who have asked for them; who goes before the end takes the task along. */
@Singleton
class AguiRuns {
    /** Longer than any task may take. */
    private static final Duration FOREVER = Duration.ofDays(365);

    private final TurnFeed turns;
    private final TurnStreams streams;

    @Inject
    AguiRuns(TurnFeed turns, TurnStreams streams) {
        this.turns = turns;
        this.streams = streams;
    }

    Response stream(AguiRequest request, Event begin, HttpServerRequest http) {
        return streams.open(outlet -> run(request, begin, outlet, http.response()), http)
                .build();
    }

    private void run(AguiRequest request, Event begin, Outlet outlet, HttpServerResponse client)
            throws InterruptedException, ClientGoneException, ListenerDroppedException {
        AguiStory story = new AguiStory(request, begin, event -> outlet.data(Json.writeText(event)));
        try {
            turns.follow(begin, story.fold(), new TurnPatience(client, outlet, FOREVER));
        } catch (ClientGoneException e) {
            streams.giveUp(begin, story.fold(), story.taskId(), "its client is gone");
            throw e;
        } catch (InterruptedException e) {
            streams.cancel(begin, story.fold(), story.taskId(), "its client is gone");
            throw e;
        }
    }
}
