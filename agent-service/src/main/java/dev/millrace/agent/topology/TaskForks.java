package dev.millrace.agent.topology;

import dev.millrace.agent.core.ContextWindow;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.topology.TaskReplay.Call;
import dev.millrace.agent.topology.TaskReplay.Played;
import dev.millrace.api.Fork;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Payload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Makes what starts a fork: the transcript of the origin as its model was shown it before some call, with what somebody
 * wants to be different. From there on the fork is a task like any other, and what it calls is really called.
 */
public final class TaskForks {

    private TaskForks() {}

    /** A task cannot be forked as somebody wants it. */
    public static final class ImpossibleForkException extends Exception {
        private static final long serialVersionUID = 1L;
        private final String code;

        ImpossibleForkException(String code, String message) {
            super(message);
            this.code = code;
        }

        /** A stable word, lower snake case. */
        public String code() {
            return code;
        }
    }

    /**
     * What starts the fork.
     *
     * @param origin the task, played again from its log
     * @param said what its session had said before it began, the oldest first; empty = nothing, or it has no session
     */
    public static Payload.MessageReceived of(Played origin, String taskId, Fork wanted, List<TranscriptEntry> said)
            throws ImpossibleForkException {
        String fromEvent = wanted.fromEvent() == null ? taskId : wanted.fromEvent();
        int at = position(origin.log(), taskId, fromEvent);
        Payload from = origin.log().get(at).event().payload();
        Call call = call(origin, at, bringsSomething(from))
                .orElseThrow(() -> new ImpossibleForkException(
                        "fork_impossible",
                        "expected an event with a model call to begin with, found that "
                                + (bringsSomething(from) ? "none follows on " : "there is none before or after ")
                                + fromEvent + "; take an earlier event"));
        List<TranscriptEntry> entries = new ArrayList<>(origin.transcript()
                .subList(0, Math.min(call.length(), origin.transcript().size())));
        if (wanted.result() != null || wanted.error() != null) {
            change(entries, origin, fromEvent, from, wanted);
        }
        return message(taskId, fromEvent, start(origin, taskId), wanted, shown(entries, call, said, wanted));
    }

    /** What is shown before the input, the input, and what after it. */
    private record Shown(List<TranscriptEntry> before, TranscriptEntry.UserText input, List<TranscriptEntry> after) {}

    private static Shown shown(List<TranscriptEntry> entries, Call call, List<TranscriptEntry> said, Fork wanted)
            throws ImpossibleForkException {
        int input = call.inputSeq();
        if (!(entries.get(input) instanceof TranscriptEntry.UserText)) {
            throw new ImpossibleForkException(
                    "fork_impossible", "expected what the task was asked at position " + input + " of its transcript");
        }
        if (wanted.text() != null) {
            int last = lastSaid(entries);
            TranscriptEntry.UserText old = (TranscriptEntry.UserText) entries.get(last);
            entries.set(last, new TranscriptEntry.UserText(wanted.text(), old.images()));
        }
        boolean another = wanted.model() != null || wanted.agent() != null;
        List<TranscriptEntry> before = new ArrayList<>();
        ContextWindow.Summary summary = call.window().summary();
        if (summary == null) {
            before.addAll(said);
        } else {
            before.add(entries.get(summary.seq()));
        }
        List<TranscriptEntry> after = new ArrayList<>();
        int first = Math.max(0, call.window().keptFrom());
        for (int seq = first; seq < entries.size(); seq++) {
            if (seq != input && (summary == null || seq != summary.seq())) {
                (seq < input ? before : after).add(plain(entries.get(seq), another));
            }
        }
        return new Shown(before, (TranscriptEntry.UserText) entries.get(input), after);
    }

    private static int lastSaid(List<TranscriptEntry> entries) {
        for (int seq = entries.size() - 1; seq > 0; seq--) {
            if (entries.get(seq) instanceof TranscriptEntry.UserText) {
                return seq;
            }
        }
        return 0;
    }

    /** Another provider would make nothing of what one wants to see again. */
    private static TranscriptEntry plain(TranscriptEntry entry, boolean forAnother) {
        return forAnother && entry instanceof TranscriptEntry.AssistantTurn turn
                ? new TranscriptEntry.AssistantTurn(turn.text(), turn.toolCalls())
                : entry;
    }

    private static void change(
            List<TranscriptEntry> entries, Played origin, String fromEvent, Payload from, Fork wanted)
            throws ImpossibleForkException {
        Integer seq = origin.results().get(fromEvent);
        boolean brings = from instanceof Payload.ToolCallCompleted || from instanceof Payload.ToolCallFailed;
        if (!brings
                || seq == null
                || seq >= entries.size()
                || !(entries.get(seq) instanceof TranscriptEntry.ToolResult old)) {
            throw new ImpossibleForkException(
                    "not_a_result",
                    "result, error: expected fromEvent to be what came of a tool call, found " + fromEvent);
        }
        String error = wanted.error();
        entries.set(
                seq,
                new TranscriptEntry.ToolResult(
                        old.toolCallId(),
                        old.toolName(),
                        error == null ? Json.writeText(wanted.result()) : "Error: " + error,
                        error != null));
    }

    private static Payload.MessageReceived message(
            String taskId, String fromEvent, Payload.@Nullable TaskInput start, Fork wanted, Shown shown) {
        String model = start instanceof Payload.MessageReceived message ? message.model() : null;
        return new Payload.MessageReceived(
                shown.input().text(),
                null,
                shown.input().images().stream()
                        .map(image -> new Payload.Image(image.mediaType(), image.data()))
                        .toList(),
                List.of(),
                wanted.agent() != null ? wanted.agent() : start == null ? null : start.taskType(),
                null,
                wanted.model() != null ? wanted.model() : model,
                null,
                null,
                null,
                new Payload.Fork(
                        taskId,
                        fromEvent,
                        ForkedTranscript.messages(shown.before()),
                        ForkedTranscript.messages(shown.after())));
    }

    private static Payload.@Nullable TaskInput start(Played origin, String taskId) {
        return origin.log().stream()
                .map(JournalEntry::event)
                .filter(event -> event.id().equals(taskId))
                .map(event -> event.payload() instanceof Payload.TaskInput input ? input : null)
                .findFirst()
                .orElse(null);
    }

    private static int position(List<JournalEntry> log, String taskId, String eventId) throws ImpossibleForkException {
        for (int i = 0; i < log.size(); i++) {
            if (log.get(i).event().id().equals(eventId)) {
                return i;
            }
        }
        throw new ImpossibleForkException(
                "unknown_event", "fromEvent: expected an event of the task " + taskId + ", found " + eventId);
    }

    private static Optional<Call> call(Played origin, int at, boolean following) {
        Predicate<Call> later = call -> call.index() > at;
        Optional<Call> next = origin.calls().stream().filter(later).findFirst();
        Optional<Call> last = origin.calls().stream().filter(later.negate()).reduce((one, other) -> other);
        return following ? next : last.or(() -> next);
    }

    /** Whether the model is asked again because of an event like this, and not before it. */
    private static boolean bringsSomething(Payload payload) {
        return payload instanceof Payload.TaskInput
                || payload instanceof Payload.TaskResumed
                || payload instanceof Payload.ApprovalDecided
                || payload instanceof Payload.ToolCallCompleted
                || payload instanceof Payload.ToolCallFailed
                || payload instanceof Payload.BackgroundTaskEnded
                || payload instanceof Payload.ContextCompacted;
    }
}
