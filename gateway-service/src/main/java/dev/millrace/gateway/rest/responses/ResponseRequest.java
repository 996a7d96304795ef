package dev.millrace.gateway.rest.responses;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import dev.millrace.api.Task;
import dev.millrace.gateway.rest.chat.ChatException;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
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
 * A request for a response. What changes the meaning of an answer and cannot be had is refused; what only tunes a model
 * is passed over, since an agent brings its own settings.
 *
 * @param conversation the session; {@code null} = none is named
 * @param previous the name of the response that this one follows; {@code null} = none
 * @param instructions the client's; {@code null} = none
 */
record ResponseRequest(
        @Nullable String model,
        boolean stream,
        boolean background,
        @Nullable String conversation,
        @Nullable String previous,
        @Nullable String instructions,
        List<Input> input,
        JsonObject metadata) {

    /** How many items the input may have. */
    static final int MAX_ITEMS = 1_000;

    private static final Pattern DATA_URL = Pattern.compile("data:(image/[\\w.+-]+);base64,([A-Za-z0-9+/]+={0,2})");
    private static final Set<String> SYSTEM = Set.of("system", "developer");
    private static final Set<String> TEXTS = Set.of("input_text", "output_text", "text");
    /** What a client sends back of what it was given, and what everybody here knows by itself. */
    private static final Set<String> OURS = Set.of("mcp_call", "mcp_approval_request", "mcp_list_tools", "reasoning");

    /** Something that the client says. */
    sealed interface Input {
        /** Words and pictures; {@code role} is user, assistant or system. */
        record Words(String role, String text, List<Payload.Image> images, String where) implements Input {}

        /** What was said in another response, by the name of its item. */
        record Reference(String itemId) implements Input {}

        /** A decision about a tool call. */
        record Decision(
                String callId, boolean approve, @Nullable String reason) implements Input {}
    }

    /** The body of {@code POST /v1/responses}. */
    @Schema(
            name = "ResponseRequest",
            description = "As OpenAI describes it; docs/openai.md says what is refused and what is passed over.")
    record Body(
            @Schema(required = true, description = "The name of an agent.", examples = "general") @Nullable
            String model,

            @Schema(required = true, implementation = Object.class, description = "A text, or a list of items.")
            @Nullable
            JsonNode input,

            @Schema(description = "Shown to the agent as those of its client.") @Nullable
            String instructions,

            @Schema(description = "Whether the response comes in pieces.") @Nullable
            Boolean stream,

            @Schema(description = "Whether the task goes on without its client.") @Nullable
            Boolean background,

            @JsonProperty("previous_response_id") @Nullable String previousResponseId,

            @Schema(implementation = Object.class, description = "The session, as a text or {\"id\": …}.") @Nullable
            JsonNode conversation,

            @Schema(description = "Kept with the task.") @Nullable
            Map<String, @Nullable Object> metadata,

            @Schema(hidden = true) @Nullable JsonNode tools,
            @Schema(hidden = true) @Nullable JsonNode text,
            @Schema(hidden = true) @Nullable JsonNode prompt) {}

    /** An item of the input, as it comes. */
    private record Item(
            @Nullable String type,
            @Nullable String id,
            @Nullable String role,
            @Nullable JsonNode content,
            @JsonProperty("approval_request_id") @Nullable String approvalRequestId,
            @Nullable Boolean approve,
            @Nullable String reason) {}

    /** A part of a message, as it comes. */
    private record Piece(
            @Nullable String type,
            @Nullable String text,
            @Nullable String refusal,
            @JsonProperty("image_url") @Nullable String imageUrl) {}

    /**
     * Reads the body.
     *
     * @throws ChatException if a field is not as it has to be, naming it
     */
    static ResponseRequest of(byte[] json) {
        Body body;
        try {
            body = BodyReader.readLeniently(BodyReader.object(json), Body.class);
        } catch (JsonMappingException e) {
            throw mismatch("", e);
        } catch (JsonProcessingException e) {
            throw ChatException.refused(400, "bad_json", e.getOriginalMessage());
        }
        refuseWhatCannotBeHad(body);
        String conversation = name("conversation", conversation(body.conversation()));
        String previous = name("previous_response_id", body.previousResponseId());
        if (conversation != null && previous != null) {
            throw ChatException.invalid(
                    "invalid_value", "previous_response_id", "expected none, since there is a conversation");
        }
        return new ResponseRequest(
                name("model", body.model()),
                Boolean.TRUE.equals(body.stream()),
                Boolean.TRUE.equals(body.background()),
                conversation,
                previous,
                body.instructions() == null || body.instructions().isBlank()
                        ? null
                        : fitting(body.instructions(), "instructions"),
                input(body.input()),
                orNone(ChatException.requireMetadata(body.metadata())));
    }

    /** The same, or an empty one. */
    static JsonObject orNone(@Nullable JsonObject metadata) {
        return metadata == null ? JsonObject.empty() : metadata;
    }

    private static @Nullable String conversation(@Nullable JsonNode given) {
        if (given == null || given.isNull()) {
            return null;
        }
        JsonNode id = given.isObject() ? given.path("id") : given;
        if (!id.isTextual()) {
            throw ChatException.invalid(
                    "invalid_type", "conversation", "expected a text or an object with id, found something else");
        }
        return id.textValue();
    }

    private static @Nullable String name(String field, @Nullable String value) {
        if (value != null && value.length() > Ids.MAX_LENGTH) {
            throw ChatException.invalid(
                    "invalid_type",
                    field,
                    "expected a text of 1 to " + Ids.MAX_LENGTH + " characters, found " + value.length());
        }
        return value == null || value.isBlank() ? null : value;
    }

    private static void refuseWhatCannotBeHad(Body body) {
        if (body.tools() != null && body.tools().isArray() && !body.tools().isEmpty()) {
            throw ChatException.unsupported(
                    "tools",
                    "expected none, since an agent calls its own tools and cannot call those of its client; give the"
                            + " agent a tool server (docs/tools.md) instead");
        }
        JsonNode format =
                body.text() == null ? null : body.text().path("format").path("type");
        if (format != null && format.isTextual() && !format.textValue().equals("text")) {
            throw ChatException.unsupported("text.format", "expected the type text, found " + format.textValue());
        }
        if (body.prompt() != null && !body.prompt().isNull()) {
            throw ChatException.unsupported("prompt", "expected none, since an agent has its own");
        }
    }

    private static List<Input> input(@Nullable JsonNode given) {
        if (given != null && given.isTextual() && !given.textValue().isBlank()) {
            return List.of(new Input.Words("user", fitting(given.textValue(), "input"), List.of(), "input"));
        }
        if (given == null || !given.isArray() || given.isEmpty()) {
            throw ChatException.invalid(
                    "missing_required_parameter", "input", "expected a text or a list of items, found neither");
        }
        if (given.size() > MAX_ITEMS) {
            throw ChatException.invalid(
                    "array_above_max_length",
                    "input",
                    "expected at most " + MAX_ITEMS + " items, found " + given.size());
        }
        List<Input> input = new ArrayList<>();
        for (int i = 0; i < given.size(); i++) {
            String where = "input[" + i + "]";
            Input one = input(read(given.get(i), Item.class, where), where);
            if (one != null) {
                input.add(one);
            }
        }
        return input;
    }

    /** One item; {@code null} if nobody here needs it. */
    private static @Nullable Input input(Item item, String where) {
        String type = item.type() == null ? "message" : item.type();
        if (OURS.contains(type)) {
            return null;
        }
        return switch (type) {
            case "message" -> words(item, where);
            case "item_reference" -> {
                if (item.id() == null) {
                    throw ChatException.invalid(
                            "missing_required_parameter", where + ".id", "expected the id of an item, found none");
                }
                yield new Input.Reference(item.id());
            }
            case "mcp_approval_response" -> {
                if (item.approvalRequestId() == null || item.approve() == null) {
                    throw ChatException.invalid(
                            "missing_required_parameter",
                            where,
                            "expected approval_request_id and approve, found "
                                    + (item.approve() == null ? "no decision" : "no id"));
                }
                String reason = Parameters.given(item.reason());
                yield new Input.Decision(
                        item.approvalRequestId(),
                        item.approve(),
                        reason == null ? null : fitting(reason, where + ".reason"));
            }
            case "function_call", "function_call_output" ->
                throw ChatException.unsupported(
                        where + ".type", "expected no calls of functions, since an agent calls its own tools");
            default -> throw ChatException.unsupported(where + ".type", "expected message, found " + type);
        };
    }

    private static @Nullable Input words(Item item, String where) {
        String role = SYSTEM.contains(String.valueOf(item.role())) ? "system" : String.valueOf(item.role());
        if (!Set.of("system", "user", "assistant").contains(role)) {
            throw ChatException.invalid(
                    "invalid_value", where + ".role", "expected system, developer, user or assistant, found " + role);
        }
        StringBuilder text = new StringBuilder();
        List<Payload.Image> images = new ArrayList<>();
        JsonNode content = item.content();
        if (content != null && content.isTextual()) {
            text.append(content.textValue());
        } else if (content != null && content.isArray()) {
            for (int i = 0; i < content.size(); i++) {
                String place = where + ".content[" + i + "]";
                add(read(content.get(i), Piece.class, place), place, text, images);
            }
        } else {
            throw ChatException.invalid(
                    "invalid_type", where + ".content", "expected a text or a list of parts, found something else");
        }
        if (!images.isEmpty() && !role.equals("user")) {
            throw ChatException.unsupported(where + ".content", "expected images from the user only");
        }
        return text.toString().isBlank() && images.isEmpty()
                ? null
                : new Input.Words(role, fitting(text.toString(), where + ".content"), images, where);
    }

    private static void add(Piece piece, String where, StringBuilder text, List<Payload.Image> images) {
        String type = String.valueOf(piece.type());
        if (TEXTS.contains(type) || type.equals("refusal")) {
            String words = type.equals("refusal") ? piece.refusal() : piece.text();
            if (words == null) {
                throw ChatException.invalid("invalid_type", where + ".text", "expected a text, found something else");
            }
            text.append(text.isEmpty() ? "" : "\n").append(words);
        } else if (type.equals("input_image")) {
            Matcher data = DATA_URL.matcher(piece.imageUrl() == null ? "" : piece.imageUrl());
            if (!data.matches()) {
                throw ChatException.invalid(
                        "invalid_image_url",
                        where + ".image_url",
                        "expected the image itself as data:image/…;base64,…, since nobody here fetches URLs");
            }
            images.add(new Payload.Image(data.group(1), data.group(2)));
        } else {
            throw ChatException.unsupported(where + ".type", "expected input_text or input_image, found " + type);
        }
    }

    private static String fitting(String text, String where) {
        if (text.length() > Task.Request.MAX_TEXT) {
            throw ChatException.invalid(
                    "string_above_max_length",
                    where,
                    "expected at most " + Task.Request.MAX_TEXT + " characters, found " + text.length());
        }
        return text;
    }

    private static <T extends Record> T read(JsonNode json, Class<T> type, String where) {
        if (!json.isObject()) {
            throw ChatException.invalid("invalid_type", where, "expected an object, found something else");
        }
        try {
            return BodyReader.readLeniently(json, type);
        } catch (JsonMappingException e) {
            throw mismatch(where, e);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("it was JSON before", e);
        }
    }

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

    /** The decisions at the end of the input; those before it are of earlier turns. */
    List<Input.Decision> decisions() {
        List<Input.Decision> last = new ArrayList<>();
        for (Input one : input.reversed()) {
            if (!(one instanceof Input.Decision decision)) {
                break;
            }
            last.addFirst(decision);
        }
        return last;
    }

    /** What the user says now, at the end of the input. */
    Input.Words question() {
        if (!input.isEmpty()
                && input.getLast() instanceof Input.Words words
                && words.role().equals("user")) {
            return words;
        }
        throw ChatException.invalid(
                "invalid_value",
                "input",
                "expected words of the user at the end, or an mcp_approval_response, found neither");
    }
}
