package dev.millrace.requests;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One tool call to do.
 *
 * @param event the TOOL_CALL_REQUESTED as it came
 * @param callId names the call, the same on every delivery: the idempotency key. 1 to {@value #MAX_CALL_ID} characters
 * @param toolName which tool, 1 character or more
 * @param params the arguments as JSON values; empty if there are none
 * @param deliveryCount how often the topic has handed this request to a worker, this time included; 1 or more
 */
public record Request(
        Event event, String callId, String toolName, Map<String, @Nullable Object> params, int deliveryCount) {

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
        return new Request(
                event,
                requiredText(event, "callId", MAX_CALL_ID),
                requiredText(event, "toolName", MAX_CALL_ID),
                params(event),
                deliveryCount);
    }

    /**
     * How long the requester wants to give the work, in milliseconds; {@code null} if it does not say, or says less
     * than 1.
     */
    public @Nullable Long timeoutMs() {
        return event.fields().get("timeoutMs") instanceof Number number && number.longValue() >= 1
                ? Long.valueOf(number.longValue())
                : null;
    }

    private static String requiredText(Event event, String field, int maxLength) throws MalformedEventException {
        String value = event.text(field);
        if (value == null || value.isBlank() || value.length() > maxLength) {
            throw new MalformedEventException(
                    "bad_field",
                    "payload." + field + ": expected a text of 1 to " + maxLength + " characters, found "
                            + (value == null ? "none" : value.length() + " characters"));
        }
        return value;
    }

    @SuppressWarnings("unchecked") // the keys of a JSON object are texts
    private static Map<String, @Nullable Object> params(Event event) throws MalformedEventException {
        return switch (event.fields().get("params")) {
            case null -> Map.of();
            case Map<?, ?> params -> (Map<String, @Nullable Object>) params;
            default -> throw new MalformedEventException("bad_field", "payload.params: expected an object");
        };
    }
}
