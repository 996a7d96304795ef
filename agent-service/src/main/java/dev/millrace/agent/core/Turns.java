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

    /** What stands at the end of what a model could not say to its end, or in its place. */
    static final String CUT_OFF = "(interrupted)";

    /** What a person did, as the model and people read it afterwards. */
    static final String NOTICE = "[Session interrupted by user]";

    private Turns() {}

    /**
     * How the transcript of a task ends that is cancelled.
     *
     * @param entries empty = as it is
     * @param response the model's last words among them; {@code null} = it had spoken to its end, or nobody
     *     interrupted it
     * @param notice what is said of the person among them; {@code null} = nothing
     */
    record LastWords(
            List<TranscriptEntry> entries,
            @Nullable String response,
            @Nullable String notice) {}

    /**
     * Closes what is open. Where a person interrupted, the model's words are kept as far as they had come, and the
     * interruption is told; whoever had said all that it wanted says nothing more.
     */
    static LastWords lastWords(TaskState.Existing s, TaskEvent.@Nullable Interruption interruption) {
        List<TranscriptEntry> entries = new ArrayList<>(closing(s));
        if (interruption == null || s instanceof TaskState.Idle) {
            return new LastWords(entries, null, null);
        }
        String response = null;
        if (!hasSpoken(s, entries)) {
            String said = interruption.said();
            response = said == null || said.isBlank() ? CUT_OFF : said.stripTrailing() + "\n\n" + CUT_OFF;
            entries.add(new AssistantTurn(response, List.of()));
        }
        entries.add(new UserText(NOTICE));
        return new LastWords(entries, response, NOTICE);
    }

    /** Whether the last entry is a whole turn of the model, after which another one would be its double. */
    private static boolean hasSpoken(TaskState.Existing s, List<TranscriptEntry> closing) {
        if (!closing.isEmpty()) {
            return closing.getLast() instanceof AssistantTurn;
        }
        TaskState from = s instanceof TaskState.Suspended suspended ? suspended.from() : s;
        return (from instanceof TaskState.Acting acting && acting.plan().calls().isEmpty())
                || (s instanceof TaskState.Suspended suspended && suspended.question() != null);
    }

    private static List<TranscriptEntry> closing(TaskState.Existing s) {
        return switch (s) {
            case TaskState.Acting acting -> interruption(acting.plan(), List.of());
            case TaskState.Suspended suspended -> closing(suspended);
            case TaskState.Idle idle -> List.of();
            case TaskState.Asking asking -> List.of();
            case TaskState.Completed completed -> List.of();
            case TaskState.Ended ended -> List.of();
        };
    }

    private static List<TranscriptEntry> closing(TaskState.Suspended s) {
        List<String> said = s.next() == null ? List.of() : s.next().texts();
        Question question = s.question();
        if (question != null && said.isEmpty()) {
            List<TranscriptEntry> entries = new ArrayList<>();
            if (question.toolCallId() != null) {
                entries.add(notRun(question.toolCallId(), "ask_user", INTERRUPTED));
            }
            question.otherCalls().forEach(call -> entries.add(notRun(call.toolCallId(), call.toolName(), ASKED_FIRST)));
            return entries;
        }
        if (question != null) {
            return answer(question, said);
        }
        return s.from() instanceof TaskState.Acting acting
                ? interruption(acting.plan(), said)
                : interruption(s.kept(), said);
    }

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
