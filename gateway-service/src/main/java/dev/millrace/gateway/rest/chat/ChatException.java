package dev.millrace.gateway.rest.chat;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends a request of an OpenAI client, in the shape that such a client reads. */
public final class ChatException extends RuntimeException {
    private static final Logger LOGGER = LoggerFactory.getLogger(ChatException.class);
    private static final long serialVersionUID = 1L;
    private static final String UNKNOWN_AGENT = "unknown_agent";

    /** What OpenAI calls a request that is not as it has to be. */
    private static final String INVALID_REQUEST = "invalid_request_error";

    private static final String SERVER_ERROR = "server_error";
    private static final String UNAVAILABLE = "broker_unavailable";

    private final transient Refusal refusal;
    private final boolean repeatable;

    /** What is told besides the words, in OpenAI's terms. */
    private record Refusal(
            int status, String type, String code, @Nullable String param) {}

    private ChatException(Refusal refusal, String message, boolean repeatable) {
        super(message);
        this.refusal = refusal;
        this.repeatable = repeatable;
    }

    /** A field of the request is wrong; the message says what was expected and what was found. */
    public static ChatException invalid(String code, String param, String message) {
        return new ChatException(new Refusal(400, INVALID_REQUEST, code, param), param + ": " + message, false);
    }

    /**
     * The metadata of a request, as an event can have them; {@code null} of {@code null}.
     *
     * @throws ChatException if there is a number that no event can have
     */
    public static @Nullable JsonObject requireMetadata(@Nullable Map<String, @Nullable Object> given) {
        try {
            return JsonObject.ofNullable(given);
        } catch (IllegalArgumentException e) {
            throw invalid(
                    "invalid_value",
                    "metadata",
                    "expected numbers in the range of a 64-bit floating point number, found one beyond it");
        }
    }

    /** Something that is asked for cannot be had here. */
    public static ChatException unsupported(String param, String message) {
        return invalid("unsupported_parameter", param, message);
    }

    /** There is no such agent; the message says which there are. */
    static ChatException unknownModel(String message) {
        return new ChatException(new Refusal(404, INVALID_REQUEST, "model_not_found", "model"), message, false);
    }

    /** The request as a whole was refused before anything began; asking again may help with a 5xx. */
    public static ChatException refused(int status, String code, String message) {
        return new ChatException(
                new Refusal(status, status >= 500 ? SERVER_ERROR : INVALID_REQUEST, code, null),
                message,
                status >= 500);
    }

    /** The request was refused for this reason. */
    public static ChatException of(ProblemException e) {
        if (e.problem().code().equals(UNKNOWN_AGENT)) {
            return unknownModel(e.problem().detail());
        }
        int status = e.problem().status() == 422 ? 400 : e.problem().status();
        return refused(status, e.problem().code(), e.problem().detail());
    }

    /** Nothing was begun, or it does no harm to do it twice. */
    public static ChatException of(BrokerUnavailableException e) {
        LOGGER.atWarn().setCause(e.getCause()).log("The brokers did not take or tell something in time");
        return refused(503, UNAVAILABLE, "The Kafka brokers did not answer in time.");
    }

    /** What starts a task was sent, and may be stored: asking again might have it done, and paid for, a second time. */
    public static ChatException uncertain(BrokerUnavailableException e) {
        LOGGER.atWarn().setCause(e.getCause()).log("The brokers did not say in time whether they took something");
        return new ChatException(
                new Refusal(503, SERVER_ERROR, UNAVAILABLE, null),
                "The Kafka brokers did not answer in time, so it is not certain whether this was accepted.",
                false);
    }

    /** The message is too large. */
    public static ChatException of(EventTooLargeException e) {
        LOGGER.atDebug().setCause(e).log("A message is too large");
        return refused(
                413, "event_too_large", "The conversation is larger than the Kafka topic takes that it belongs on.");
    }

    /** This instance stops before anything has begun. */
    public static ChatException stopping() {
        return refused(503, "shutting_down", "This instance stops; ask another one.");
    }

    /** The task has failed: asking again would have it done, and paid for, a second time. */
    public static ChatException failed(String code, String message) {
        Refusal refusal =
                switch (code) {
                    case "context_overflow" -> new Refusal(400, INVALID_REQUEST, "context_length_exceeded", "messages");
                    case "content_filtered" -> new Refusal(400, INVALID_REQUEST, "content_filter", null);
                    case "rate_limited" -> new Refusal(429, "rate_limit_error", "rate_limit_exceeded", null);
                    default -> new Refusal(500, SERVER_ERROR, code, null);
                };
        return new ChatException(refusal, message, false);
    }

    /** The gateway cannot wait any more; the task goes on without it. */
    public static ChatException leftAlone(String message) {
        return new ChatException(new Refusal(503, SERVER_ERROR, "shutting_down", null), message, false);
    }

    /** The task had not ended when the patience of the gateway had. */
    public static ChatException tooLate(String message) {
        return new ChatException(new Refusal(504, SERVER_ERROR, "timeout", null), message, false);
    }

    /** Whether it took too long. */
    public boolean isTimeout() {
        return refusal.status() == 504;
    }

    /** What its client reads. */
    Body body() {
        return new Body(new Fault(String.valueOf(getMessage()), refusal.type(), refusal.param(), refusal.code()));
    }

    /** The object {@code error} and nothing beside it. */
    record Body(Fault error) {}

    record Fault(String message, String type, @Nullable String param, String code) {}

    public Response response() {
        Response.ResponseBuilder response = Response.status(refusal.status())
                .type(MediaType.APPLICATION_JSON_TYPE)
                .entity(Json.writeText(body()));
        // OpenAI's own clients repeat a request on most errors unless they are told
        return response.header("x-should-retry", Boolean.toString(repeatable)).build();
    }
}
