package dev.millrace.agent.core;

import static dev.millrace.agent.core.TaskBuilder.TASK_ID;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.Effect.CallTool;
import dev.millrace.agent.core.SimulatedShell.Move;
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
import dev.millrace.agent.core.TaskEvent.ToolReturned;
import dev.millrace.agent.core.TaskState.Completed;
import dev.millrace.agent.core.TaskState.Ended;
import dev.millrace.agent.core.TaskState.Suspended;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Random histories: replies, results, people and failures in any order, doubled and late. What must hold always is in
 * {@link SimulatedShell}. A failure names its seed; {@code -Dmillrace.walk.seed=…} walks that one alone,
 * {@code -Dmillrace.walk.histories=…} another number of them.
 */
class TaskFsmWalkTest {

    private static final int ALL_HISTORIES = 10_000;
    private static final int HISTORIES = Integer.getInteger("millrace.walk.histories", ALL_HISTORIES);
    private static final long SESSION_TOKENS = 10_000;
    private static final List<String> TOOLS = List.of("search", "fetch", "notify", "read_file");

    /** What may happen next. */
    private enum Happening {
        MODEL_ANSWERS,
        MODEL_CALLS_TOOLS,
        MODEL_ASKS,
        MODEL_FAILS,
        CONVERSATION_TOO_LONG,
        TOOL_RETURNS,
        ADMITTED,
        SUSPENDED,
        RESUMED,
        RESUMED_WITH_INPUT,
        MESSAGE,
        LATE_DOUBLE,
        STRANGER,
        CHILD_ENDED,
        APPROVED,
        EDITED,
        REJECTED,
        TIME_PASSED,
        CANCELLED,
        DECLARED_FAILED
    }

    @Test
    @DisplayName("F-124, F-179, X-06, X-08, X-09, X-45: whatever happens in whatever order, what must hold holds")
    void shouldHoldInAnyHistory() {
        String only = System.getProperty("millrace.walk.seed");
        Map<String, Integer> taken = new HashMap<>();
        if (only != null) {
            walk(Long.parseLong(only), taken);
            return;
        }
        for (long seed = 0; seed < HISTORIES; seed++) {
            walk(seed, taken);
        }
        if (HISTORIES < ALL_HISTORIES) {
            return; // a sample, as for mutations: rare moves may be missing
        }
        // a walk that never gets anywhere would prove nothing
        Set<String> missed = new HashSet<>(DeclaredMoves.byName());
        missed.removeAll(taken.keySet());
        assertThat(missed).as("moves that no history took").isEmpty();
    }

    private static void walk(long seed, Map<String, Integer> taken) {
        History history = new History(seed);
        try {
            history.walk();
            history.finish();
        } catch (AssertionError e) {
            throw new AssertionError(
                    "seed " + seed + ": " + e.getMessage() + "\n"
                            + history.shell.moves().stream().map(Move::toString).collect(Collectors.joining("\n")),
                    e);
        }
        for (Move move : history.shell.moves()) {
            if (move.transition().accepted()) {
                taken.merge(DeclaredMoves.nameOf(move.before(), move.event(), move.transition()), 1, Integer::sum);
            }
        }
    }

    private static final class History {
        private final Random random;
        private final SimulatedShell shell;
        /** Events that count once, whenever their double comes. */
        private final List<TaskEvent> replies = new ArrayList<>();

        private int events;
        private int toolCalls;

        History(long seed) {
            random = new Random(seed);
            shell = new SimulatedShell(new MachineLimits(
                    TaskBuilder.limits(
                            1 + random.nextInt(6),
                            1 + random.nextInt(4),
                            random.nextInt(10) == 0 ? 150 : 100_000,
                            random.nextInt(10) == 0 ? 60 : 100_000),
                    SESSION_TOKENS,
                    TaskLimits.NONE,
                    MachineLimits.DEFAULT.modelCallTimeoutMs(),
                    MachineLimits.DEFAULT.toolCallGraceMs()));
        }

        void walk() {
            if (random.nextInt(20) == 0) {
                stranger(); // before there is a task
            }
            TaskEvent first = new InputReceived(
                    new Meta(TASK_ID, TASK_ID, time(), shell.nowMs()),
                    random.nextInt(50) == 0 ? "x".repeat(200) : "Hi",
                    "general",
                    100,
                    terms());
            happen(first);
            replies.add(first); // it names the task by its own id, so its double is known for ever
            int length = 5 + random.nextInt(45);
            for (int i = 0; i < length; i++) {
                next();
            }
        }

        /** From wherever it is, the task comes to an end: nothing waits for something that nobody was asked for. */
        void finish() {
            end();
            if (shell.state() instanceof Completed) {
                happen(new TaskResumed(meta(), "once more", TaskLimits.UNLIMITED));
                end();
            }
            assertThat(shell.state()).isInstanceOfAny(Completed.class, Ended.class);
            assertThat(shell.modelCallsOut()).isEmpty();
            replies.forEach(shell::acceptStale);
        }

        private void end() {
            for (int i = 0;
                    i < 200 && !(shell.state() instanceof Completed) && !(shell.state() instanceof Ended);
                    i++) {
                if (shell.waitsForAdmission()) {
                    shell.admit();
                } else if (shell.state() instanceof Suspended s) {
                    goOn(s);
                } else if (!shell.modelCallsOut().isEmpty()) {
                    reply(Happening.MODEL_ANSWERS);
                } else {
                    toolReturns(shell.toolCallsOut());
                }
            }
        }

        private void goOn(Suspended s) {
            if (s.byHand()) {
                happen(new TaskResumed(meta(), null, TaskLimits.UNLIMITED));
            } else if (s.question() != null) {
                happen(new InputReceived(meta(), "the answer", "general", 100, TaskEvent.Terms.NONE));
            } else if (s.waitsFor().orElse(null) instanceof Wait.Children) {
                childEnds();
            } else {
                decide(random.nextBoolean(), null);
            }
        }

        private void next() {
            switch (any(List.copyOf(EnumSet.allOf(Happening.class)))) {
                case MODEL_ANSWERS -> reply(Happening.MODEL_ANSWERS);
                case MODEL_CALLS_TOOLS -> {
                    reply(Happening.MODEL_CALLS_TOOLS);
                    toolReturns(shell.toolCallsOut());
                }
                case MODEL_ASKS -> reply(Happening.MODEL_ASKS);
                case MODEL_FAILS -> {
                    if (random.nextInt(6) == 0) {
                        reply(Happening.MODEL_FAILS);
                    }
                }
                case CONVERSATION_TOO_LONG -> {
                    if (random.nextInt(3) == 0) {
                        reply(Happening.CONVERSATION_TOO_LONG);
                    }
                }
                case TOOL_RETURNS -> toolReturns(shell.toolCallsOut());
                case ADMITTED -> {
                    if (shell.waitsForAdmission()) {
                        shell.admit(new Usage(random.nextInt(40) == 0 ? SESSION_TOKENS : 0, 0, 0));
                    }
                }
                case SUSPENDED -> happen(new TaskSuspended(meta(), "lunch"));
                case RESUMED -> happen(new TaskResumed(meta(), null, TaskLimits.UNLIMITED));
                case RESUMED_WITH_INPUT -> happen(new TaskResumed(meta(), "go on with this", TaskLimits.UNLIMITED));
                case MESSAGE ->
                    happen(new InputReceived(meta(), "one more thing", "general", 100, TaskEvent.Terms.NONE));
                case LATE_DOUBLE -> {
                    if (!replies.isEmpty()) {
                        shell.acceptStale(any(replies));
                    }
                }
                case STRANGER -> stranger();
                case CHILD_ENDED -> childEnds();
                case APPROVED -> decide(true, null);
                case EDITED -> decide(true, "{\"edited\":true}");
                case REJECTED -> decide(false, null);
                case TIME_PASSED -> {
                    switch (random.nextInt(20)) {
                        case 0 -> shell.passTimeUntilWakeUp();
                        case 1 -> shell.passTime(TaskLimits.DEFAULT.maxLifeTimeMs());
                        case 2 -> shell.outage(random.nextInt(2_000_000));
                        default -> shell.passTime(random.nextInt(1_000));
                    }
                }
                case CANCELLED -> {
                    if (random.nextInt(12) == 0) {
                        happen(new CancelRequested(
                                meta(), "enough", random.nextBoolean() ? null : new TaskEvent.Interruption("So far")));
                    }
                }
                case DECLARED_FAILED -> {
                    if (random.nextInt(12) == 0) {
                        happen(new FailureDeclared(meta(), TaskEvents.ERROR));
                    }
                }
            }
        }

        private void childEnds() {
            List<Children.Child> out = shell.childrenOut();
            if (out.isEmpty()) {
                return;
            }
            Children.Child child = any(out);
            Usage usage = new Usage(random.nextInt(5), 0, 0);
            TaskEvent ended = child.background()
                    ? new ChildEnded(meta(), child.callId(), "news " + events, usage)
                    : new ToolReturned(meta(), child.callId(), "{}", random.nextBoolean(), null, usage);
            happen(ended);
            replies.add(ended);
        }

        private void decide(boolean approved, @Nullable String arguments) {
            List<Fact.ApprovalRequested> out = shell.approvalsOut();
            if (out.isEmpty() || shell.state() instanceof Ended) {
                return;
            }
            TaskEvent decision =
                    new ApprovalDecided(meta(), any(out).callId(), approved, arguments, null, approved ? "ada" : null);
            happen(decision);
            replies.add(decision);
        }

        /** Mostly none. */
        private TaskEvent.Terms terms() {
            return switch (random.nextInt(40)) {
                case 0 -> new TaskEvent.Terms(9, Deadlines.NEVER, TaskLimits.UNLIMITED);
                case 1 -> new TaskEvent.Terms(8, shell.nowMs() + 500, TaskLimits.UNLIMITED);
                case 2, 3 -> TaskEvents.opening(TaskEvents.run("opening", any(TOOLS), "{\"n\":1}"));
                case 4 -> TaskEvents.opening(TaskEvents.ifApproved("opening", any(TOOLS), "{\"n\":1}"));
                case 5 -> TaskEvents.opening(TaskEvents.refused("opening", "shell", "tool_not_found", "no"));
                default -> TaskEvent.Terms.NONE;
            };
        }

        private void reply(Happening how) {
            List<String> out = shell.modelCallsOut();
            if (out.isEmpty()) {
                return;
            }
            TaskEvent reply = replyTo(any(out), how);
            happen(reply);
            replies.add(reply);
        }

        private TaskEvent replyTo(String callId, Happening how) {
            Usage usage = new Usage(random.nextInt(10), random.nextInt(10), 0);
            boolean tooLong = how == Happening.CONVERSATION_TOO_LONG;
            if (callId.contains("/summary-") && how != Happening.MODEL_FAILS && !tooLong) {
                Usage ofSummary = random.nextInt(5) == 0 ? new Usage(60, 0, 0) : usage;
                return new Summarised(meta(), callId, "so far", random.nextBoolean() ? "Hi" : null, ofSummary);
            }
            return switch (how) {
                case CONVERSATION_TOO_LONG -> new ModelCallFailed(meta(), callId, TaskEvents.TOO_LONG);
                case MODEL_FAILS -> new ModelCallFailed(meta(), callId, TaskEvents.ERROR);
                case MODEL_CALLS_TOOLS ->
                    new ModelReplied(
                            meta(),
                            callId,
                            text(),
                            calls(1 + random.nextInt(4)),
                            random.nextBoolean(),
                            usage,
                            contextWindow(),
                            events % 2 == 0 ? "signed" : null);
                case MODEL_ASKS -> question(callId, usage);
                default -> new ModelReplied(meta(), callId, text(), List.of(), false, usage);
            };
        }

        private TaskEvent question(String callId, Usage usage) {
            List<ToolCall> calls = new ArrayList<>(calls(random.nextInt(3)));
            return switch (random.nextInt(3)) {
                case 0 -> new QuestionAsked(meta(), callId, "Which?", text(), null, calls, usage);
                case 1 -> new QuestionAsked(meta(), callId, "Which?", text(), "no such call", calls, usage);
                default -> {
                    ToolCall ask = TaskEvents.run("p" + toolCalls++, "ask_user", "{}");
                    calls.add(random.nextInt(calls.size() + 1), ask);
                    yield new QuestionAsked(meta(), callId, "Which?", text(), ask.toolCallId(), calls, usage);
                }
            };
        }

        private List<ToolCall> calls(int number) {
            List<ToolCall> calls = new ArrayList<>();
            for (int i = 0; i < number; i++) {
                String id = "p" + toolCalls++;
                calls.add(
                        switch (random.nextInt(9)) {
                            case 6 -> TaskEvents.spawn(id, false);
                            case 7 -> TaskEvents.spawn(id, true);
                            case 8 ->
                                random.nextInt(4) == 0
                                        ? TaskEvents.resumeChild(id, "child" + toolCalls)
                                        : TaskEvents.spawn(id, true);
                            case 0 -> TaskEvents.refused(id, any(TOOLS), "tool_not_available", "not for you");
                            case 1 -> TaskEvents.ifApproved(id, any(TOOLS), "{\"n\":" + i + "}");
                            default -> TaskEvents.run(id, any(TOOLS), "{\"n\":" + i + "}");
                        });
            }
            return calls;
        }

        /** Also of abandoned calls, whose results come late and must be discarded. */
        private void toolReturns(List<CallTool> out) {
            if (out.isEmpty()) {
                return;
            }
            CallTool call = any(out);
            boolean failed = random.nextInt(4) == 0;
            ToolReturned result = new ToolReturned(
                    meta(),
                    call.callId(),
                    failed ? "no" : "{\"ok\":true}",
                    failed,
                    call.toolName().equals("notify") ? new TaskEvent.Notice("halfway") : null,
                    new Usage(1_000_000, 0, 0)); // of no meaning: it is no child
            happen(result);
            if (shell.toolCallsOut().stream().noneMatch(open -> open.callId().equals(call.callId()))) {
                replies.add(result);
            }
        }

        /** An event, one time in four followed at once by its double. */
        private void happen(TaskEvent event) {
            shell.accept(event);
            if (random.nextInt(4) == 0) {
                shell.acceptStale(event);
            }
        }

        /** Replies to calls that were never made. */
        private void stranger() {
            shell.acceptStale(
                    switch (random.nextInt(7)) {
                        case 6 -> new Summarised(meta(), "t1/1/summary-0-made-up", "me!", null, Usage.NONE);
                        case 5 -> new ChildEnded(meta(), "t1/1/1-0-made-up", "me!", Usage.NONE);
                        case 4 -> new ApprovalDecided(meta(), "t1/1/1-0-made-up", true, null, null, "me!");
                        case 0 -> new ModelReplied(meta(), "t1/1/0-0-made-up", "me!", List.of(), false, Usage.NONE);
                        case 1 -> new ToolReturned(meta(), "t1/1/1-0-made-up", "me!", false, null, Usage.NONE);
                        case 2 -> new StepCompleted(meta(), random.nextInt(3));
                        default -> new ModelCallFailed(meta(), "t1/1/0-0-made-up", TaskEvents.ERROR);
                    });
            if (!shell.waitsForAdmission()) {
                shell.acceptStale(new TaskCreated(meta()));
                shell.acceptStale(new Admitted(meta(), Usage.NONE));
            }
        }

        /** Often so small that a few turns fill it. */
        private @Nullable Long contextWindow() {
            return switch (random.nextInt(3)) {
                case 0 -> (Long) 40L;
                case 1 -> (Long) (100L + random.nextInt(200));
                default -> null;
            };
        }

        private @Nullable String text() {
            return random.nextInt(4) == 0 ? null : "text " + events;
        }

        private Meta meta() {
            return new Meta("e" + events++, TASK_ID, time(), shell.nowMs());
        }

        private Instant time() {
            return Instant.ofEpochMilli(random.nextInt()); // in no order: the machine must not care
        }

        private <T> T any(List<T> list) {
            return list.get(random.nextInt(list.size()));
        }
    }
}
