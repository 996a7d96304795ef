package dev.millrace.agent.topology;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.schemas.JsonText;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** What a task did between its input and its answer, in words and within bounds: for whoever reflects on it. */
final class TaskStory {

    /** Of all of it; of more, the newest is told. */
    static final int MAX_CHARS = 15_000;

    /** Of one line of it. */
    static final int MAX_LINE_CHARS = 1_000;

    private TaskStory() {}

    /**
     * Tells it.
     *
     * @param from position in the transcript of the first entry
     * @param to of the first one that does not come along
     * @return {@code null} = there is nothing to tell
     */
    static @Nullable String of(int from, int to, IntFunction<@Nullable TranscriptEntry> entries) {
        Deque<String> lines = new ArrayDeque<>();
        int chars = 0;
        int left = Math.max(from, to);
        while (left > from) {
            TranscriptEntry entry = entries.apply(left - 1);
            String told = entry == null ? "" : told(entry);
            if (chars + told.length() > MAX_CHARS) {
                break;
            }
            chars += told.length();
            lines.addFirst(told);
            left--;
        }
        if (left > from) {
            lines.addFirst("… (" + (left - from) + " entries before these are left out)\n");
        }
        return lines.isEmpty() ? null : String.join("", lines).strip();
    }

    private static String told(TranscriptEntry entry) {
        return switch (entry) {
            case TranscriptEntry.UserText said -> line("User: " + said.text());
            case TranscriptEntry.Summary summary -> line("Before that, in short: " + summary.text());
            case TranscriptEntry.ToolResult result ->
                line(result.toolName() + (result.isError() ? " failed: " : ": ") + result.content());
            case TranscriptEntry.AssistantTurn turn -> {
                StringBuilder told = new StringBuilder();
                if (turn.text() != null) {
                    told.append(line("Assistant: " + turn.text()));
                }
                for (TranscriptEntry.Call call : turn.toolCalls()) {
                    if (told.length() < MAX_CHARS / 2) {
                        told.append(line("Assistant calls " + call.toolName() + ' ' + call.arguments()));
                    }
                }
                yield told.toString();
            }
        };
    }

    private static String line(String text) {
        return JsonText.cut(text, MAX_LINE_CHARS) + '\n';
    }
}
