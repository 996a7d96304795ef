package dev.millrace.llm.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ChatMessage.SystemMessage;
import dev.millrace.llm.ChatMessage.ToolMessage;
import dev.millrace.llm.ChatMessage.UserMessage;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ToolCallRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Our messages, tools and replies in LangChain4j's words, and back. */
final class Messages {

    private static final TypeReference<Map<String, @Nullable Object>> OBJECT = new TypeReference<>() {};

    private Messages() {}

    static List<dev.langchain4j.data.message.ChatMessage> toLangChain(List<ChatMessage> messages) {
        List<dev.langchain4j.data.message.ChatMessage> converted = new ArrayList<>();
        for (ChatMessage message : messages) {
            converted.add(
                    switch (message) {
                        case SystemMessage(String text) ->
                            dev.langchain4j.data.message.SystemMessage.from(notBlank(text));
                        case UserMessage user -> toLangChain(user);
                        case AssistantMessage assistant -> toLangChain(assistant);
                        case ToolMessage result ->
                            ToolExecutionResultMessage.builder()
                                    .id(result.toolCallId())
                                    .toolName(result.toolName())
                                    .text(notBlank(result.content()))
                                    .isError(result.isError())
                                    .build();
                    });
        }
        return converted;
    }

    private static dev.langchain4j.data.message.UserMessage toLangChain(UserMessage message) {
        if (message.images().isEmpty()) {
            return dev.langchain4j.data.message.UserMessage.from(notBlank(message.text()));
        }
        List<Content> contents = new ArrayList<>();
        if (!message.text().isBlank()) {
            contents.add(TextContent.from(message.text()));
        }
        message.images().forEach(image -> contents.add(ImageContent.from(image.base64(), image.mediaType())));
        return dev.langchain4j.data.message.UserMessage.from(contents);
    }

    private static AiMessage toLangChain(AssistantMessage message) {
        return AiMessage.builder()
                .text(message.text() == null && message.toolCalls().isEmpty() ? notBlank("") : message.text())
                .toolExecutionRequests(message.toolCalls().stream()
                        .map(call -> ToolExecutionRequest.builder()
                                .id(call.toolCallId())
                                .name(call.toolName())
                                // what was malformed stays out: servers that render arguments into a prompt choke on it
                                .arguments(write(call.arguments()))
                                .build())
                        .toList())
                .build();
    }

    /** LangChain4j and some providers refuse blank texts. */
    private static String notBlank(String text) {
        return text.isBlank() ? "(empty)" : text;
    }

    /** The reply without its counts. */
    static ModelReply toReply(ModelRequest request, String model, ChatResponse response) {
        AiMessage message = response.aiMessage();
        List<ToolCallRequest> calls = new ArrayList<>();
        for (ToolExecutionRequest call : message.toolExecutionRequests()) {
            calls.add(toCall(request.callId(), calls.size(), call));
        }
        return new ModelReply(
                message.text(),
                message.thinking(),
                calls,
                finishReason(response.finishReason(), !calls.isEmpty()),
                Usage.NONE,
                model);
    }

    private static ToolCallRequest toCall(String callId, int ordinal, ToolExecutionRequest call) {
        String id = call.id() == null || call.id().isBlank() ? ToolCallRequest.derivedId(callId, ordinal) : call.id();
        String name = call.name() == null ? "" : call.name();
        String arguments = call.arguments();
        if (arguments == null || arguments.isBlank()) {
            return new ToolCallRequest(id, name, Map.of()); // how some servers say "no arguments"
        }
        try {
            Map<String, @Nullable Object> parsed = WireJson.MAPPER.readValue(arguments, OBJECT);
            if (parsed != null) {
                return new ToolCallRequest(id, name, parsed);
            }
        } catch (JsonProcessingException e) {
            // falls through: the model is told, and corrects itself
        }
        return new ToolCallRequest(id, name, Map.of(), arguments);
    }

    private static FinishReason finishReason(
            dev.langchain4j.model.output.@Nullable FinishReason reason, boolean calledTools) {
        FinishReason converted =
                switch (reason) {
                    case STOP -> FinishReason.STOP;
                    case TOOL_EXECUTION -> FinishReason.TOOL_CALLS;
                    case LENGTH -> FinishReason.LENGTH;
                    case CONTENT_FILTER -> FinishReason.CONTENT_FILTER;
                    case OTHER -> FinishReason.OTHER;
                    case null -> FinishReason.OTHER;
                };
        // some servers say "stop" beside tool calls
        boolean vague = converted == FinishReason.STOP || converted == FinishReason.OTHER;
        return calledTools && vague ? FinishReason.TOOL_CALLS : converted;
    }

    private static String write(Map<String, @Nullable Object> arguments) {
        try {
            return WireJson.MAPPER.writeValueAsString(arguments);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("tool arguments: expected JSON values", e);
        }
    }
}
