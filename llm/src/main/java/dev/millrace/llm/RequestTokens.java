package dev.millrace.llm;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a request will use, before anybody has counted it: four characters of a conversation are about one token, in the
 * languages and programs that models mostly read. Good for a reservation that is settled afterwards, and for nothing
 * else.
 */
final class RequestTokens {

    /** For a reply whose length nobody limits. */
    static final int USUAL_OUTPUT = 1024;

    private static final int CHARACTERS_PER_TOKEN = 4;
    /** Role and separators of a message, name and braces of a tool. */
    private static final int PER_PART = 4;
    /** What a picture costs at most providers, whatever its size in bytes. */
    private static final int PER_PICTURE = 1_100;

    private RequestTokens() {}

    /** Input and output together, 1 or more. */
    static long of(ModelRequest request) {
        Integer limit = request.maxOutputTokens();
        return input(request) + (limit == null ? USUAL_OUTPUT : limit);
    }

    private static long input(ModelRequest request) {
        long characters = 0;
        long parts = 0;
        long pictures = 0;
        for (ChatMessage message : request.messages()) {
            parts++;
            characters += switch (message) {
                case ChatMessage.SystemMessage system -> length(system.text());
                case ChatMessage.UserMessage user -> {
                    pictures += user.images().size();
                    yield length(user.text());
                }
                case ChatMessage.AssistantMessage assistant -> {
                    long calls = 0;
                    for (ToolCallRequest call : assistant.toolCalls()) {
                        calls += length(call.toolName()) + deep(call.arguments());
                    }
                    yield length(assistant.text()) + calls;
                }
                case ChatMessage.ToolMessage result -> length(result.content());
            };
        }
        for (ToolSpec tool : request.tools()) {
            parts++;
            characters += length(tool.name()) + length(tool.description()) + deep(tool.parameters());
        }
        return parts * PER_PART
                + pictures * PER_PICTURE
                + (characters + CHARACTERS_PER_TOKEN - 1) / CHARACTERS_PER_TOKEN;
    }

    private static long length(@Nullable String text) {
        return text == null ? 0 : text.length();
    }

    /** The characters of some JSON, about. */
    private static long deep(@Nullable Object json) {
        return switch (json) {
            case null -> 4;
            case String text -> text.length() + 2L;
            case Map<?, ?> object -> {
                long sum = 2;
                for (Map.Entry<?, ?> entry : object.entrySet()) {
                    sum += String.valueOf(entry.getKey()).length() + 4L + deep(entry.getValue());
                }
                yield sum;
            }
            case Iterable<?> array -> {
                long sum = 2;
                for (Object item : array) {
                    sum += deep(item) + 1;
                }
                yield sum;
            }
            default -> String.valueOf(json).length();
        };
    }
}
