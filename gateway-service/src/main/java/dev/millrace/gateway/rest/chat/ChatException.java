package dev.millrace.gateway.rest.chat;

import dev.millrace.schemas.Json;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import org.jspecify.annotations.Nullable;

/** Ends a request of an OpenAI client, in the shape that such a client reads. */
final class ChatException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What OpenAI calls a request that is not as it has to be. */
    private static final String INVALID_REQUEST = "invalid_request_error";

    private static final String SERVER_ERROR = "server_error";

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
    static ChatException invalid(String code, String param, String message) {
        return new ChatException(new Refusal(400, INVALID_REQUEST, code, param), param + ": " + message, false);
    }

    /** Something that is asked for cannot be had here. */
    static ChatException unsupported(String param, String message) {
        return invalid("unsupported_parameter", param, message);
    }

    /** There is no such agent; the message says which there are. */
    static ChatException unknownModel(String message) {
        return new ChatException(new Refusal(404, INVALID_REQUEST, "model_not_found", "model"), message, false);
    }

    /** The request as a whole was refused before anything began; asking again may help with a 5xx. */
    static ChatException refused(int status, String code, String message) {
        return new ChatException(
                new Refusal(status, status >= 500 ? SERVER_ERROR : INVALID_REQUEST, code, null),
                message,
                status >= 500);
    }

    /** The task has failed: asking again would have it done, and paid for, a second time. */
    static ChatException failed(String code, String message) {
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
    static ChatException leftAlone(String message) {
        return new ChatException(new Refusal(503, SERVER_ERROR, "shutting_down", null), message, false);
    }

    /** The task had not ended when the patience of the gateway had. */
    static ChatException tooLate(String message) {
        return new ChatException(new Refusal(504, SERVER_ERROR, "timeout", null), message, false);
    }

    /** Whether it took too long. */
    boolean isTimeout() {
        return refusal.status() == 504;
    }

    /** What its client reads. */
    Body body() {
        return new Body(new Fault(String.valueOf(getMessage()), refusal.type(), refusal.param(), refusal.code()));
    }

    /** The object {@code error} and nothing beside it. */
    record Body(Fault error) {}

    record Fault(String message, String type, @Nullable String param, String code) {}

    Response response() {
        Response.ResponseBuilder response = Response.status(refusal.status())
                .type(MediaType.APPLICATION_JSON_TYPE)
                .entity(Json.writeText(body()));
        // OpenAI's own clients repeat a request on most errors unless they are told
        return response.header("x-should-retry", Boolean.toString(repeatable)).build();
    }
}
