package dev.millrace.gateway.rest.turns;

import dev.millrace.gateway.kafka.FactListener;
import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.StreamType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes one turn of a task of all of its events, from the first one on, and of live text. Equal events make equal parts
 * with equal steps, with live text or without: that only makes a text come in more pieces. For one thread.
 */
public final class TurnFold {

    /**
     * Live text of calls of which the journal does not tell yet; more of it is passed over, and told with the reply.
     */
    private static final int MAX_EARLY = 1_000;

    private final Event begin;
    private final Teller teller;

    private long steps;
    private boolean begun;
    private boolean current;
    private boolean over;
    private @Nullable OpenCall open;
    private @Nullable String lastSaid;
    private @Nullable String finishReason;
    private @Nullable String agent;

    /**
     * What has to wait until the call that is open has come to its end, so that steps do not depend on who is faster.
     */
    private final Queue<Event> waiting = new ArrayDeque<>();

    private final List<Payload.StreamDelta> early = new ArrayList<>();
    private final Set<String> running = new HashSet<>();
    private final Map<String, Payload.ApprovalRequested> asked = new LinkedHashMap<>();
    private final Set<String> awaited = new HashSet<>();

    private long inputTokens;
    private long outputTokens;
    private long cachedInputTokens;
    private long reasoningTokens;

    /** Who is told. */
    @FunctionalInterface
    public interface Teller {
        void tell(TurnPart part) throws InterruptedException, ClientGoneException;
    }

    /** A model call whose reply is not settled. */
    private static final class OpenCall {
        private final String callId;
        private final long step;
        private long attempt = 1;
        private final StringBuilder told = new StringBuilder();

        OpenCall(String callId, long step) {
            this.callId = callId;
            this.step = step;
        }
    }

    /**
     * Has taken nothing yet.
     *
     * @param begin the event that the turn begins with, as the journal has it or as it was accepted
     */
    public TurnFold(Event begin, Teller teller) {
        this.begin = begin;
        this.teller = teller;
    }

    /** Whether the turn is over; nothing more is told then. */
    public boolean over() {
        return over;
    }

    /** Who works on the task, or is asked for; {@code null} = not told yet, or nobody in particular. */
    public @Nullable String agent() {
        return agent;
    }

    /** Whether the journal has told of the beginning. */
    public boolean begun() {
        return begun;
    }

    /** Whether the task may be cancelled when nobody wants the turn any more, and not somebody else's turn with it. */
    public boolean ownsTask() {
        return begun || !goesOn();
    }

    /** Whether it may turn out that the task does not take what the turn was to begin with. */
    boolean mayBeLate() {
        return !begun && !over && goesOn();
    }

    /** All has been taken that had happened when the event was accepted: what comes now came after it. */
    void caughtUp() {
        current = true;
    }

    /** Nobody waits any longer for the task to take what the turn was to begin with. */
    void giveUp() throws InterruptedException, ClientGoneException {
        end(new TurnEnd.NotTaken(false));
    }

    /** Whether the turn goes on a task that there is, and that takes one answer or decision. */
    private boolean goesOn() {
        return begin.payload() instanceof Payload.TaskResumed || begin.payload() instanceof Payload.ApprovalDecided;
    }

    /** Whether after this event the task cannot take what the turn was to begin with. */
    private boolean isTooLateAfter(Event event) {
        return switch (begin.payload()) {
            case Payload.ApprovalDecided ours ->
                switch (event.payload()) {
                    case Payload.ApprovalDecided theirs -> theirs.callId().equals(ours.callId());
                    case Payload.ToolCallFailed failed -> failed.callId().equals(ours.callId());
                    default -> ends(event) && asked.containsKey(ours.callId());
                };
            case Payload.TaskResumed ignored -> current && (ends(event) || asks(event));
            default -> false;
        };
    }

    /** Whether the task has ended without a result, whoever was first. */
    private static boolean breaksOff(Event event) {
        return event.payload() instanceof Payload.TaskFailed || event.payload() instanceof Payload.TaskCancelled;
    }

    private static boolean asks(Event event) {
        return event.payload() instanceof Payload.NeedMoreInfo
                || (event.payload() instanceof Payload.TaskSuspended suspended && suspended.question() != null);
    }

    /** The next event of the task, a fact or live text. */
    public void take(Event event, boolean live) throws InterruptedException, ClientGoneException {
        if (over) {
            return;
        }
        if (live) {
            if (begun && event.type() == StreamType.TEXT && event.payload() instanceof Payload.StreamDelta piece) {
                hear(piece);
            }
            return;
        }
        OpenCall call = open;
        if (call != null && !call.callId.equals(endedCall(event)) && !ends(event)) {
            waiting.add(event);
            return;
        }
        takeFact(event);
        while (open == null && !over && !waiting.isEmpty()) {
            takeFact(waiting.remove());
        }
    }

    private static boolean ends(Event event) {
        return event.payload() instanceof Payload.TaskCompleted
                || event.payload() instanceof Payload.TaskFailed
                || event.payload() instanceof Payload.TaskCancelled;
    }

    private static @Nullable String endedCall(Event event) {
        return event.payload() instanceof Payload.ModelCallAbandoned abandoned
                ? abandoned.callId()
                : FactListener.settledBy(event);
    }

    private void takeFact(Event event) throws InterruptedException, ClientGoneException {
        note(event.payload());
        if (!begun && event.id().equals(begin.id())) {
            begun = true;
            teller.tell(new TurnPart.Began(steps++, event, event.taskId() == null ? event.id() : event.taskId()));
        }
        if (begun) {
            count(event.payload());
            tell(event.payload());
        } else if (isTooLateAfter(event)) {
            if (breaksOff(event)) {
                tell(event.payload());
            } else {
                end(new TurnEnd.NotTaken(true));
            }
        }
    }

    /** What matters although it may have happened before the turn. */
    private void note(Payload payload) {
        switch (payload) {
            case Payload.TaskCreated created -> agent = created.taskType();
            case Payload.TaskInput input when agent == null -> agent = input.taskType();
            case Payload.TaskStateChanged changed -> {
                Payload.WaitingFor waits = changed.waitingFor();
                awaited.clear();
                if (waits != null && waits.kind().equals("approval")) {
                    awaited.addAll(waits.callIds());
                }
            }
            case Payload.ApprovalRequested approval -> asked.put(approval.callId(), approval);
            case Payload.ApprovalDecided decided -> settled(decided.callId());
            case Payload.ToolCallRequested requested -> running.add(requested.callId());
            case Payload.ToolCallCompleted completed -> running.remove(completed.callId());
            case Payload.ToolCallFailed failed -> {
                running.remove(failed.callId());
                settled(failed.callId());
            }
            default -> {}
        }
    }

    /** Nobody has to decide on this call any more. */
    private void settled(String callId) {
        asked.remove(callId);
        awaited.remove(callId);
    }

    private void tell(Payload payload) throws InterruptedException, ClientGoneException {
        switch (payload) {
            case Payload.ModelCallRequested requested when requested.purpose() == null -> open(requested.callId());
            case Payload.ReasonDone done -> {
                finishReason = done.finishReason();
                settle(done.response(), done.toolCalls().isEmpty());
            }
            case Payload.NeedMoreInfo question -> {
                settle(question.response(), false);
                end(new TurnEnd.Asked(question.question()));
            }
            case Payload.ModelCallFailed failed -> settle(null, false);
            case Payload.ModelCallAbandoned abandoned -> settle(null, false);
            case Payload.ToolCallRequested requested -> {
                teller.tell(
                        new TurnPart.ToolBegan(steps++, requested.callId(), requested.toolName(), requested.params()));
            }
            case Payload.ToolCallCompleted done -> toolEnded(done.callId(), done.toolName(), done.result(), null);
            case Payload.ToolCallFailed failed -> toolEnded(failed.callId(), failed.toolName(), null, failed.error());
            case Payload.TaskSuspended suspended
            when suspended.question() != null -> end(new TurnEnd.Asked(suspended.question()));
            case Payload.TaskCompleted completed -> {
                String answer = completed.result().response();
                settle(null, false);
                if (answer != null && !answer.isEmpty() && !answer.equals(lastSaid)) {
                    open("");
                    settle(answer, true);
                }
                end(new TurnEnd.Answered(answer == null ? "" : answer, finishReason));
            }
            case Payload.TaskFailed failed -> {
                settle(null, false);
                end(new TurnEnd.Failed(failed.code(), failed.error()));
            }
            case Payload.TaskCancelled cancelled -> {
                settle(null, false);
                end(new TurnEnd.Cancelled(cancelled.reason()));
            }
            default -> {}
        }
        if (!over && running.isEmpty() && !awaited.isEmpty() && asked.keySet().containsAll(awaited)) {
            end(new TurnEnd.NeedsApproval(List.copyOf(asked.values())));
        }
    }

    private void toolEnded(String callId, String toolName, @Nullable Object result, @Nullable String error)
            throws InterruptedException, ClientGoneException {
        teller.tell(new TurnPart.ToolEnded(steps++, callId, toolName, result, error));
    }

    private void end(TurnEnd end) throws InterruptedException, ClientGoneException {
        over = true;
        teller.tell(new TurnPart.Over(
                steps++,
                end,
                new Payload.Usage(inputTokens, outputTokens, cachedInputTokens, reasoningTokens, null, null, null)));
    }

    private void open(String callId) throws InterruptedException, ClientGoneException {
        open = new OpenCall(callId, steps++);
        List<Payload.StreamDelta> pieces = List.copyOf(early);
        early.clear();
        for (Payload.StreamDelta piece : pieces) {
            hear(piece);
        }
    }

    private void hear(Payload.StreamDelta piece) throws InterruptedException, ClientGoneException {
        OpenCall call = open;
        if (call == null || !call.callId.equals(piece.callId())) {
            if (early.size() < MAX_EARLY) {
                early.add(piece);
            }
            return;
        }
        if (piece.attempt() != call.attempt) {
            withdraw(call);
            call.attempt = piece.attempt();
        }
        say(call, piece.delta());
    }

    private void say(OpenCall call, String delta) throws InterruptedException, ClientGoneException {
        int from = call.told.length();
        call.told.append(delta);
        teller.tell(new TurnPart.Words(call.step, call.attempt, from, delta));
    }

    private void withdraw(OpenCall call) throws InterruptedException, ClientGoneException {
        if (!call.told.isEmpty()) {
            String text = call.told.toString();
            call.told.setLength(0);
            teller.tell(new TurnPart.Withdrawn(call.step, call.attempt, text));
        }
    }

    /** The reply of the open call is this; {@code null} = there is none. */
    private void settle(@Nullable String text, boolean last) throws InterruptedException, ClientGoneException {
        OpenCall call = open;
        open = null;
        if (call == null) {
            return;
        }
        String whole = text == null ? "" : text;
        if (!whole.startsWith(call.told.toString()) || whole.isEmpty()) {
            withdraw(call);
            call.attempt++;
        }
        if (!whole.isEmpty()) {
            if (whole.length() > call.told.length()) {
                say(call, whole.substring(call.told.length()));
            }
            lastSaid = whole;
            teller.tell(new TurnPart.Said(call.step, call.attempt, whole, last));
        }
    }

    private void count(Payload payload) {
        Payload.Usage used =
                switch (payload) {
                    case Payload.ModelCallOutcome call -> call.usage();
                    case Payload.ToolCallCompleted call -> call.usage();
                    case Payload.ToolCallFailed call -> call.usage();
                    default -> null;
                };
        if (used != null) {
            inputTokens += used.inputTokens();
            outputTokens += used.outputTokens();
            cachedInputTokens += orNone(used.cachedInputTokens());
            reasoningTokens += orNone(used.reasoningTokens());
        }
    }

    private static long orNone(@Nullable Long number) {
        return number == null ? 0 : number;
    }
}
