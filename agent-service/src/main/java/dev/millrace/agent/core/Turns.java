package dev.millrace.agent.core;

import dev.millrace.agent.core.TaskState.Question;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What goes into the transcript. Models demand that each tool call of theirs is answered before anything else is said,
 * so a call that is not carried out gets a result as well, which says why.
 */
final class Turns {

    private static final String INTERRUPTED = "interrupted by the user";
    private static final String ASKED_FIRST = "not run, because the user was asked a question first";

    private Turns() {}

    static AssistantTurn ofModel(TaskState.KeptReply reply) {
        return new AssistantTurn(reply.text(), asTranscript(reply.calls()), reply.continuation());
    }

    static List<TranscriptEntry.Call> asTranscript(List<ToolCall> calls) {
        return calls.stream()
                .map(call -> new TranscriptEntry.Call(call.toolCallId(), call.toolName(), call.arguments()))
                .toList();
    }

    /** The result of a tool. */
    static ToolResult result(Plan.CallStep step, TaskEvent.ToolReturned returned) {
        String content = returned.isError() ? "Error: " + returned.content() : returned.content();
        String edited = step.standing() instanceof Plan.Requested requested ? requested.editedArguments() : null;
        // the model has asked for something else and must not take this for the answer to that
        String note = edited == null ? "" : "Note: a person changed the arguments of this call to " + edited + "\n";
        return new ToolResult(step.toolCallId(), step.toolName(), note + content, returned.isError());
    }

    /** Results of calls that people have interrupted, and what they said instead. */
    static List<TranscriptEntry> interruption(Plan plan, List<String> said) {
        List<TranscriptEntry> entries = new ArrayList<>();
        plan.openCalls().forEach(step -> entries.add(notRun(step.toolCallId(), step.toolName(), INTERRUPTED)));
        said.forEach(text -> entries.add(new UserText(text)));
        return entries;
    }

    /** A reply whose calls are not run any more, and what people said instead. */
    static List<TranscriptEntry> interruption(TaskState.@Nullable KeptReply kept, List<String> said) {
        List<TranscriptEntry> entries = new ArrayList<>();
        if (kept != null) {
            entries.add(ofModel(kept));
            kept.calls().forEach(call -> entries.add(notRun(call.toolCallId(), call.toolName(), INTERRUPTED)));
        }
        said.forEach(text -> entries.add(new UserText(text)));
        return entries;
    }

    /** The answer to a question, and what else people said. */
    static List<TranscriptEntry> answer(Question question, List<String> said) {
        List<TranscriptEntry> entries = new ArrayList<>();
        String toolCallId = question.toolCallId();
        if (toolCallId != null) {
            entries.add(new ToolResult(toolCallId, "ask_user", said.getFirst(), false));
        }
        question.otherCalls().forEach(call -> entries.add(notRun(call.toolCallId(), call.toolName(), ASKED_FIRST)));
        said.subList(toolCallId == null ? 0 : 1, said.size()).forEach(text -> entries.add(new UserText(text)));
        return entries;
    }

    /** What background children that have ended came to. */
    static List<TranscriptEntry> news(TaskContext context) {
        return context.children().news().stream()
                .<TranscriptEntry>map(UserText::new)
                .toList();
    }

    /** These effects, and the news after them. */
    static List<Effect> news(TaskContext context, List<Effect> earlier) {
        List<Effect> effects = new ArrayList<>(earlier);
        effects.add(new Effect.Append(context.transcriptLength(), news(context)));
        return effects;
    }

    private static ToolResult notRun(String toolCallId, String toolName, String reason) {
        return new ToolResult(toolCallId, toolName, "{\"cancelled\":true,\"reason\":\"" + reason + "\"}", true);
    }
}
