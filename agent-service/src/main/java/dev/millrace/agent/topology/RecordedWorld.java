package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskEvent;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.ToolCall;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Payload;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the log of a task tells of the world around it when it took an event: whom a call had to wait for, how it was
 * refused, what was allowed. The world of today may say something else.
 */
final class RecordedWorld {

    private static final String MACHINE = "agent";

    private final List<Event> after;
    private final long nowMs;

    /**
     * Around an event.
     *
     * @param at its position in the log
     * @param nowMs when the machine took it
     */
    RecordedWorld(List<JournalEntry> log, int at, long nowMs) {
        List<Event> following = new ArrayList<>();
        for (JournalEntry entry : log.subList(at + 1, log.size())) {
            Event event = entry.event();
            if (event.payload() instanceof Payload.ReasonDone || event.payload() instanceof Payload.NeedMoreInfo) {
                break;
            }
            following.add(event);
        }
        this.after = following;
        this.nowMs = nowMs;
    }

    /** The start of a task for this agent, which may use so much. */
    TaskEvent start(TaskEvent.InputReceived input, String taskType, TaskLimits limits) {
        TaskEvent.Terms terms = input.terms();
        TaskEvent.Opening opening = terms.opening();
        ToolCall call = opening.call();
        return new TaskEvent.InputReceived(
                input.meta(),
                input.text(),
                taskType,
                input.priority(),
                new TaskEvent.Terms(
                        terms.causalDepth(),
                        terms.expiresAtMs(),
                        limits,
                        call == null
                                ? opening
                                : new TaskEvent.Opening(opening.history(), opening.images(), routed(call))));
    }

    /** A reply whose calls go where they went. */
    TaskEvent reply(TaskEvent.ModelReplied reply, boolean sequential) {
        return new TaskEvent.ModelReplied(
                reply.meta(),
                reply.callId(),
                reply.text(),
                reply.calls().stream().map(this::routed).toList(),
                sequential,
                reply.usage(),
                reply.contextWindow(),
                reply.continuation());
    }

    /** The same of a question. */
    TaskEvent question(TaskEvent.QuestionAsked asked) {
        return new TaskEvent.QuestionAsked(
                asked.meta(),
                asked.callId(),
                asked.question(),
                asked.text(),
                asked.toolCallId(),
                asked.calls().stream().map(this::routed).toList(),
                asked.usage(),
                asked.contextWindow(),
                asked.continuation());
    }

    /** A cancel with what the model had said by then. */
    TaskEvent interruption(TaskEvent.CancelRequested cancel) {
        String said = told(Payload.TaskCancelled.class)
                .map(Payload.TaskCancelled::response)
                .filter(Objects::nonNull)
                .findFirst()
                .map(RecordedWorld::withoutMark)
                .orElse(null);
        return cancel.after(said);
    }

    /** The mark that the machine sets behind what was cut off is a paragraph of its own. */
    private static String withoutMark(String response) {
        int mark = response.lastIndexOf("\n\n");
        return mark < 0 ? "" : response.substring(0, mark);
    }

    private ToolCall routed(ToolCall call) {
        ToolCall.Route today = call.route();
        if (today instanceof ToolCall.Spawn || today instanceof ToolCall.Resume || today instanceof ToolCall.Stop) {
            return call;
        }
        Payload.ApprovalRequested asked = told(Payload.ApprovalRequested.class)
                .filter(told -> told.toolCallId().equals(call.toolCallId()))
                .findFirst()
                .orElse(null);
        Payload.ToolCallRequested requested = told(Payload.ToolCallRequested.class)
                .filter(told -> told.toolCallId().equals(call.toolCallId()))
                .findFirst()
                .orElse(null);
        if (asked != null || requested != null) {
            return with(call, run(today, asked, requested));
        }
        return told(Payload.ToolCallFailed.class, MACHINE)
                .filter(failed -> failed.toolName().equals(call.toolName())
                        && !failed.code().equals("tool_timeout"))
                .findFirst()
                .map(failed -> with(call, new ToolCall.Refuse(failed.code(), failed.error())))
                .orElse(call);
    }

    private ToolCall.Run run(
            ToolCall.Route today,
            Payload.@Nullable ApprovalRequested asked,
            Payload.@Nullable ToolCallRequested requested) {
        ToolCall.Run now = today instanceof ToolCall.Run run ? run : null;
        Long timeoutMs = requested == null ? null : requested.timeoutMs();
        ToolCall.Approval approval = asked == null ? null : approval(asked, now);
        return new ToolCall.Run(
                now == null ? "unknown" : now.toolset(),
                timeoutMs != null ? timeoutMs : now == null ? 1 : now.timeoutMs(),
                approval);
    }

    private ToolCall.Approval approval(Payload.ApprovalRequested asked, ToolCall.@Nullable Run today) {
        boolean byExpiry = told(Payload.ApprovalDecided.class, MACHINE)
                .anyMatch(decided -> decided.callId().equals(asked.callId())
                        && decided.decision().equals("approve"));
        boolean approves = byExpiry
                || (today != null
                        && today.approval() != null
                        && today.approval().approveOnExpiry());
        long expiresAtMs = TaskReplay.millis(asked.expiresAt(), Long.MAX_VALUE);
        return new ToolCall.Approval(Math.max(1, expiresAtMs - nowMs), approves, asked.reason());
    }

    private static ToolCall with(ToolCall call, ToolCall.Route route) {
        return new ToolCall(call.toolCallId(), call.toolName(), call.arguments(), route);
    }

    private <T extends Payload> Stream<T> told(Class<T> kind) {
        return after.stream().map(Event::payload).filter(kind::isInstance).map(kind::cast);
    }

    private <T extends Payload> Stream<T> told(Class<T> kind, String source) {
        return after.stream()
                .filter(event -> event.source().equals(source))
                .map(Event::payload)
                .filter(kind::isInstance)
                .map(kind::cast);
    }
}
