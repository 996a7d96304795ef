package dev.millrace.agent.core;

import dev.millrace.agent.core.Effect.Append;
import dev.millrace.agent.core.Effect.CallModel;
import dev.millrace.agent.core.Effect.CallTool;
import dev.millrace.agent.core.Effect.Discard;
import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Effect.RequestAdmission;
import dev.millrace.agent.core.Effect.SettleModelCall;
import dev.millrace.agent.core.TaskEvent.Admitted;
import dev.millrace.agent.core.TaskEvent.ApprovalDecided;
import dev.millrace.agent.core.TaskEvent.CancelRequested;
import dev.millrace.agent.core.TaskEvent.ChildEnded;
import dev.millrace.agent.core.TaskEvent.FailureDeclared;
import dev.millrace.agent.core.TaskEvent.InputReceived;
import dev.millrace.agent.core.TaskEvent.ModelCallFailed;
import dev.millrace.agent.core.TaskEvent.ModelReplied;
import dev.millrace.agent.core.TaskEvent.QuestionAsked;
import dev.millrace.agent.core.TaskEvent.StepCompleted;
import dev.millrace.agent.core.TaskEvent.Summarised;
import dev.millrace.agent.core.TaskEvent.TaskCreated;
import dev.millrace.agent.core.TaskEvent.TaskResumed;
import dev.millrace.agent.core.TaskEvent.TaskSuspended;
import dev.millrace.agent.core.TaskEvent.TimePassed;
import dev.millrace.agent.core.TaskEvent.ToolReturned;
import dev.millrace.agent.core.TaskState.Absent;
import dev.millrace.agent.core.TaskState.Acting;
import dev.millrace.agent.core.TaskState.Cancelled;
import dev.millrace.agent.core.TaskState.Completed;
import dev.millrace.agent.core.TaskState.Ended;
import dev.millrace.agent.core.TaskState.Existing;
import dev.millrace.agent.core.TaskState.Failed;
import dev.millrace.agent.core.TaskState.Idle;
import dev.millrace.agent.core.TaskState.Reasoning;
import dev.millrace.agent.core.TaskState.Suspended;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Carries out one task's effects in memory as the real shell does, follow-ups in the same step, and throws
 * {@link AssertionError} as soon as something does not hold that must hold after every event. It knows what the machine
 * has asked for only from the effects, never from looking into a plan, so that a machine that forgets to ask is found out.
 * One class on purpose, although long: these are the invariants, to be read in one place.
 */
final class SimulatedShell {

    /** One event and what came of it. */
    record Move(TaskState before, TaskEvent event, Transition transition) {
        @Override
        public String toString() {
            return before.label() + " + " + event + "\n    → " + transition.next() + "\n    " + transition.effects();
        }
    }

    private final TaskFsm fsm;
    private final MachineLimits machine;
    private final TaskLimits limits;
    private TaskState state = TaskState.ABSENT;

    private final List<Move> moves = new ArrayList<>();
    private final List<TranscriptEntry> transcript = new ArrayList<>();
    private final Set<String> modelCallsOut = new LinkedHashSet<>();
    private final Map<String, CallTool> toolCallsOut = new LinkedHashMap<>();
    private final Set<String> everyCallId = new HashSet<>();
    private final Set<String> refusalsOut = new HashSet<>();
    private final Map<String, Children.Child> childrenOut = new LinkedHashMap<>();
    private final List<String> newsOut = new ArrayList<>();
    private int modelCallsSinceTurn;
    private final Set<String> needApproval = new HashSet<>();
    private final Map<String, Fact.ApprovalRequested> approvalsOut = new LinkedHashMap<>();
    private final Map<String, String> approvedArguments = new HashMap<>();
    private int shownFrom;
    private int summarySeq;
    private int cut;
    private int events;
    private long nowMs = TaskEvents.NOW_MS;
    private long watchedSinceMs;

    SimulatedShell(MachineLimits machine) {
        this.fsm = new TaskFsm(machine);
        this.machine = machine;
        this.limits = machine.task();
    }

    TaskState state() {
        return state;
    }

    List<Move> moves() {
        return moves;
    }

    List<TranscriptEntry> transcript() {
        return transcript;
    }

    /** Model calls that the machine has asked for and not settled. */
    List<String> modelCallsOut() {
        return List.copyOf(modelCallsOut);
    }

    /** Tool calls that the machine has asked for and that no result was taken for; some may be abandoned. */
    List<CallTool> toolCallsOut() {
        return List.copyOf(toolCallsOut.values());
    }

    /** Children that have not ended and were not cancelled. */
    List<Children.Child> childrenOut() {
        return List.copyOf(childrenOut.values());
    }

    /** Whether the task waits for {@link #admit}. */
    boolean waitsForAdmission() {
        return state.wantsAdmission();
    }

    /** Lets the task, which waits for it, begin. */
    void admit() {
        admit(Usage.NONE);
    }

    /** The same, when its session has used so much. */
    void admit(Usage sessionUse) {
        require(state.wantsAdmission(), "nothing to admit");
        take(new Admitted(meta("admitted-" + ++events), sessionUse));
    }

    /** Tool calls that wait for a decision. */
    List<Fact.ApprovalRequested> approvalsOut() {
        return List.copyOf(approvalsOut.values());
    }

    /** The clock. */
    long nowMs() {
        return nowMs;
    }

    /** Lets the clock run until the machine wants to be woken, if it does, and tells it. */
    void passTimeUntilWakeUp() {
        OptionalLong wakeAt = fsm.wakeAt(state, watchedSinceMs);
        if (wakeAt.isPresent()) {
            passTime(Math.max(0, wakeAt.getAsLong() - nowMs));
        }
    }

    /** Lets the clock run and tells the machine. */
    void passTime(long ms) {
        nowMs += ms;
        OptionalLong wakeAt = fsm.wakeAt(state, watchedSinceMs);
        boolean due = wakeAt.isPresent() && wakeAt.getAsLong() <= nowMs;
        int before = moves.size();
        take(new TimePassed(meta("time-" + ++events), watchedSinceMs));
        require(
                moves.get(before).transition().accepted() == due,
                due ? "it was woken in vain" : "it took the time although nothing was due");
        require(
                fsm.wakeAt(state, watchedSinceMs).orElse(Deadlines.NEVER) > nowMs,
                "what is late stays late: it would be woken for ever");
    }

    /** Nobody takes anything for so long; what was asked for before is not late because of it. */
    void outage(long ms) {
        watchedSinceMs = nowMs + ms;
        passTime(ms);
    }

    private Meta meta(String eventId) {
        return new Meta(eventId, TaskBuilder.TASK_ID, Instant.EPOCH, nowMs);
    }

    /** Takes an event and all that follows from it at once. A task that asks for admission gets it by {@link #admit}. */
    void accept(TaskEvent event) {
        take(event);
    }

    /** Takes an event that must change nothing. */
    void acceptStale(TaskEvent event) {
        take(event);
        Transition transition = moves.getLast().transition();
        require(!transition.accepted(), "a doubled or late event was taken: " + event);
    }

    private void take(TaskEvent event) {
        Deque<TaskEvent> todo = new ArrayDeque<>(List.of(event));
        while (!todo.isEmpty()) {
            todo.addAll(step(todo.removeFirst()));
        }
        checkAtRest();
    }

    /** One transition; returns the follow-ups. */
    private List<TaskEvent> step(TaskEvent event) {
        TaskState before = state;
        Transition transition = fsm.transition(before, event);
        moves.add(new Move(before, event, transition));
        require(
                transition.equals(new TaskFsm(machine).transition(before, later(event))),
                "equal arguments, or another time, gave another result");
        checkDiscards(before, event, transition);
        state = transition.next();

        List<TaskEvent> followUps = new ArrayList<>();
        boolean modelCalled = false;
        for (Effect effect : transition.effects()) {
            switch (effect) {
                case Append append -> {
                    require(!modelCalled, "an entry was appended after the model call that should have seen it");
                    append(append);
                }
                case CallModel call -> {
                    modelCalled = true;
                    callModel(call);
                }
                case Effect.Summarise call -> {
                    modelCalled = true;
                    summarise(call);
                }
                case SettleModelCall settle -> settle(settle.callId(), event);
                case CallTool call -> callTool(call);
                case Publish(Fact fact) -> checkPublished(before, event, fact);
                case FollowUp(Fact.Consequence fact) -> followUp(event, fact, followUps);
                case Effect.StartChild child -> {
                    require(child.childId().equals(Children.idOf(child.callId())), "a child of another call");
                    startChild(child.callId(), child.childId(), child.background(), child.limits());
                }
                case Effect.ResumeChild child -> startChild(child.callId(), child.childId(), false, child.limits());
                case Effect.CancelChild child ->
                    require(
                            childrenOut.values().removeIf(out -> out.taskId().equals(child.childId())),
                            "a child was cancelled that is not out");
                case RequestAdmission request ->
                    require(transition.next().wantsAdmission(), "admission was asked for that the state does not want");
                case Discard discard -> {}
            }
        }
        if (transition.accepted()) {
            settled(event);
        }
        checkState(before, event, transition);
        return followUps;
    }

    private void settled(TaskEvent event) {
        if (event instanceof ToolReturned result) {
            toolCallsOut.remove(result.callId());
            if (!refusalsOut.remove(result.callId())) {
                childrenOut.remove(result.callId());
            }
        }
        if (event instanceof ChildEnded ended) {
            Children.Child child = childrenOut.remove(ended.callId());
            require(child != null && child.background(), "news was taken of a child that nobody waits for");
            newsOut.add(ended.news());
        }
        if (event instanceof InputReceived input
                && input.terms().opening().call() != null
                && input.terms().opening().call().route() instanceof ToolCall.Run run
                && run.approval() != null) {
            needApproval.add(input.terms().opening().call().toolCallId());
        }
        if (event instanceof ModelReplied reply) {
            reply.calls().stream()
                    .filter(call -> call.route() instanceof ToolCall.Run run && run.approval() != null)
                    .forEach(call -> needApproval.add(call.toolCallId()));
        }
        if (event instanceof ApprovalDecided decision) {
            Fact.ApprovalRequested request = approvalsOut.remove(decision.callId());
            require(request != null, "a decision was taken that nobody waits for");
            if (request != null && decision.approved()) {
                String arguments = decision.arguments() == null ? request.arguments() : decision.arguments();
                approvedArguments.put(request.toolCallId(), arguments);
            }
        }
    }

    private void checkDiscards(TaskState before, TaskEvent event, Transition transition) {
        boolean discarded = transition.effects().stream().anyMatch(Discard.class::isInstance);
        if (discarded) {
            require(transition.effects().size() == 1, "a discard beside another effect");
            require(transition.next().equals(before), "a discard that changes the state");
        }
        require(discarded || !(before instanceof Ended), "an event was taken out of an ended state");
        switch (event) {
            case ModelReplied e -> checkReply(e.callId(), before, discarded);
            case QuestionAsked e -> checkReply(e.callId(), before, discarded);
            case ModelCallFailed e -> checkReply(e.callId(), before, discarded);
            case Summarised e -> checkReply(e.callId(), before, discarded);
            default -> {}
        }
        if (event instanceof ToolReturned result) {
            require(
                    discarded == !isAwaited(result.callId(), before),
                    discarded ? "an awaited result was discarded" : "a result was taken that nobody waits for");
        }
    }

    /** Whether a tool was asked for, has not answered, and its call stands unanswered at the end of the transcript. */
    private boolean isAwaited(String callId, TaskState before) {
        CallTool call = toolCallsOut.get(callId);
        if (call == null) {
            Children.Child child = childrenOut.get(callId);
            return refusalsOut.contains(callId) || (child != null && !child.background());
        }
        if (before instanceof Ended) {
            return false;
        }
        for (TranscriptEntry entry : transcript.reversed()) {
            if (entry instanceof TranscriptEntry.ToolResult result
                    && result.toolCallId().equals(call.toolCallId())) {
                return false;
            }
            if (entry instanceof AssistantTurn turn) {
                return turn.toolCalls().stream()
                        .anyMatch(asked -> asked.toolCallId().equals(call.toolCallId()));
            }
        }
        return false;
    }

    private void checkReply(String callId, TaskState before, boolean discarded) {
        require(
                discarded != modelCallsOut.contains(callId),
                discarded ? "the awaited reply was discarded" : "a reply was taken that nobody waits for");
        require(
                discarded || before instanceof TaskState.Asking || before instanceof Suspended,
                "a reply in a strange state");
    }

    private void append(Append append) {
        require(append.seq() == transcript.size(), "appended at " + append.seq() + " of " + transcript.size());
        require(!append.entries().isEmpty(), "nothing was appended");
        for (TranscriptEntry entry : append.entries()) {
            if (entry instanceof TranscriptEntry.Summary) {
                shownFrom = cut;
                summarySeq = transcript.size();
            }
            transcript.add(entry);
            if (entry instanceof UserText said) {
                newsOut.remove(said.text());
            }
            if (entry instanceof AssistantTurn turn) {
                // a call that came along is no model's, and what was cut off is no reply
                int modelCalls = ((Existing) state).context().iteration() == 0 ? 0 : 1;
                boolean cutOff = String.valueOf(turn.text()).endsWith(Turns.CUT_OFF);
                require(
                        cutOff || modelCallsSinceTurn == modelCalls,
                        modelCallsSinceTurn + " model calls for one turn of the model");
                modelCallsSinceTurn = 0;
            }
        }
    }

    private void callModel(CallModel call) {
        require(everyCallId.add(call.callId()), "the call id was used before: " + call.callId());
        require(modelCallsOut.isEmpty(), "a second model call while one is awaited");
        require(
                state instanceof Reasoning reasoning
                        && reasoning.awaiting().equals(call.callId())
                        && reasoning.context().iteration() == call.iteration(),
                "a model call that the state does not wait for");
        require(call.iteration() <= limits.maxIterations(), "more iterations than allowed");
        Transcripts.requireCallable(shown(transcript.size()));
        modelCallsOut.add(call.callId());
        modelCallsSinceTurn++;
    }

    /** What the model is shown of the entries before this one, worked out from nothing but what was asked for. */
    private List<TranscriptEntry> shown(int before) {
        List<TranscriptEntry> shown = new ArrayList<>();
        if (summarySeq > 0) {
            shown.add(transcript.get(summarySeq));
        }
        for (int seq = shownFrom; seq < before; seq++) {
            if (summarySeq == 0 || seq != summarySeq) {
                shown.add(transcript.get(seq));
            }
        }
        return shown;
    }

    private void summarise(Effect.Summarise call) {
        require(everyCallId.add(call.callId()), "the call id was used before: " + call.callId());
        require(modelCallsOut.isEmpty(), "a summary while a model call is awaited");
        require(
                state instanceof TaskState.Compacting compacting
                        && compacting.awaiting().equals(call.callId())
                        && compacting.context().iteration() + 1 == call.iteration(),
                "a summary that the state does not wait for");
        require(
                call.before() > shownFrom && call.before() < transcript.size(),
                "a cut that leaves out nothing, or all");
        require(call.iteration() <= limits.maxIterations(), "a summary for an iteration that may not be");
        cut = call.before();
        Transcripts.requireCallable(tail());
        modelCallsOut.add(call.callId());
        modelCallsSinceTurn++;
    }

    /** What is kept, as if the summary were there. */
    private List<TranscriptEntry> tail() {
        List<TranscriptEntry> tail = new ArrayList<>(List.of(new TranscriptEntry.Summary("so far", null)));
        for (int seq = cut; seq < transcript.size(); seq++) {
            if (summarySeq == 0 || seq != summarySeq) {
                tail.add(transcript.get(seq));
            }
        }
        return tail;
    }

    private void settle(String callId, TaskEvent event) {
        require(modelCallsOut.remove(callId), "settled twice, or never made: " + callId);
        if (!(event instanceof ModelReplied) && !(event instanceof QuestionAsked)) {
            modelCallsSinceTurn--; // nobody answered, so there will be no turn
        }
    }

    private void callTool(CallTool call) {
        require(everyCallId.add(call.callId()), "the call id was used before: " + call.callId());
        require(
                state instanceof Acting || (state instanceof Suspended s && s.from() instanceof Acting),
                "a tool call while " + state.label());
        TranscriptEntry.Call asked = lastTurn().toolCalls().stream()
                .filter(candidate -> candidate.toolCallId().equals(call.toolCallId()))
                .findFirst()
                .orElseThrow(() -> new AssertionError("a tool call that the model did not ask for"));
        require(asked.toolName().equals(call.toolName()), "another tool than the model asked for");
        String approved = approvedArguments.get(call.toolCallId());
        require(approved != null || !needApproval.contains(call.toolCallId()), "it ran without approval");
        require(
                call.arguments().equals(approved == null ? asked.arguments() : approved),
                "other arguments than were asked for, or approved");
        toolCallsOut.put(call.callId(), call);
    }

    private void startChild(String callId, String childId, boolean background, TaskLimits share) {
        require(everyCallId.add(callId), "the call id was used before: " + callId);
        TaskContext context = ((Existing) state).context();
        long setAside =
                childrenOut.values().stream().mapToLong(Children.Child::tokens).sum() + share.maxTokens();
        require(
                context.usage().total() + setAside < limits.maxTokens(),
                "children may use all that their parent has left, or more");
        childrenOut.put(
                callId, new Children.Child(childId, callId, background, share.maxTokens(), share.maxCostMicros()));
    }

    private AssistantTurn lastTurn() {
        for (TranscriptEntry entry : transcript.reversed()) {
            if (entry instanceof AssistantTurn turn) {
                return turn;
            }
        }
        throw new AssertionError("the model has not said anything");
    }

    private void checkPublished(TaskState before, TaskEvent event, Fact fact) {
        switch (fact) {
            case Fact.Completed completed -> {
                require(state instanceof Completed, "completed was published while " + state.label());
                require(
                        switch (transcript.getLast()) {
                            case AssistantTurn turn -> Objects.equals(turn.text(), completed.response());
                            case TranscriptEntry.ToolResult result ->
                                completed.iterations() == 0
                                        && result.content().endsWith(String.valueOf(completed.response()));
                            default -> false;
                        },
                        "the response is neither what the model said last nor the result of the only call");
                require(transcript.get(completed.inputSeq()) instanceof UserText, "the input is not at its position");
            }
            case Fact.Failed failed -> require(state instanceof Failed, "failed was published while " + state.label());
            case Fact.Cancelled cancelled ->
                require(state instanceof Cancelled, "cancelled was published while " + state.label());
            case Fact.Asked asked ->
                require(state instanceof Suspended s && s.question() != null, "a question that nobody can answer");
            case Fact.Notified notified ->
                require(
                        (event instanceof ToolReturned && !before.equals(state))
                                || (event instanceof StepCompleted && state instanceof Suspended),
                        "a notification out of nowhere");
            case Fact.Created created -> throw new AssertionError("created must be followed up");
            case Fact.StepDone stepDone -> throw new AssertionError("a step must be followed up");
            case Fact.ApprovalRequested request -> {
                require(
                        state instanceof Suspended s
                                && s.undecided().stream()
                                        .anyMatch(step -> step.callId().equals(request.callId())),
                        "an approval that the task does not wait for");
                approvalsOut.put(request.callId(), request);
            }
            case Fact.ApprovalWithdrawn withdrawn ->
                require(approvalsOut.remove(withdrawn.callId()) != null, "withdrawn what nobody was asked");
            case Fact.ToolRefused refused -> throw new AssertionError("a refusal must be followed up");
            case Fact.ChildAccepted other -> throw new AssertionError("to be followed up: " + other);
            case Fact.ChildStopping other -> throw new AssertionError("to be followed up: " + other);
            case Fact.ModelTimedOut other -> throw new AssertionError("to be followed up: " + other);
            case Fact.ToolTimedOut other -> throw new AssertionError("to be followed up: " + other);
            case Fact.ApprovalExpired other -> throw new AssertionError("to be followed up: " + other);
        }
    }

    private void followUp(TaskEvent cause, Fact.Consequence fact, List<TaskEvent> followUps) {
        Meta meta = new Meta(
                cause.meta().eventId() + '+' + followUps.size(),
                TaskBuilder.TASK_ID,
                cause.meta().time(),
                cause.meta().nowMs());
        if (fact instanceof Fact.ToolRefused refused) {
            require(everyCallId.add(refused.callId()), "the call id was used before: " + refused.callId());
            refusalsOut.add(refused.callId());
        } else if (fact instanceof Fact.ChildAccepted accepted) {
            refusalsOut.add(accepted.callId());
        } else if (fact instanceof Fact.ChildStopping stopping) {
            refusalsOut.add(stopping.callId());
        }
        followUps.add(fact.event(meta));
    }

    /** What holds after every transition. */
    private void checkState(TaskState before, TaskEvent event, Transition transition) {
        if (state instanceof Suspended) {
            require(
                    transition.effects().stream()
                            .noneMatch(effect -> effect instanceof CallModel || effect instanceof Effect.Summarise),
                    "the model was called while suspended");
            require(
                    !(before instanceof Suspended)
                            || event instanceof Admitted
                            || transition.effects().stream().noneMatch(CallTool.class::isInstance),
                    "a tool was called while suspended");
        }
        require(
                count(transition, Fact.Completed.class)
                        == (state instanceof Completed && !(before instanceof Completed) ? 1 : 0),
                "completed must be published once per completion");
        boolean machineFailed =
                state instanceof Failed && !(before instanceof Failed) && !(event instanceof FailureDeclared);
        require(count(transition, Fact.Failed.class) == (machineFailed ? 1 : 0), "failed must be published once");
        boolean cancelled = state instanceof Cancelled && !(before instanceof Cancelled);
        require(count(transition, Fact.Cancelled.class) == (cancelled ? 1 : 0), "cancelled must be published once");
        String awaited = awaited(state);
        require(
                modelCallsOut.equals(awaited.isEmpty() ? Set.of() : Set.of(awaited)),
                "calls out " + modelCallsOut + ", but awaited is '" + awaited + "'");
        if (state instanceof Existing task) {
            TaskContext context = task.context();
            require(context.transcriptLength() == transcript.size(), "lost count of the transcript");
            require(
                    context.transcriptChars()
                            == shown(transcript.size()).stream()
                                    .mapToLong(TranscriptEntry::chars)
                                    .sum(),
                    "lost count of the characters");
            ContextWindow window = context.window();
            require(
                    window.estimate()
                            == shown(transcript.size()).stream()
                                    .mapToLong(TranscriptEntry::tokens)
                                    .sum(),
                    "lost count of the tokens");
            require(window.keptFrom() == shownFrom && window.summarySeq() == summarySeq, "another part is shown");
            require(window.turns().size() <= ContextWindow.MAX_TURNS, "it remembers too many turns");
            require(context.iteration() <= limits.maxIterations(), "more iterations than allowed");
            require(context.actionsCount() <= transcript.size(), "more actions than entries");
        }
    }

    /** The model call that a state waits for; empty = none. */
    private static String awaited(TaskState state) {
        return switch (state) {
            case TaskState.Asking s -> s.awaiting();
            case Suspended s when s.from() instanceof TaskState.Asking from && s.awaitsReply() -> from.awaiting();
            case Suspended s -> "";
            case Absent s -> "";
            case Idle s -> "";
            case Acting s -> "";
            case Completed s -> "";
            case Ended s -> "";
        };
    }

    /** What holds when nothing is left to follow up: whatever the task waits for has been asked for, so it cannot hang. */
    private void checkAtRest() {
        if (state instanceof Suspended s) {
            require(
                    s.byHand()
                            || s.next() != null
                            || s.question() != null
                            || !s.undecided().isEmpty()
                            || s.waitsFor().orElse(null) instanceof Wait.Children,
                    "suspended, and nobody knows what for");
            require(s.next() == null || s.undecided().isEmpty(), "it goes on while it waits for a decision");
        }
        require(
                state instanceof Completed
                        || state instanceof Ended
                        || state instanceof Absent
                        || fsm.wakeAt(state, watchedSinceMs).isPresent(),
                "it waits, maybe for ever");
        if (state instanceof Completed || state instanceof Ended) {
            require(childrenOut.isEmpty(), "it has ended, and children go on: " + childrenOut);
        }
        require(!(state instanceof Completed) || newsOut.isEmpty(), "the model was not told: " + newsOut);
        if (state instanceof Existing task && !(state instanceof Ended)) {
            require(
                    Set.copyOf(task.context().children().out()).equals(Set.copyOf(childrenOut.values())),
                    "lost count of the children");
            require(
                    !(state instanceof Acting a) || !a.plan().waitsForChildren(),
                    "it holds a place that its children may need");
        }
        Acting acting =
                state instanceof Acting a ? a : state instanceof Suspended s && s.from() instanceof Acting a ? a : null;
        if (acting != null) {
            require(state instanceof Suspended || !acting.plan().done(), "everything is done and nothing goes on");
            checkPlan(acting.plan());
        }
    }

    private void checkPlan(Plan plan) {
        boolean goesOnLater = state instanceof Suspended;
        boolean first = true;
        for (Plan.CallStep step : plan.openCalls()) {
            switch (step.standing()) {
                case Plan.Held held ->
                    require(goesOnLater || (plan.sequential() && !first), "its turn has come: " + step);
                case Plan.Deciding deciding ->
                    require(approvalsOut.containsKey(step.callId()), "nobody was asked to decide: " + step);
                case Plan.Requested requested ->
                    require(
                            toolCallsOut.containsKey(step.callId())
                                    || (goesOnLater && requested.equals(Plan.Requested.OF_NOBODY)),
                            "waits for a step that nobody was asked for: " + step);
                case Plan.Delegated delegated -> {
                    Children.Child child = childrenOut.get(step.callId());
                    require(child != null && !child.background(), "no child works on it: " + step);
                }
                case Plan.Done done -> throw new AssertionError("open and done: " + step);
            }
            require(!plan.sequential() || first || step.standing() instanceof Plan.Held, "out of turn: " + step);
            first = false;
        }
        require(
                plan.steps().stream().allMatch(step -> step.completed() || step instanceof Plan.CallStep),
                "waits for a response that is there");
    }

    private static long count(Transition transition, Class<? extends Fact> kind) {
        return transition.effects().stream()
                .filter(effect -> effect instanceof Publish(Fact fact) && kind.isInstance(fact))
                .count();
    }

    private static void require(boolean condition, String violation) {
        if (!condition) {
            throw new AssertionError(violation);
        }
    }

    /** The same event at another time. */
    private static TaskEvent later(TaskEvent event) {
        Meta meta = new Meta(
                event.meta().eventId(),
                event.meta().taskId(),
                Instant.ofEpochMilli(4_000_000_000_000L),
                event.meta().nowMs());
        return switch (event) {
            case InputReceived e -> new InputReceived(meta, e.text(), e.taskType(), e.priority(), e.terms());
            case Admitted e -> new Admitted(meta, e.sessionUse());
            case TimePassed e -> new TimePassed(meta, e.watchedSinceMs());
            case TaskCreated e -> new TaskCreated(meta);
            case ModelReplied e ->
                new ModelReplied(
                        meta,
                        e.callId(),
                        e.text(),
                        e.calls(),
                        e.sequential(),
                        e.usage(),
                        e.contextWindow(),
                        e.continuation());
            case Summarised e -> new Summarised(meta, e.callId(), e.summary(), e.request(), e.usage());
            case QuestionAsked e ->
                new QuestionAsked(
                        meta,
                        e.callId(),
                        e.question(),
                        e.text(),
                        e.toolCallId(),
                        e.calls(),
                        e.usage(),
                        e.contextWindow(),
                        e.continuation());
            case ModelCallFailed e -> new ModelCallFailed(meta, e.callId(), e.error());
            case StepCompleted e -> new StepCompleted(meta, e.stepIndex());
            case ToolReturned e ->
                new ToolReturned(meta, e.callId(), e.content(), e.isError(), e.notification(), e.usage());
            case ChildEnded e -> new ChildEnded(meta, e.callId(), e.news(), e.usage());
            case ApprovalDecided e ->
                new ApprovalDecided(meta, e.callId(), e.approved(), e.arguments(), e.reason(), e.decidedBy());
            case TaskSuspended e -> new TaskSuspended(meta, e.reason());
            case TaskResumed e -> new TaskResumed(meta, e.newInput(), e.more());
            case CancelRequested e -> new CancelRequested(meta, e.reason(), e.interruption());
            case FailureDeclared e -> new FailureDeclared(meta, e.error());
        };
    }
}
