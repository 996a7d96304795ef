package dev.millrace.gateway.rest.agui;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Task;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Payload;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * What a client of AG-UI wants of an agent.
 *
 * @param threadId the session
 * @param runId the client's own id of this run
 * @param messages the thread as the client has it
 * @param resume what people say to the interrupts of the run before; empty = there were none
 */
record AguiRequest(String threadId, String runId, List<JsonNode> messages, List<Answer> resume) {
    /** How many messages a thread may have. */
    static final int MAX_MESSAGES = 1_000;

    private static final int MAX_INTERRUPTS = 100;

    private static final Set<String> INSTRUCTIONS = Set.of("system", "developer");
    private static final Set<String> SPEAKERS = Set.of("system", "user", "assistant");

    /** The body of {@code POST /v1/agui/{agent}}. */
    @Schema(name = "RunAgentInput", description = "As AG-UI describes it; docs/agui.md says what is passed over.")
    record Body(
            @Schema(required = true, description = "The session.") @Nullable
            String threadId,

            @Schema(required = true, description = "Your own id of the run; the same one again tells the same run.")
            @Nullable
            String runId,

            @Schema(
                    required = true,
                    implementation = Object[].class,
                    description = "The thread; the last one is the user's.")
            @Nullable
            List<@Nullable JsonNode> messages,

            @Schema(description = "What people say to the interrupts of the run before.") @Nullable
            List<@Nullable Answer> resume,

            @Schema(hidden = true) @Nullable JsonNode tools) {}

    /** What somebody says to an interrupt. */
    @Schema(name = "ResumeEntry")
    record Answer(
            @Nullable String interruptId,

            @Schema(enumeration = {"resolved", "cancelled"}) @Nullable
            String status,

            @Schema(implementation = Object.class) @Nullable JsonNode payload) {}

    /**
     * Reads the body.
     *
     * @throws ProblemException if a field is not as it has to be, naming it
     */
    static AguiRequest of(byte[] json) {
        Body body;
        try {
            body = BodyReader.readLeniently(BodyReader.object(json), Body.class);
        } catch (JsonProcessingException e) {
            throw ProblemException.badField("body", "what AG-UI's RunAgentInput has", "something else");
        }
        if (body.tools() != null && body.tools().isArray() && !body.tools().isEmpty()) {
            throw ProblemException.badField(
                    "tools", "none, since an agent calls its own tools and not those of a page", List.of());
        }
        List<JsonNode> messages = new ArrayList<>();
        if (body.messages() != null) {
            for (JsonNode one : body.messages()) {
                if (one == null || !one.isObject()) {
                    throw ProblemException.badField("messages", "a list of objects", one == null ? null : "something");
                }
                messages.add(one);
            }
        }
        if (messages.size() > MAX_MESSAGES) {
            throw ProblemException.badField("messages", "at most " + MAX_MESSAGES, messages.size());
        }
        List<Answer> resume = new ArrayList<>();
        if (body.resume() != null) {
            for (Answer one : body.resume()) {
                if (one == null
                        || one.interruptId() == null
                        || one.interruptId().isBlank()
                        || one.status() == null) {
                    throw ProblemException.badField("resume", "a list of interruptId, status and payload", null);
                }
                resume.add(one);
            }
        }
        if (resume.size() > MAX_INTERRUPTS) {
            throw ProblemException.badField("resume", "at most " + MAX_INTERRUPTS, resume.size());
        }
        return new AguiRequest(
                required("threadId", body.threadId()), required("runId", body.runId()), messages, resume);
    }

    private static String required(String field, @Nullable String value) {
        if (value == null || value.isBlank() || value.length() > Ids.MAX_LENGTH) {
            throw ProblemException.badField(field, "a text of 1 to " + Ids.MAX_LENGTH + " characters", value);
        }
        return value;
    }

    /** What the user says now. */
    String text() {
        JsonNode last = messages.isEmpty() ? null : messages.getLast();
        String text = last != null && "user".equals(last.path("role").textValue()) ? words(last) : "";
        if (text.isBlank() || text.length() > Task.Request.MAX_TEXT) {
            throw ProblemException.badField(
                    "messages",
                    "words of the user at the end, 1 to " + Task.Request.MAX_TEXT + " characters",
                    text.isBlank() ? null : text.length());
        }
        return text;
    }

    /** What was said before. */
    List<Payload.Message> history() {
        List<Payload.Message> history = new ArrayList<>();
        for (JsonNode one : messages.subList(0, messages.size() - 1)) {
            String role = String.valueOf(one.path("role").textValue());
            String speaker = INSTRUCTIONS.contains(role) ? "system" : role;
            String words = words(one);
            if (SPEAKERS.contains(speaker) && !words.isBlank()) {
                history.add(new Payload.Message(speaker, words, List.of()));
            }
        }
        return history;
    }

    private static String words(JsonNode message) {
        JsonNode content = message.path("content");
        if (content.isTextual()) {
            return content.textValue();
        }
        StringBuilder words = new StringBuilder();
        for (JsonNode part : content) {
            if ("text".equals(part.path("type").textValue())) {
                words.append(words.isEmpty() ? "" : "\n")
                        .append(part.path("text").asText());
            }
        }
        return words.toString();
    }
}
