package dev.millrace.gateway.rest.agui;

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
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells runs to those who have asked for them; who goes before the end takes the task along. */
@Singleton
class AguiRuns {
    private static final Logger LOGGER = LoggerFactory.getLogger(AguiRuns.class);
    /** Longer than any task may take. */
    private static final Duration FOREVER = Duration.ofDays(365);

    private final TurnFeed turns;
    private final OpenStreams open;
    private final TaskIntake intake;

    @Inject
    AguiRuns(TurnFeed turns, OpenStreams open, TaskIntake intake) {
        this.turns = turns;
        this.open = open;
        this.intake = intake;
    }

    Response stream(AguiRequest request, Event begin, HttpServerRequest http) {
        return Response.ok(
                        open.body(outlet -> run(request, begin, outlet, http.response()), http, () -> {}),
                        MediaType.SERVER_SENT_EVENTS_TYPE)
                .header("Cache-Control", "no-store")
                .header("X-Accel-Buffering", "no")
                .build();
    }

    private void run(AguiRequest request, Event begin, Outlet outlet, HttpServerResponse client)
            throws InterruptedException, ClientGoneException, ListenerDroppedException {
        AguiStory story = new AguiStory(request, begin, event -> outlet.data(Json.writeText(event)));
        try {
            turns.follow(begin, story.fold(), new TurnPatience(client, outlet, FOREVER));
        } catch (ClientGoneException | InterruptedException e) {
            cancel(begin, story.taskId());
            throw e;
        }
    }

    private void cancel(Event begin, String taskId) {
        try {
            intake.accept(List.of(TurnInputs.cancel(begin, taskId, "its client is gone")));
        } catch (BrokerUnavailableException | EventTooLargeException e) {
            LOGGER.atWarn().setCause(e).addKeyValue("taskId", taskId).log("A task could not be cancelled");
        }
    }
}
