package dev.millrace.llm.scripted;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ChatMessage.SystemMessage;
import dev.millrace.llm.ChatMessage.ToolMessage;
import dev.millrace.llm.ChatMessage.UserMessage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ToolSpec;
import dev.millrace.schemas.Ids;
import java.util.ArrayList;
import java.util.List;

/**
 * What makes two requests the same one for a recording: what was said, called and returned, and which tools there are.
 * Ids do not count, since they are drawn anew in each run.
 */
final class Fingerprint {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    private Fingerprint() {}

    /** 32 lower-case hex characters. */
    static String of(ModelRequest request) {
        List<Object> parts = new ArrayList<>();
        for (ChatMessage message : request.messages()) {
            parts.add(
                    switch (message) {
                        case SystemMessage(String text) -> List.of("system", text);
                        case UserMessage user -> List.of("user", user.text(), user.images());
                        case AssistantMessage assistant ->
                            List.of(
                                    "assistant",
                                    assistant.text() == null ? "" : assistant.text(),
                                    assistant.toolCalls().stream()
                                            .map(call -> List.of(call.toolName(), call.arguments()))
                                            .toList());
                        case ToolMessage result -> List.of("tool", result.toolName(), result.content());
                    });
        }
        parts.add(request.tools().stream().map(ToolSpec::name).sorted().toList());
        try {
            return Ids.hash(JSON.writeValueAsString(parts)).substring(0, 32);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("a request: expected JSON values", e);
        }
    }
}
