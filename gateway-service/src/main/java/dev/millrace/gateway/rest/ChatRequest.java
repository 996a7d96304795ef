package dev.millrace.gateway.rest;

import dev.millrace.api.Task;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The body of {@code POST /v1/chat/completions}. What changes the meaning of an answer and cannot be had is refused;
 * what only tunes a model is passed over, since an agent brings its own settings.
 *
 * @param model the agent
 * @param stream whether the answer is to come in pieces
 * @param includeUsage whether a stream ends with what was used
 * @param user the client's own id of its user; {@code null} = none
 * @param payload of the event that starts the task
 */
record ChatRequest(
        String model,
        boolean stream,
        boolean includeUsage,
        @Nullable String user,
        Map<String, @Nullable Object> payload) {

    /** How many messages a request may have. */
    static final int MAX_MESSAGES = 1_000;

    /** Stands for the words of a message that has only pictures. */
    static final String NO_WORDS = "[image]";

    private static final Pattern DATA_URL = Pattern.compile("data:(image/[\\w.+-]+);base64,(.*)", Pattern.DOTALL);
    private static final Pattern BASE64 = Pattern.compile("[A-Za-z0-9+/]+={0,2}");
    private static final Set<String> INSTRUCTIONS = Set.of("system", "developer");

    /** What somebody said. */
    private record Said(String text, List<Map<String, Object>> images) {}

    /**
     * Reads the fields.
     *
     * @throws ChatException if one is not as it has to be, naming it
     */
    static ChatRequest of(Map<String, @Nullable Object> body) {
        refuseWhatCannotBeHad(body);
        String model = text(body, "model");
        if (model == null) {
            throw ChatException.invalid(
                    "missing_required_parameter", "model", "expected the name of an agent, found none");
        }
        boolean stream = flag(body, "stream");
        Object options = body.get("stream_options");
        if (options != null && !(options instanceof Map<?, ?>)) {
            throw ChatException.invalid("invalid_type", "stream_options", "expected an object, found something else");
        }
        if (options != null && !stream) {
            throw ChatException.invalid(
                    "invalid_value", "stream_options", "expected stream to be true, found that it is not");
        }
        boolean includeUsage = options instanceof Map<?, ?> object && Boolean.TRUE.equals(object.get("include_usage"));
        Map<String, @Nullable Object> payload = conversation(body.get("messages"));
        payload.put("taskType", model);
        Object metadata = body.get("metadata");
        if (metadata instanceof Map<?, ?>) {
            payload.put("metadata", metadata);
        } else if (metadata != null) {
            throw ChatException.invalid("invalid_type", "metadata", "expected an object, found something else");
        }
        return new ChatRequest(model, stream, includeUsage, text(body, "user"), payload);
    }

    /** The event that starts the task; it has a taskType and a text, and what was said before. */
    Event event(Origin origin, Instant now) {
        try {
            return Event.root(Ids.random(), KnownEventType.MESSAGE_RECEIVED, now)
                    .source("user")
                    .sessionId(origin.sessionId() == null ? user : origin.sessionId())
                    .namespace(origin.namespace())
                    .traceparent(origin.traceparent())
                    .tracestate(origin.tracestate())
                    .payload(payload)
                    .build();
        } catch (IllegalArgumentException e) {
            throw ChatException.refused(400, "invalid_value", String.valueOf(e.getMessage()));
        }
    }

    /** What the headers say about where a request comes from. */
    record Origin(
            @Nullable String sessionId,
            String namespace,
            @Nullable String traceparent,
            @Nullable String tracestate) {}

    private static void refuseWhatCannotBeHad(Map<String, @Nullable Object> body) {
        for (String tools : List.of("tools", "functions")) {
            if (body.get(tools) instanceof List<?> list && !list.isEmpty()) {
                throw ChatException.unsupported(
                        tools,
                        "expected none, since an agent calls its own tools and cannot call those of its client; give the"
                                + " agent a tool server (docs/tools.md) instead");
            }
        }
        if (body.get("n") instanceof Number n && n.intValue() != 1) {
            throw ChatException.unsupported("n", "expected 1, since a task has one answer, found " + n);
        }
        if (body.get("response_format") instanceof Map<?, ?> format && !"text".equals(format.get("type"))) {
            throw ChatException.unsupported("response_format", "expected the type text, found " + format.get("type"));
        }
        if (Boolean.TRUE.equals(body.get("logprobs"))) {
            throw ChatException.unsupported("logprobs", "expected false, since an agent has none");
        }
        if (body.get("modalities") instanceof List<?> modalities && !modalities.equals(List.of("text"))) {
            throw ChatException.unsupported("modalities", "expected [\"text\"], found " + modalities);
        }
        if (body.get("audio") != null) {
            throw ChatException.unsupported("audio", "expected none, since an agent answers in text");
        }
    }

    private static Map<String, @Nullable Object> conversation(@Nullable Object value) {
        if (!(value instanceof List<?> messages) || messages.isEmpty()) {
            throw ChatException.invalid(
                    "missing_required_parameter", "messages", "expected a list of messages, found none");
        }
        if (messages.size() > MAX_MESSAGES) {
            throw ChatException.invalid(
                    "array_above_max_length",
                    "messages",
                    "expected at most " + MAX_MESSAGES + ", found " + messages.size());
        }
        List<Map<String, Object>> history = new ArrayList<>();
        for (int i = 0; i < messages.size() - 1; i++) {
            Map<String, Object> entry = entry(messages.get(i), "messages[" + i + "]");
            if (entry != null) {
                history.add(entry);
            }
        }
        int last = messages.size() - 1;
        String where = "messages[" + last + "]";
        Map<?, ?> question = message(messages.get(last), where);
        if (!"user".equals(question.get("role"))) {
            throw ChatException.invalid(
                    "invalid_value",
                    where + ".role",
                    "expected the last message to be the user's, found " + question.get("role"));
        }
        Said said = said(question.get("content"), where + ".content");
        if (said.text().isBlank() && said.images().isEmpty()) {
            throw ChatException.invalid(
                    "invalid_value", where + ".content", "expected words or an image, found neither");
        }
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("text", said.text().isBlank() ? NO_WORDS : said.text());
        if (!said.images().isEmpty()) {
            payload.put("images", said.images());
        }
        if (!history.isEmpty()) {
            payload.put("history", history);
        }
        return payload;
    }

    /** One message of the history; {@code null} if it says nothing. */
    private static @Nullable Map<String, Object> entry(@Nullable Object value, String where) {
        Map<?, ?> message = message(value, where);
        String role = String.valueOf(message.get("role"));
        if (message.get("tool_calls") instanceof List<?> calls && !calls.isEmpty()) {
            throw ChatException.unsupported(where + ".tool_calls", "expected none, since an agent calls its own tools");
        }
        String speaker =
                switch (role) {
                    case "user", "assistant" -> role;
                    case "tool", "function" ->
                        throw ChatException.unsupported(
                                where + ".role",
                                "expected no results of tools, since an agent calls its own, found " + role);
                    default -> {
                        if (INSTRUCTIONS.contains(role)) {
                            yield "system";
                        }
                        throw ChatException.invalid(
                                "invalid_value",
                                where + ".role",
                                "expected system, developer, user or assistant, found " + role);
                    }
                };
        Said said = message.get("content") == null && speaker.equals("assistant")
                ? new Said("", List.of())
                : said(message.get("content"), where + ".content");
        if (!said.images().isEmpty() && !speaker.equals("user")) {
            throw ChatException.unsupported(
                    where + ".content", "expected images from the user only, found one of " + role);
        }
        if (said.text().isBlank() && said.images().isEmpty()) {
            return null;
        }
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("role", speaker);
        entry.put("text", said.text().isBlank() ? NO_WORDS : said.text());
        if (!said.images().isEmpty()) {
            entry.put("images", said.images());
        }
        return entry;
    }

    private static Map<?, ?> message(@Nullable Object value, String where) {
        if (value instanceof Map<?, ?> message) {
            return message;
        }
        throw ChatException.invalid("invalid_type", where, "expected an object, found something else");
    }

    private static Said said(@Nullable Object content, String where) {
        StringBuilder text = new StringBuilder();
        List<Map<String, Object>> images = new ArrayList<>();
        if (content instanceof String words) {
            text.append(words);
        } else if (content instanceof List<?> parts) {
            for (int i = 0; i < parts.size(); i++) {
                part(message(parts.get(i), where + "[" + i + "]"), where + "[" + i + "]", text, images);
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

    private static void part(Map<?, ?> part, String where, StringBuilder text, List<Map<String, Object>> images) {
        String type = String.valueOf(part.get("type"));
        switch (type) {
            case "text", "refusal" -> {
                if (!(part.get(type) instanceof String words)) {
                    throw ChatException.invalid(
                            "invalid_type", where + "." + type, "expected a text, found something else");
                }
                text.append(text.isEmpty() ? "" : "\n").append(words);
            }
            case "image_url" -> images.add(image(part.get("image_url"), where + ".image_url"));
            default -> throw ChatException.unsupported(where + ".type", "expected text or image_url, found " + type);
        }
    }

    private static Map<String, Object> image(@Nullable Object value, String where) {
        String url = value instanceof Map<?, ?> object && object.get("url") instanceof String text ? text : "";
        Matcher data = DATA_URL.matcher(url);
        if (!data.matches() || !BASE64.matcher(data.group(2)).matches()) {
            throw ChatException.invalid(
                    "invalid_image_url",
                    where + ".url",
                    "expected the image itself as data:image/…;base64,…, since nobody here fetches URLs, found "
                            + (url.length() > 40 ? url.substring(0, 40) + "…" : url));
        }
        return Map.of("mediaType", data.group(1), "data", data.group(2));
    }

    private static @Nullable String text(Map<String, @Nullable Object> body, String field) {
        Object value = body.get(field);
        if (value == null || (value instanceof String text && text.isBlank())) {
            return null;
        }
        if (value instanceof String text && text.length() <= Ids.MAX_LENGTH) {
            return text;
        }
        throw ChatException.invalid(
                "invalid_type",
                field,
                "expected a text of 1 to " + Ids.MAX_LENGTH + " characters, found something else");
    }

    private static boolean flag(Map<String, @Nullable Object> body, String field) {
        Object value = body.get(field);
        if (value == null || value instanceof Boolean) {
            return Boolean.TRUE.equals(value);
        }
        throw ChatException.invalid("invalid_type", field, "expected true or false, found something else");
    }
}
