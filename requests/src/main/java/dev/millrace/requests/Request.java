package dev.millrace.requests;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import org.jspecify.annotations.Nullable;

/**
 * One tool call to do.
 *
 * @param event the TOOL_CALL_REQUESTED as it came
 * @param callId names the call, the same on every delivery: the idempotency key. 1 to {@value #MAX_CALL_ID} characters
 * @param toolName which tool, 1 character or more
 * @param params the arguments as JSON values; empty if there are none
 * @param timeoutMs how long the requester gives the work, in milliseconds, 1 or more; {@code null} if it does not say
 * @param deliveryCount how often the topic has handed this request to a worker, this time included; 1 or more
 */
public record Request(
        Event event,
        String callId,
        String toolName,
        JsonObject params,
        @Nullable Long timeoutMs,
        int deliveryCount) {

    /** The longest call id, in characters. */
    public static final int MAX_CALL_ID = 300;

    /**
     * Takes an event as a request.
     *
     * @throws MalformedEventException with code {@code unexpected_type} if it is no TOOL_CALL_REQUESTED, or {@code
     *     bad_field} if its payload lacks something
     */
    public static Request of(Event event, int deliveryCount) throws MalformedEventException {
        if (event.type() != KnownEventType.TOOL_CALL_REQUESTED) {
            throw new MalformedEventException(
                    "unexpected_type",
                    "expected a TOOL_CALL_REQUESTED, found a " + event.type().wireName());
        }
        JsonObject asked = event.fields(); // of whatever kind each is: strangers ask, too
        return new Request(
                event,
                required("callId", asked.get("callId")),
                required("toolName", asked.get("toolName")),
                params(asked.get("params")),
                asked.get("timeoutMs") instanceof Number limit && limit.longValue() >= 1
                        ? Long.valueOf(limit.longValue())
                        : null,
                deliveryCount);
    }

    private static String required(String field, @Nullable Object value) throws MalformedEventException {
        if (value instanceof String text && !text.isBlank() && text.length() <= MAX_CALL_ID) {
            return text;
        }
        throw new MalformedEventException(
                "bad_field",
                "payload." + field + ": expected a text of 1 to " + MAX_CALL_ID + " characters, found "
                        + (value instanceof String text ? text.length() + " characters" : "none"));
    }

    private static JsonObject params(@Nullable Object given) throws MalformedEventException {
        return switch (given) {
            case null -> JsonObject.empty();
            case JsonObject params -> params;
            default -> throw new MalformedEventException("bad_field", "payload.params: expected an object");
        };
    }
}
