package dev.millrace.agent.thinker;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Call;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes of a transcript what providers accept. The machine leaves no tool call without a result, but one transcript
 * that is broken for whatever reason must not break its task for ever: providers refuse all of it.
 */
final class Repair {

    private static final String CANCELLED = "{\"cancelled\":true,\"reason\":\"process restarted\"}";

    private Repair() {}

    /**
     * The same entries, with a result for each tool call that has none where its turn ends, and without results that
     * answer no call. Nothing is changed where nothing is broken.
     */
    static List<TranscriptEntry> closed(List<TranscriptEntry> transcript) {
        List<TranscriptEntry> closed = new ArrayList<>(transcript.size());
        Map<String, Call> open = new LinkedHashMap<>();
        for (TranscriptEntry entry : transcript) {
            if (entry instanceof ToolResult result) {
                if (open.remove(result.toolCallId()) != null) {
                    closed.add(result);
                }
                continue;
            }
            close(open, closed);
            closed.add(entry);
            if (entry instanceof AssistantTurn turn) {
                turn.toolCalls().forEach(call -> open.put(call.toolCallId(), call));
            }
        }
        close(open, closed);
        return closed;
    }

    private static void close(Map<String, Call> open, List<TranscriptEntry> closed) {
        open.values().forEach(call -> closed.add(new ToolResult(call.toolCallId(), call.toolName(), CANCELLED, true)));
        open.clear();
    }
}
