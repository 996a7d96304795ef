package dev.millrace.agent.core;

import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Call;
import dev.millrace.agent.core.TranscriptEntry.Summary;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the interfaces of language models demand of a conversation. */
final class Transcripts {

    private Transcripts() {}

    /**
     * Fails unless a model can be called with this: it starts with a person; each tool call is answered exactly once, under
     * its own name, before anything else is said; the model never speaks twice in a row and is not the last to speak.
     */
    static void requireCallable(List<TranscriptEntry> transcript) {
        require(
                !transcript.isEmpty()
                        && (transcript.getFirst() instanceof UserText || transcript.getFirst() instanceof Summary),
                "no input at the start",
                transcript);
        require(!(transcript.getLast() instanceof AssistantTurn), "the model has spoken last", transcript);
        Map<String, String> open = new HashMap<>();
        for (int i = 0; i < transcript.size(); i++) {
            switch (transcript.get(i)) {
                case Summary summary -> require(i == 0, "a summary in the middle", transcript);
                case UserText said -> require(open.isEmpty(), "unanswered before entry " + i + ": " + open, transcript);
                case AssistantTurn turn -> {
                    require(open.isEmpty(), "unanswered before entry " + i + ": " + open, transcript);
                    require(
                            i > 0 && !(transcript.get(i - 1) instanceof AssistantTurn),
                            "the model speaks twice at entry " + i,
                            transcript);
                    for (Call call : turn.toolCalls()) {
                        open.put(call.toolCallId(), call.toolName());
                    }
                }
                case ToolResult result ->
                    require(
                            result.toolName().equals(open.remove(result.toolCallId())),
                            "entry " + i + " answers a call that is not open under this name",
                            transcript);
            }
        }
        require(open.isEmpty(), "unanswered at the end: " + open, transcript);
    }

    private static void require(boolean condition, String violation, List<TranscriptEntry> transcript) {
        if (!condition) {
            throw new AssertionError(violation + " in " + transcript);
        }
    }
}
