package dev.millrace.gateway.rest.a2a;

import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.gateway.rest.turns.TurnFeed;
import dev.millrace.gateway.rest.turns.TurnPatience;
import dev.millrace.gateway.rest.turns.TurnStreams;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import io.vertx.core.http.HttpServerRequest;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells clients what becomes of their messages. A task goes on without its client. */
@Singleton
class A2aRuns {
    private static final Logger LOGGER = LoggerFactory.getLogger(A2aRuns.class);
    /** Longer than any task may take. */
    private static final Duration FOREVER = Duration.ofDays(365);

    private final TurnFeed turns;
    private final TurnStreams streams;
    private final TaskIntake intake;
    private final GatewayConfig config;

    @Inject
    A2aRuns(TurnFeed turns, TurnStreams streams, TaskIntake intake, GatewayConfig config) {
        this.turns = turns;
        this.streams = streams;
        this.intake = intake;
        this.config = config;
    }

    /** What each piece of a stream is put into, by the binding. */
    @FunctionalInterface
    interface Wrap extends UnaryOperator<Object> {}

    /** Ends a waiting that has what it is for. */
    private static final class EnoughException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /**
     * Begins a turn, and tells the task once it has ended or needs somebody, or as it is after the time that a request
     * may take.
     *
     * @param rest whether to wait for that, and not only until it is known which task it is
     */
    A2aTask begin(A2aTurns.Turn turn, boolean rest, HttpServerRequest http)
            throws InterruptedException, BrokerUnavailableException, EventTooLargeException {
        if (!turn.toSend().isEmpty()) {
            intake.accept(turn.toSend());
        }
        A2aStory story = new A2aStory(turn.begin(), update -> {
            if (!rest) {
                throw new EnoughException();
            }
        });
        try {
            turns.follow(turn.begin(), story.fold(), new TurnPatience(http.response(), null, config.maxWait()));
        } catch (EnoughException | TurnPatience.OverException | ClientGoneException | ListenerDroppedException e) {
            LOGGER.trace("A task is told before it has come to rest");
        }
        return story.task();
    }

    /** Begins a turn, and tells it piece by piece. */
    Response stream(A2aTurns.Turn turn, Wrap wrap, HttpServerRequest http)
            throws BrokerUnavailableException, EventTooLargeException {
        Response stream = follow(turn.begin(), wrap, http);
        if (!turn.toSend().isEmpty()) {
            intake.accept(turn.toSend()); // once there is a place for the stream
        }
        return stream;
    }

    /** Tells a turn piece by piece, from its beginning. */
    Response follow(Event begin, Wrap wrap, HttpServerRequest http) {
        return streams.open(
                        outlet -> {
                            A2aStory story =
                                    new A2aStory(begin, update -> outlet.data(Json.writeText(wrap.apply(update))));
                            turns.follow(begin, story.fold(), new TurnPatience(http.response(), outlet, FOREVER));
                        },
                        http)
                .build();
    }
}
