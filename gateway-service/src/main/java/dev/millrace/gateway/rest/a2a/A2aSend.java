package dev.millrace.gateway.rest.a2a;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.api.Task;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.turns.TurnInputs;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * What a client of A2A wants of an agent.
 *
 * @param messageId the client's own id
 * @param contextId the session; {@code null} = one of its own
 * @param taskId the task that goes on; {@code null} = a new one, or whichever of the context asks something
 * @param text what the user says; blank = nothing
 * @param decisions what people decide about tool calls
 * @param waits whether the answer is to come once there is something to say
 */
record A2aSend(
        String messageId,
        @Nullable String contextId,
        @Nullable String taskId,
        String text,
        List<TurnInputs.Decision> decisions,
        boolean waits) {
    private static final int MAX_PARTS = 1_000;

    /** The body of {@code message:send} and {@code message:stream}, and the parameters of the methods. */
    @Schema(name = "A2aSendMessageRequest", description = "As A2A describes it; docs/a2a.md says what is passed over.")
    record Body(
            @Schema(hidden = true) @Nullable String tenant,

            @Schema(required = true) @Nullable Message message,

            @Nullable Configuration configuration) {}

    /** What is said. */
    @Schema(name = "A2aUserMessage")
    record Message(
            @Schema(required = true, description = "Your own id of it; the same one again does nothing twice.")
            @Nullable
            String messageId,

            @Schema(description = "The session.") @Nullable String contextId,

            @Schema(description = "The task that goes on.") @Nullable
            String taskId,

            @Schema(required = true, enumeration = "ROLE_USER") @Nullable
            String role,

            @Schema(required = true, implementation = Object[].class, description = "Words (text) and data.") @Nullable
            List<@Nullable JsonNode> parts) {}

    /** How the client wants to be answered. */
    @Schema(name = "A2aSendConfiguration")
    record Configuration(
            @Nullable List<@Nullable String> acceptedOutputModes,

            @Schema(description = "Whether not to wait until there is something to say.") @Nullable
            Boolean returnImmediately,

            @Schema(implementation = Object.class) @Nullable JsonNode taskPushNotificationConfig) {}

    /**
     * Reads it.
     *
     * @throws A2aFault if it is not as it has to be, naming what
     */
    static A2aSend of(ObjectNode json) {
        Body body;
        try {
            body = BodyReader.readLeniently(json, Body.class);
        } catch (JsonMappingException e) {
            throw A2aFault.params(where(e), "what A2A's SendMessageRequest has", "something else");
        } catch (JsonProcessingException e) {
            throw A2aFault.params("body", "what A2A's SendMessageRequest has", "something else");
        }
        requireNoTenant(body.tenant());
        Message message = body.message();
        if (message == null) {
            throw A2aFault.params("message", "an object", "none");
        }
        if (!"ROLE_USER".equals(message.role())) {
            throw A2aFault.params("message.role", "ROLE_USER", String.valueOf(message.role()));
        }
        String messageId = id("message.messageId", message.messageId());
        if (messageId == null) {
            throw A2aFault.params("message.messageId", "an id of the client's own", "none");
        }
        Configuration configuration = body.configuration();
        if (configuration != null) {
            requireText(configuration.acceptedOutputModes());
            if (configuration.taskPushNotificationConfig() != null) {
                throw A2aRequest.noPush();
            }
        }
        Parts parts = Parts.of(message.parts());
        return new A2aSend(
                messageId,
                id("message.contextId", message.contextId()),
                id("message.taskId", message.taskId()),
                parts.text(),
                parts.decisions(),
                configuration == null || !Boolean.TRUE.equals(configuration.returnImmediately()));
    }

    private static String where(JsonMappingException e) {
        return e.getPath().isEmpty()
                ? "body"
                : String.valueOf(e.getPath().getLast().getFieldName());
    }

    /** Refuses what names a tenant in the protocol's way: one that is passed over would be somebody else's. */
    static void requireNoTenant(@Nullable String tenant) {
        if (Parameters.given(tenant) != null) {
            throw A2aFault.params("tenant", "none, since the header X-Namespace names it", "one");
        }
    }

    private static @Nullable String id(String field, @Nullable String given) {
        if (given != null && given.length() > Ids.MAX_LENGTH) {
            throw A2aFault.params(field, "at most " + Ids.MAX_LENGTH + " characters", "" + given.length());
        }
        return Parameters.given(given);
    }

    private static void requireText(@Nullable List<@Nullable String> modes) {
        if (modes != null && !modes.isEmpty() && modes.stream().noneMatch(A2aSend::isText)) {
            throw new A2aFault(
                    A2aFault.Reason.CONTENT_TYPE_NOT_SUPPORTED,
                    "acceptedOutputModes: expected " + A2aCard.TEXT + " among them, found others only");
        }
    }

    private static boolean isText(@Nullable String mode) {
        return mode != null && (mode.equals("text") || mode.equals("*/*") || mode.startsWith("text/"));
    }

    /** What the user says to an agent. */
    private record Parts(String text, List<TurnInputs.Decision> decisions) {

        static Parts of(@Nullable List<@Nullable JsonNode> given) {
            List<@Nullable JsonNode> parts = new ArrayList<>();
            if (given != null) {
                parts.addAll(given);
            }
            if (parts.size() > MAX_PARTS) {
                throw A2aFault.params("message.parts", "at most " + MAX_PARTS, "" + parts.size());
            }
            List<String> words = new ArrayList<>();
            List<TurnInputs.Decision> decisions = new ArrayList<>();
            for (JsonNode part : parts) {
                JsonNode text = part == null ? null : part.get("text");
                JsonNode data = part == null ? null : part.get("data");
                if (text != null && text.isTextual()) {
                    words.add(text.textValue());
                } else if (data == null) {
                    throw new A2aFault(
                            A2aFault.Reason.CONTENT_TYPE_NOT_SUPPORTED,
                            "message.parts: expected parts with text or data, found another one");
                } else if (data.path("callId").isTextual()
                        && data.path("approve").isBoolean()) {
                    decisions.add(new TurnInputs.Decision(
                            data.path("callId").textValue(),
                            data.path("approve").booleanValue(),
                            Parameters.given(data.path("reason").textValue())));
                } else {
                    words.add(Json.writeText(data));
                }
            }
            String text = String.join("\n", words);
            boolean says = !text.isBlank();
            if (text.length() > Task.Request.MAX_TEXT || (!says && decisions.isEmpty())) {
                throw A2aFault.params(
                        "message.parts", "1 to " + Task.Request.MAX_TEXT + " characters", "" + text.length());
            }
            if (says && !decisions.isEmpty()) {
                throw A2aFault.params("message.parts", "either words or decisions about tool calls", "both");
            }
            return new Parts(text, decisions);
        }
    }
}
