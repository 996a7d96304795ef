package dev.millrace.gateway.rest.a2a;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.schemas.Ids;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads what is in requests of A2A. Each of these may end one with an {@link A2aFault}. */
final class A2aRequest {
    /** The header that says which version of the protocol a client speaks. */
    static final String VERSION = "A2A-Version";

    private A2aRequest() {}

    /** Returns if the client speaks the version that is spoken here; who says nothing speaks an older one. */
    static void requireVersion(@Nullable String given) {
        String version = given == null || given.isBlank() ? "0.3" : given.strip();
        if (!version.equals(A2aCard.PROTOCOL) && !version.startsWith(A2aCard.PROTOCOL + ".")) {
            throw new A2aFault(
                    A2aFault.Reason.VERSION_NOT_SUPPORTED,
                    VERSION + ": expected " + A2aCard.PROTOCOL + ", found "
                            + (given == null ? "none, which means 0.3" : "\"" + version + "\""));
        }
    }

    static A2aFault noPush() {
        return new A2aFault(
                A2aFault.Reason.PUSH_NOTIFICATION_NOT_SUPPORTED,
                "Push notifications are not offered here; callbackUrl of POST /v1/tasks is, or SubscribeToTask.");
    }

    static A2aFault noOtherCard() {
        return new A2aFault(
                A2aFault.Reason.EXTENDED_AGENT_CARD_NOT_CONFIGURED, "There is one card, for all, of each agent.");
    }

    /** A text; {@code null} = none. */
    static @Nullable String text(JsonNode object, String name) {
        JsonNode value = object.path(name);
        if (value.isMissingNode() || value.isNull()) {
            return null;
        }
        if (!value.isTextual()) {
            throw A2aFault.params(name, "a text", "something else");
        }
        return Parameters.given(value.textValue());
    }

    /** The id of the task that a request is about. */
    static String id(ObjectNode params) {
        String id = text(params, "id");
        if (id == null || id.length() > Ids.MAX_LENGTH) {
            throw A2aFault.params("id", "1 to " + Ids.MAX_LENGTH + " characters", id == null ? "none" : "more");
        }
        return id;
    }

    /** Which tasks are wanted. */
    static A2aTasks.Listing listing(ObjectNode params) {
        JsonNode size = params.path("pageSize");
        if (!size.isMissingNode() && !size.isNull() && !size.canConvertToExactIntegral()) {
            throw A2aFault.params("pageSize", "a whole number", "something else");
        }
        return listing(
                text(params, "contextId"),
                text(params, "status"),
                size.isNumber() && size.canConvertToInt() ? Integer.valueOf(size.intValue()) : null,
                text(params, "pageToken"),
                text(params, "statusTimestampAfter"),
                params.path("includeArtifacts").booleanValue());
    }

    /** The same of what was given as such. */
    static A2aTasks.Listing listing(
            @Nullable String contextId,
            @Nullable String status,
            @Nullable Integer pageSize,
            @Nullable String pageToken,
            @Nullable String statusTimestampAfter,
            boolean includeArtifacts) {
        if (Parameters.given(statusTimestampAfter) != null) {
            throw A2aFault.params("statusTimestampAfter", "none, since tasks are not found by it here", "one");
        }
        return new A2aTasks.Listing(
                Parameters.given(contextId),
                state(Parameters.given(status)),
                pageSize,
                Parameters.given(pageToken),
                includeArtifacts);
    }

    private static A2aTask.@Nullable State state(@Nullable String name) {
        if (name == null || name.equals("TASK_STATE_UNSPECIFIED")) {
            return null;
        }
        return Arrays.stream(A2aTask.State.values())
                .filter(state -> state.name().equals(name))
                .findFirst()
                .orElseThrow(() -> A2aFault.params(
                        "status",
                        "one of "
                                + Arrays.stream(A2aTask.State.values())
                                        .map(Enum::name)
                                        .collect(Collectors.joining(", ")),
                        "another one"));
    }
}
