package dev.millrace.llm.scripted;

import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ChatMessage.SystemMessage;
import dev.millrace.llm.ChatMessage.ToolMessage;
import dev.millrace.llm.ChatMessage.UserMessage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ToolSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a script sees of a request: the latest thing that the user said, and what has happened since.
 *
 * @param system the system message; empty if there is none
 * @param user the latest user message; empty if there is none
 * @param results tool results since that message, oldest first
 * @param rounds how many times the model has called tools since that message
 * @param offered names of the tools that may be called
 * @param fingerprint of the whole request; null if no rule asks for it
 */
record Turn(
        String callId,
        String system,
        String user,
        List<ToolMessage> results,
        int rounds,
        List<String> offered,
        @Nullable String fingerprint) {

    /** How the runtime starts the user message that lists the memory files: nobody said that. */
    private static final String MEMORY_INDEX = "[Available memory]";
    /** How the runtime starts the user message with passages of documents. */
    private static final String PASSAGES = "[Known passages]";

    static Turn of(ModelRequest request, boolean withFingerprint) {
        String system = "";
        String user = "";
        List<ToolMessage> results = new ArrayList<>();
        int rounds = 0;
        for (ChatMessage message : request.messages()) {
            switch (message) {
                case SystemMessage(String text) -> system = text;
                case UserMessage said
                when said.text().startsWith(MEMORY_INDEX) || said.text().startsWith(PASSAGES) -> {}
                case UserMessage said -> {
                    user = said.text();
                    results.clear();
                    rounds = 0;
                }
                case AssistantMessage assistant ->
                    rounds += assistant.toolCalls().isEmpty() ? 0 : 1;
                case ToolMessage result -> results.add(result);
            }
        }
        return new Turn(
                request.callId(),
                system,
                user,
                List.copyOf(results),
                rounds,
                request.tools().stream().map(ToolSpec::name).toList(),
                withFingerprint ? Fingerprint.of(request) : null);
    }

    List<String> resultTools() {
        return results.stream().map(ToolMessage::toolName).toList();
    }

    /** Whether the latest result is an error. */
    boolean failed() {
        return !results.isEmpty() && results.getLast().isError();
    }

    /** Whether the latest result of this tool is an error; false if there is none. */
    boolean failed(String tool) {
        return results.reversed().stream()
                .filter(result -> result.toolName().equals(tool))
                .findFirst()
                .map(ToolMessage::isError)
                .orElse(false);
    }
}
