package dev.millrace.gateway.rest.turns;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.streams.OpenStreams;
import dev.millrace.gateway.rest.streams.SsePump;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.schemas.Event;
import io.vertx.core.http.HttpServerRequest;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Streams by which clients are told turns, and the end of tasks whose clients do not want them any more. */
@Singleton
public class TurnStreams {
    private static final Logger LOGGER = LoggerFactory.getLogger(TurnStreams.class);

    private final OpenStreams open;
    private final TaskIntake intake;
    private final TurnFeed turns;

    @Inject
    TurnStreams(OpenStreams open, TaskIntake intake, TurnFeed turns) {
        this.open = open;
        this.intake = intake;
        this.turns = turns;
    }

    /**
     * A stream.
     *
     * @throws ProblemException if there is no place for it
     */
    public Response.ResponseBuilder open(SsePump.Source source, HttpServerRequest http) {
        return Response.ok(open.body(source, http, () -> {}), MediaType.SERVER_SENT_EVENTS_TYPE)
                .header("Cache-Control", "no-store")
                .header("X-Accel-Buffering", "no");
    }

    /**
     * Cancels the task of a turn whose client does not want it any more, if it is this turn's; waits some seconds where
     * that is not certain yet.
     */
    public void giveUp(Event begin, TurnFold turn, String taskId, String reason) throws InterruptedException {
        if (turn.mayBeLate()) {
            turns.awaitBeginning(begin, turn);
        }
        cancel(begin, turn, taskId, reason);
    }

    /**
     * Cancels the task of the turn that began with this event, if it is this turn's; that it could not be is for the
     * log.
     */
    public void cancel(Event begin, TurnFold turn, String taskId, String reason) {
        if (!turn.ownsTask()) {
            return;
        }
        try {
            intake.accept(List.of(TurnInputs.cancel(begin, taskId, reason)));
        } catch (BrokerUnavailableException | EventTooLargeException e) {
            LOGGER.atWarn().setCause(e).addKeyValue("taskId", taskId).log("A task could not be cancelled");
        }
    }
}
