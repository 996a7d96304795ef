package dev.millrace.gateway.rest.chat;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import dev.millrace.api.Task;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * A request of an OpenAI client. What changes the meaning of an answer and cannot be had is refused; what only tunes a
 * model is passed over, since an agent brings its own settings.
 *
 * @param model the agent
 * @param stream whether the answer is to come in pieces
 * @param includeUsage whether a stream ends with what was used
 * @param user the client's own id of its user; {@code null} = none
 * @param message what starts the task
 */
record ChatRequest(
        String model,
        boolean stream,
        boolean includeUsage,
        @Nullable String user,
        Payload.MessageReceived message) {

    /** How many messages a request may have. */
    static final int MAX_MESSAGES = 1_000;

    /** Stands for the words of a message that has only pictures. */
    static final String NO_WORDS = "[image]";

    private static final Pattern DATA_URL = Pattern.compile("data:(image/[\\w.+-]+);base64,(.*)", Pattern.DOTALL);
    private static final Pattern BASE64 = Pattern.compile("[A-Za-z0-9+/]+={0,2}");
    private static final Set<String> INSTRUCTIONS = Set.of("system", "developer");

    /** The body of {@code POST /v1/chat/completions}. */
    @Schema(
            name = "ChatRequest",
            description = "As OpenAI describes it; docs/openai.md says what is refused and what is passed over.")
    record Body(
            @Schema(required = true, description = "The name of an agent.", examples = "general") @Nullable
            String model,

            @Schema(required = true, description = "The whole conversation; the last message is the user's.") @Nullable
            List<@Nullable Message> messages,

            @Schema(description = "Whether the answer comes in pieces.") @Nullable
            Boolean stream,

            @JsonProperty("stream_options")
            @Schema(description = "{\"include_usage\": true}: a stream ends with what was used.")
            @Nullable
            Map<String, @Nullable Object> streamOptions,

            @Schema(description = "The conversation, unless the header X-Session-Id names it.") @Nullable
            String user,

            @Schema(description = "Kept with the task.") @Nullable
            Map<String, @Nullable Object> metadata,

            @Schema(hidden = true) @Nullable JsonNode tools,
            @Schema(hidden = true) @Nullable JsonNode functions,
            @Schema(hidden = true) @Nullable JsonNode n,

            @JsonProperty("response_format") @Schema(hidden = true) @Nullable
            JsonNode responseFormat,

            @Schema(hidden = true) @Nullable JsonNode logprobs,
            @Schema(hidden = true) @Nullable JsonNode modalities,
            @Schema(hidden = true) @Nullable JsonNode audio) {}

    /** What somebody said, as it comes. */
    @Schema(name = "ChatMessage")
    record Message(
            @Schema(enumeration = {"system", "developer", "user", "assistant"}) @Nullable
            String role,

            @Schema(
                    implementation = Object.class,
                    description = "A text, or parts of the types text and image_url (data URLs only).")
            @Nullable
            JsonNode content,

            @JsonProperty("tool_calls") @Schema(hidden = true) @Nullable
            JsonNode toolCalls) {}

    /** A part of what somebody said. */
    private record Part(
            @Nullable String type,
            @Nullable String text,
            @Nullable String refusal,
            @JsonProperty("image_url") @Nullable ImageUrl imageUrl) {}

    private record ImageUrl(@Nullable String url) {}

    /** What somebody said. */
    private record Said(String text, List<Payload.Image> images) {

        boolean isNothing() {
            return text.isBlank() && images.isEmpty();
        }

        String words() {
            return text.isBlank() ? NO_WORDS : text;
        }
    }

    /** What the headers say about where a request comes from. */
    record Origin(
            @Nullable String sessionId,
            String namespace,
            @Nullable Instant expiry,
            @Nullable String traceparent,
            @Nullable String tracestate) {}

    /**
     * Reads the body.
     *
     * @throws ChatException if a field is not as it has to be, naming it
     */
    static ChatRequest of(byte[] json) {
        Body body;
        try {
            body = BodyReader.readLeniently(BodyReader.object(json), Body.class);
        } catch (JsonMappingException e) {
            throw mismatch("", e);
        } catch (JsonProcessingException e) {
            throw ChatException.refused(400, "bad_json", e.getOriginalMessage());
        }
        refuseWhatCannotBeHad(body);
        String model = text("model", body.model());
        if (model == null) {
            throw ChatException.invalid(
                    "missing_required_parameter", "model", "expected the name of an agent, found none");
        }
        boolean stream = Boolean.TRUE.equals(body.stream());
        boolean includeUsage = body.streamOptions() != null
                && Boolean.TRUE.equals(body.streamOptions().get("include_usage"));
        if (body.streamOptions() != null && !stream) {
            throw ChatException.invalid(
                    "invalid_value", "stream_options", "expected stream to be true, found that it is not");
        }
        return new ChatRequest(model, stream, includeUsage, text("user", body.user()), conversation(body, model));
    }

    /** A field is of another kind; the path of the exception goes on from this place. */
    private static ChatException mismatch(String where, JsonMappingException e) {
        String path = e.getPath().stream()
                .map(step -> step.getFieldName() == null ? "[" + step.getIndex() + "]" : "." + step.getFieldName())
                .collect(Collectors.joining());
        Class<?> wanted = e instanceof MismatchedInputException kind ? kind.getTargetType() : Object.class;
        return ChatException.invalid(
                "invalid_type",
                where.isEmpty() ? path.replaceFirst("^\\.", "") : where + path,
                "expected " + BodyReader.words(wanted) + ", found something else");
    }

    /** The event that starts the task; it has a taskType and a text, and what was said before. */
    Event event(Origin origin, Instant now) {
        try {
            return Event.root(Ids.random(), KnownEventType.MESSAGE_RECEIVED, now)
                    .source("user")
                    .sessionId(origin.sessionId() == null ? user : origin.sessionId())
                    .namespace(origin.namespace())
                    .expiry(origin.expiry())
                    .traceparent(origin.traceparent())
                    .tracestate(origin.tracestate())
                    .payload(message)
                    .build();
        } catch (IllegalArgumentException e) {
            throw ChatException.refused(400, "invalid_value", String.valueOf(e.getMessage()));
        }
    }

    private static void refuseWhatCannotBeHad(Body body) {
        refuseTools("tools", body.tools());
        refuseTools("functions", body.functions());
        JsonNode n = body.n();
        if (n != null && n.isNumber() && n.intValue() != 1) {
            throw ChatException.unsupported("n", "expected 1, since a task has one answer, found " + n);
        }
        JsonNode format = body.responseFormat();
        if (format != null
                && format.isObject()
                && !"text".equals(format.path("type").textValue())) {
            throw ChatException.unsupported(
                    "response_format",
                    "expected the type text, found " + format.path("type").asText());
        }
        if (body.logprobs() != null && body.logprobs().booleanValue()) {
            throw ChatException.unsupported("logprobs", "expected false, since an agent has none");
        }
        JsonNode modalities = body.modalities();
        if (modalities != null && modalities.isArray() && !modalities.toString().equals("[\"text\"]")) {
            throw ChatException.unsupported("modalities", "expected [\"text\"], found " + modalities);
        }
        if (body.audio() != null && !body.audio().isNull()) {
            throw ChatException.unsupported("audio", "expected none, since an agent answers in text");
        }
    }

    private static void refuseTools(String field, @Nullable JsonNode tools) {
        if (isSome(tools)) {
            throw ChatException.unsupported(
                    field,
                    "expected none, since an agent calls its own tools and cannot call those of its client; give the"
                            + " agent a tool server (docs/tools.md) instead");
        }
    }

    private static boolean isSome(@Nullable JsonNode list) {
        return list != null && list.isArray() && !list.isEmpty();
    }

    private static Payload.MessageReceived conversation(Body body, String model) {
        List<@Nullable Message> messages = body.messages();
        if (messages == null || messages.isEmpty()) {
            throw ChatException.invalid(
                    "missing_required_parameter", "messages", "expected a list of messages, found none");
        }
        if (messages.size() > MAX_MESSAGES) {
            throw ChatException.invalid(
                    "array_above_max_length",
                    "messages",
                    "expected at most " + MAX_MESSAGES + ", found " + messages.size());
        }
        List<Payload.Message> history = new ArrayList<>();
        int last = messages.size() - 1;
        for (int i = 0; i < last; i++) {
            String where = "messages[" + i + "]";
            Payload.Message entry = entry(present(messages.get(i), where), where);
            if (entry != null) {
                history.add(entry);
            }
        }
        String where = "messages[" + last + "]";
        Message question = present(messages.get(last), where);
        if (!"user".equals(question.role())) {
            throw ChatException.invalid(
                    "invalid_value",
                    where + ".role",
                    "expected the last message to be the user's, found " + question.role());
        }
        Said said = said(question.content(), where + ".content");
        if (said.isNothing()) {
            throw ChatException.invalid(
                    "invalid_value", where + ".content", "expected words or an image, found neither");
        }
        return new Payload.MessageReceived(
                said.words(),
                null,
                said.images(),
                history,
                model,
                ChatException.requireMetadata(body.metadata()),
                null,
                null,
                null);
    }

    private static Message present(@Nullable Message message, String where) {
        if (message == null) {
            throw ChatException.invalid("invalid_type", where, "expected an object, found something else");
        }
        return message;
    }

    /** One message of the history; {@code null} if it says nothing. */
    private static Payload.@Nullable Message entry(Message message, String where) {
        String role = String.valueOf(message.role());
        if (isSome(message.toolCalls())) {
            throw ChatException.unsupported(where + ".tool_calls", "expected none, since an agent calls its own tools");
        }
        if (role.equals("tool") || role.equals("function")) {
            throw ChatException.unsupported(
                    where + ".role", "expected no results of tools, since an agent calls its own, found " + role);
        }
        String speaker = INSTRUCTIONS.contains(role) ? "system" : role;
        if (!Set.of("system", "user", "assistant").contains(speaker)) {
            throw ChatException.invalid(
                    "invalid_value", where + ".role", "expected system, developer, user or assistant, found " + role);
        }
        JsonNode content = message.content();
        Said said = (content == null || content.isNull()) && speaker.equals("assistant")
                ? new Said("", List.of())
                : said(content, where + ".content");
        if (!said.images().isEmpty() && !speaker.equals("user")) {
            throw ChatException.unsupported(
                    where + ".content", "expected images from the user only, found one of " + role);
        }
        return said.isNothing() ? null : new Payload.Message(speaker, said.words(), said.images());
    }

    private static Said said(@Nullable JsonNode content, String where) {
        StringBuilder text = new StringBuilder();
        List<Payload.Image> images = new ArrayList<>();
        if (content != null && content.isTextual()) {
            text.append(content.textValue());
        } else if (content != null && content.isArray()) {
            for (int i = 0; i < content.size(); i++) {
                add(content.get(i), where + "[" + i + "]", text, images);
            }
        } else {
            throw ChatException.invalid(
                    "invalid_type", where, "expected a text or a list of parts, found something else");
        }
        if (text.length() > Task.Request.MAX_TEXT) {
            throw ChatException.invalid(
                    "string_above_max_length",
                    where,
                    "expected at most " + Task.Request.MAX_TEXT + " characters, found " + text.length());
        }
        return new Said(text.toString(), images);
    }

    private static void add(JsonNode value, String where, StringBuilder text, List<Payload.Image> images) {
        Part part;
        try {
            part = value.isObject() ? BodyReader.readLeniently(value, Part.class) : null;
        } catch (JsonMappingException e) {
            throw mismatch(where, e);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("it was JSON before", e);
        }
        if (part == null) {
            throw ChatException.invalid("invalid_type", where, "expected an object, found something else");
        }
        switch (String.valueOf(part.type())) {
            case "text", "refusal" -> {
                String words = "text".equals(part.type()) ? part.text() : part.refusal();
                if (words == null) {
                    throw ChatException.invalid(
                            "invalid_type", where + "." + part.type(), "expected a text, found something else");
                }
                text.append(text.isEmpty() ? "" : "\n").append(words);
            }
            case "image_url" -> images.add(image(part.imageUrl(), where + ".image_url"));
            case String other ->
                throw ChatException.unsupported(where + ".type", "expected text or image_url, found " + other);
        }
    }

    private static Payload.Image image(@Nullable ImageUrl image, String where) {
        String url = image == null || image.url() == null ? "" : image.url();
        Matcher data = DATA_URL.matcher(url);
        if (!data.matches() || !BASE64.matcher(data.group(2)).matches()) {
            throw ChatException.invalid(
                    "invalid_image_url",
                    where + ".url",
                    "expected the image itself as data:image/…;base64,…, since nobody here fetches URLs, found "
                            + (url.length() > 40 ? url.substring(0, 40) + "…" : url));
        }
        return new Payload.Image(data.group(1), data.group(2));
    }

    private static @Nullable String text(String field, @Nullable String value) {
        if (value != null && value.length() > Ids.MAX_LENGTH) {
            throw ChatException.invalid(
                    "invalid_type",
                    field,
                    "expected a text of 1 to " + Ids.MAX_LENGTH + " characters, found " + value.length());
        }
        return value == null || value.isBlank() ? null : value;
    }
}
