package dev.millrace.agent.core;

import static dev.millrace.agent.core.DiscardReason.DUPLICATE;
import static dev.millrace.agent.core.DiscardReason.NOT_SUSPENDABLE;
import static dev.millrace.agent.core.DiscardReason.NOT_WAITING;
import static dev.millrace.agent.core.DiscardReason.STALE_CALL;
import static dev.millrace.agent.core.DiscardReason.TASK_COMPLETED;
import static dev.millrace.agent.core.DiscardReason.TASK_ENDED;
import static dev.millrace.agent.core.DiscardReason.UNKNOWN_TASK;
import static dev.millrace.agent.core.TaskBuilder.aTask;
import static dev.millrace.agent.core.TaskBuilder.done;
import static dev.millrace.agent.core.TaskBuilder.open;
import static dev.millrace.agent.core.TaskBuilder.requested;
import static dev.millrace.agent.core.TaskBuilder.response;
import static dev.millrace.agent.core.TaskBuilder.suspended;
import static dev.millrace.agent.core.TaskEvents.ERROR;
import static dev.millrace.agent.core.TaskEvents.admitted;
import static dev.millrace.agent.core.TaskEvents.answered;
import static dev.millrace.agent.core.TaskEvents.asked;
import static dev.millrace.agent.core.TaskEvents.callId;
import static dev.millrace.agent.core.TaskEvents.called;
import static dev.millrace.agent.core.TaskEvents.cancel;
import static dev.millrace.agent.core.TaskEvents.created;
import static dev.millrace.agent.core.TaskEvents.declareFailed;
import static dev.millrace.agent.core.TaskEvents.firstInput;
import static dev.millrace.agent.core.TaskEvents.input;
import static dev.millrace.agent.core.TaskEvents.interrupt;
import static dev.millrace.agent.core.TaskEvents.meta;
import static dev.millrace.agent.core.TaskEvents.modelFailed;
import static dev.millrace.agent.core.TaskEvents.notified;
import static dev.millrace.agent.core.TaskEvents.refused;
import static dev.millrace.agent.core.TaskEvents.resume;
import static dev.millrace.agent.core.TaskEvents.resumeWith;
import static dev.millrace.agent.core.TaskEvents.returned;
import static dev.millrace.agent.core.TaskEvents.run;
import static dev.millrace.agent.core.TaskEvents.stepCompleted;
import static dev.millrace.agent.core.TaskEvents.suspend;
import static dev.millrace.agent.core.TaskEvents.toolFailed;
import static dev.millrace.agent.core.TransitionRow.discard;
import static dev.millrace.agent.core.TransitionRow.row;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.Effect.Append;
import dev.millrace.agent.core.Effect.CallModel;
import dev.millrace.agent.core.Effect.CallTool;
import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Effect.RequestAdmission;
import dev.millrace.agent.core.Effect.SettleModelCall;
import dev.millrace.agent.core.TaskState.Question;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Call;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each legal move and each discard worth naming, one per line. Suspension is in {@link TaskFsmSuspensionTest}, limits are
 * in {@link TaskFsmLimitsTest}. Call ids of states under test are made up ({@code m1}, {@code c1}); those that the machine
 * makes are spelled out by {@link TaskEvents#callId}.
 */
class TaskFsmTest {

    private static final String NOT_RUN = "{\"cancelled\":true,\"reason\":\"interrupted by the user\"}";
    private static final String CUT_OFF = "The answer is\n\n" + Turns.CUT_OFF;

    @ParameterizedTest
    @MethodSource({"starting", "reasoning", "acting", "completed", "ended"})
    void shouldMove(TransitionRow row) {
        row.check();
    }

    static Stream<TransitionRow> starting() {
        return Stream.of(
                row(
                        "F-061, F-064, F-141: input for no task → IDLE, the input is entry 0 and the task gets in line",
                        TaskState.ABSENT,
                        firstInput("Hi"),
                        aTask().idle(),
                        new Append(0, List.of(new UserText("Hi"))),
                        new RequestAdmission()),
                discard("F-066: a resume for no task", TaskState.ABSENT, resumeWith("more"), UNKNOWN_TASK),
                discard("F-066: a reply for no task", TaskState.ABSENT, answered("m1", "Hello"), UNKNOWN_TASK),
                discard("F-066: a cancel for no task", TaskState.ABSENT, cancel("no"), UNKNOWN_TASK),
                row(
                        "X-13: IDLE, admitted → the task is announced",
                        aTask().idle(),
                        admitted(),
                        aTask().announced(),
                        new FollowUp(new Fact.Created("general"))),
                row(
                        "F-067, F-074, F-127: IDLE, created → REASONING, the first model call goes out",
                        aTask().idle(),
                        created(),
                        aTask().iteration(1).reasoning(callId(1, 0, 1)),
                        new CallModel(callId(1, 0, 1), 1)),
                row(
                        "DESIGN §4: IDLE, cancel → CANCELLED",
                        aTask().idle(),
                        cancel("changed my mind"),
                        aTask().cancelled("changed my mind"),
                        new Publish(new Fact.Cancelled("changed my mind"))),
                row(
                        "F-257: IDLE, interrupted → CANCELLED; nothing was begun, so nothing is said of it",
                        aTask().idle(),
                        interrupt(null),
                        aTask().cancelled("stop"),
                        new Publish(new Fact.Cancelled("stop"))),
                row(
                        "F-135: IDLE, declared failed → FAILED; the declaration itself is the fact",
                        aTask().idle(),
                        declareFailed(),
                        aTask().failed(ERROR)),
                discard("F-134: a suspend for IDLE", aTask().idle(), suspend("lunch"), NOT_SUSPENDABLE),
                discard("F-189: the starting input twice", aTask().idle(), firstInput("Hi"), DUPLICATE),
                discard("a further message for IDLE", aTask().idle(), input("And?"), NOT_WAITING));
    }

    static Stream<TransitionRow> reasoning() {
        return Stream.of(
                row(
                        "F-128, F-086: REASONING, direct answer → ACTING with one respond step, done in the same breath",
                        aTask().reasoningAt(1),
                        answered("m1", "Hello"),
                        aTask().iteration(1).used(10, 5).transcript(2, 7).acting(response("Hello")),
                        new SettleModelCall("m1"),
                        new Append(1, List.of(new AssistantTurn("Hello", List.of()))),
                        new FollowUp(new Fact.StepDone(0, 1))),
                row(
                        "F-073: REASONING, an answer of nothing → ACTING all the same",
                        aTask().reasoningAt(1),
                        answered("m1", null),
                        aTask().iteration(1).used(10, 5).transcript(2, 2).acting(response(null)),
                        new SettleModelCall("m1"),
                        new Append(1, List.of(new AssistantTurn(null, List.of()))),
                        new FollowUp(new Fact.StepDone(0, 1))),
                row(
                        "F-085, F-089, F-091: REASONING, a tool call → ACTING, the call goes out",
                        aTask().reasoningAt(1),
                        called("m1", "Let me see.", run("p1", "search", "{\"q\":1}")),
                        aTask().iteration(1)
                                .used(10, 5)
                                .transcript(2, 2 + 11 + 6 + 7)
                                .acting(new Plan.CallStep(0, callId(1, 1, 1), "p1", "search", requested(null))),
                        new SettleModelCall("m1"),
                        new Append(
                                1,
                                List.of(new AssistantTurn(
                                        "Let me see.", List.of(new Call("p1", "search", "{\"q\":1}"))))),
                        new CallTool(callId(1, 1, 1), 0, "p1", "search", "{\"q\":1}", "general", 5_000)),
                row(
                        "X-45, F-269: REASONING, two tool calls → ACTING, both go out at once",
                        aTask().reasoningAt(1),
                        called("m1", null, run("p1", "search", "{}"), run("p2", "fetch", "{}")),
                        aTask().iteration(1)
                                .used(10, 5)
                                .transcript(2, 2 + 8 + 7)
                                .acting(
                                        new Plan.CallStep(0, callId(1, 1, 1), "p1", "search", requested(null)),
                                        new Plan.CallStep(1, callId(1, 2, 1), "p2", "fetch", requested(null))),
                        new SettleModelCall("m1"),
                        new Append(
                                1,
                                List.of(new AssistantTurn(
                                        null, List.of(new Call("p1", "search", "{}"), new Call("p2", "fetch", "{}"))))),
                        new CallTool(callId(1, 1, 1), 0, "p1", "search", "{}", "general", 5_000),
                        new CallTool(callId(1, 2, 1), 1, "p2", "fetch", "{}", "general", 5_000)),
                row(
                        "F-154: REASONING, a call outside the agent's tools → refused as a tool result, never run",
                        aTask().reasoningAt(1),
                        called("m1", null, refused("p1", "http_post", "tool_not_available", "not for you")),
                        aTask().iteration(1)
                                .used(10, 5)
                                .transcript(2, 2 + 9 + 2)
                                .acting(new Plan.CallStep(
                                        0, callId(1, 1, 1), "p1", "http_post", Plan.Requested.OF_NOBODY)),
                        new SettleModelCall("m1"),
                        new Append(1, List.of(new AssistantTurn(null, List.of(new Call("p1", "http_post", "{}"))))),
                        new FollowUp(new Fact.ToolRefused(
                                callId(1, 1, 1), "http_post", "tool_not_available", "not for you"))),
                row(
                        "F-090, F-154: REASONING, malformed arguments, a good call and a refused one → each by its own way",
                        aTask().reasoningAt(2),
                        called(
                                "m2",
                                null,
                                refused("p1", "fetch", "invalid_json_arguments", "no JSON"),
                                run("p2", "search", "{}"),
                                refused("p3", "shell", "tool_not_found", "Tool \"shell\" not found")),
                        aTask().iteration(2)
                                .used(10, 5)
                                .transcript(2, 2 + 7 + 8 + 7)
                                .acting(
                                        new Plan.CallStep(0, callId(2, 1, 1), "p1", "fetch", Plan.Requested.OF_NOBODY),
                                        new Plan.CallStep(1, callId(2, 2, 1), "p2", "search", requested(null)),
                                        new Plan.CallStep(2, callId(2, 3, 1), "p3", "shell", Plan.Requested.OF_NOBODY)),
                        new SettleModelCall("m2"),
                        new Append(
                                1,
                                List.of(new AssistantTurn(
                                        null,
                                        List.of(
                                                new Call("p1", "fetch", "{}"),
                                                new Call("p2", "search", "{}"),
                                                new Call("p3", "shell", "{}"))))),
                        new FollowUp(
                                new Fact.ToolRefused(callId(2, 1, 1), "fetch", "invalid_json_arguments", "no JSON")),
                        new CallTool(callId(2, 2, 1), 1, "p2", "search", "{}", "general", 5_000),
                        new FollowUp(new Fact.ToolRefused(
                                callId(2, 3, 1), "shell", "tool_not_found", "Tool \"shell\" not found"))),
                row(
                        "F-082, F-129, X-11: REASONING, a question in plain words → SUSPENDED, the question is published",
                        aTask().reasoningAt(1),
                        asked("m1", "Which?"),
                        TaskBuilder.asking(
                                aTask().iteration(1)
                                        .used(10, 5)
                                        .transcript(2, 8)
                                        .reasoning("m1"),
                                new Question("Which?", null, List.of())),
                        new SettleModelCall("m1"),
                        new Append(1, List.of(new AssistantTurn("Which?", List.of()))),
                        new Publish(new Fact.Asked("Which?"))),
                row(
                        "X-11: REASONING, ask_user beside another tool call → SUSPENDED, the other call does not run",
                        aTask().reasoningAt(1),
                        asked("m1", "Which?", "p1", run("p1", "ask_user", "{}"), run("p2", "search", "{}")),
                        TaskBuilder.asking(
                                aTask().iteration(1)
                                        .used(10, 5)
                                        .transcript(2, 2 + 10 + 8)
                                        .reasoning("m1"),
                                new Question("Which?", "p1", List.of(new Call("p2", "search", "{}")))),
                        new SettleModelCall("m1"),
                        new Append(
                                1,
                                List.of(new AssistantTurn(
                                        null,
                                        List.of(new Call("p1", "ask_user", "{}"), new Call("p2", "search", "{}"))))),
                        new Publish(new Fact.Asked("Which?"))),
                row(
                        "X-11: a question by a tool call that the reply does not have counts as plain words",
                        aTask().reasoningAt(1),
                        asked("m1", "Which?", "p9"),
                        TaskBuilder.asking(
                                aTask().iteration(1)
                                        .used(10, 5)
                                        .transcript(2, 8)
                                        .reasoning("m1"),
                                new Question("Which?", null, List.of())),
                        new SettleModelCall("m1"),
                        new Append(1, List.of(new AssistantTurn("Which?", List.of()))),
                        new Publish(new Fact.Asked("Which?"))),
                row(
                        "F-070, F-072: REASONING, the model call failed for good → FAILED",
                        aTask().reasoningAt(3),
                        modelFailed("m3"),
                        aTask().iteration(3).failed(ERROR),
                        new SettleModelCall("m3"),
                        new Publish(new Fact.Failed(ERROR, 3, Usage.NONE))),
                row(
                        "F-123, F-134, F-137: REASONING, suspend → SUSPENDED; the call stays out, its reply will count",
                        aTask().reasoningAt(1),
                        suspend("lunch"),
                        suspended(aTask().reasoningAt(1))),
                row(
                        "DESIGN §4: REASONING, cancel → CANCELLED, the call is aborted",
                        aTask().reasoningAt(1),
                        cancel("enough"),
                        aTask().iteration(1).cancelled("enough"),
                        new SettleModelCall("m1"),
                        new Publish(new Fact.Cancelled("enough"))),
                row(
                        "F-257: REASONING, interrupted → CANCELLED; what the model had said is kept, and the user is told",
                        aTask().reasoningAt(1),
                        interrupt("The answer is "),
                        aTask().iteration(1)
                                .transcript(3, 2 + CUT_OFF.length() + Turns.NOTICE.length())
                                .cancelled("stop"),
                        new SettleModelCall("m1"),
                        new Append(1, List.of(new AssistantTurn(CUT_OFF, List.of()), new UserText(Turns.NOTICE))),
                        new Publish(new Fact.Cancelled("stop", CUT_OFF, Turns.NOTICE))),
                row(
                        "F-257: REASONING, interrupted before the model has said anything → a placeholder",
                        aTask().reasoningAt(1),
                        interrupt(null),
                        aTask().iteration(1)
                                .transcript(3, 2 + Turns.CUT_OFF.length() + Turns.NOTICE.length())
                                .cancelled("stop"),
                        new SettleModelCall("m1"),
                        new Append(1, List.of(new AssistantTurn(Turns.CUT_OFF, List.of()), new UserText(Turns.NOTICE))),
                        new Publish(new Fact.Cancelled("stop", Turns.CUT_OFF, Turns.NOTICE))),
                row(
                        "F-135: REASONING, declared failed → FAILED, the call is aborted",
                        aTask().reasoningAt(1),
                        declareFailed(),
                        aTask().iteration(1).failed(ERROR),
                        new SettleModelCall("m1")),
                discard("a reply to an earlier call", aTask().reasoningAt(2), answered("m1", "old"), STALE_CALL),
                discard("a question from an earlier call", aTask().reasoningAt(2), asked("m1", "old?"), STALE_CALL),
                discard("the failure of an earlier call", aTask().reasoningAt(2), modelFailed("m1"), STALE_CALL),
                discard("a tool result nobody waits for", aTask().reasoningAt(2), returned("c1", "1"), STALE_CALL),
                discard("a step that is not open", aTask().reasoningAt(2), stepCompleted(0), STALE_CALL),
                discard("admitted twice", aTask().reasoningAt(1), created(), DUPLICATE),
                discard("the starting input twice", aTask().reasoningAt(1), firstInput("Hi"), DUPLICATE),
                discard("a message for a running task", aTask().reasoningAt(1), input("And?"), NOT_WAITING),
                discard("a resume of a running task", aTask().reasoningAt(1), resumeWith("And?"), NOT_WAITING));
    }

    static Stream<TransitionRow> acting() {
        return Stream.of(
                row(
                        "F-088, F-130, X-45: ACTING, one of two results → ACTING, no model call",
                        aTask().iteration(1).transcript(2, 20).acting(open(0, "c1", "search"), open(1, "c2", "fetch")),
                        returned("c2", "[1,2]"),
                        aTask().iteration(1)
                                .transcript(3, 25)
                                .actions(1)
                                .acting(open(0, "c1", "search"), done(1, "c2", "fetch")),
                        new Append(2, List.of(new ToolResult("p-c2", "fetch", "[1,2]", false)))),
                row(
                        "F-088, F-130, X-45: ACTING, the last result → REASONING, one model call for all of them",
                        aTask().iteration(1)
                                .transcript(3, 25)
                                .actions(1)
                                .acting(open(0, "c1", "search"), done(1, "c2", "fetch")),
                        returned("c1", "{}"),
                        aTask().iteration(2).transcript(4, 27).actions(2).reasoning(callId(2, 0, 4)),
                        new Append(3, List.of(new ToolResult("p-c1", "search", "{}", false))),
                        new CallModel(callId(2, 0, 4), 2)),
                row(
                        "F-091, F-130: ACTING, the only tool failed → REASONING, the model sees the error",
                        aTask().iteration(1).transcript(2, 20).acting(open(0, "c1", "search")),
                        toolFailed("c1", "no net"),
                        aTask().iteration(2).transcript(3, 33).actions(1).reasoning(callId(2, 0, 3)),
                        new Append(2, List.of(new ToolResult("p-c1", "search", "Error: no net", true))),
                        new CallModel(callId(2, 0, 3), 2)),
                row(
                        "F-115, F-116: ACTING, a notify call → published at once, the task goes on",
                        aTask().iteration(1).transcript(2, 20).acting(open(0, "c1", "notify")),
                        notified("c1", "halfway"),
                        aTask().iteration(2).transcript(3, 33).actions(1).reasoning(callId(2, 0, 3)),
                        new Append(2, List.of(new ToolResult("p-c1", "notify", "{\"sent\":true}", false))),
                        new Publish(new Fact.Notified("halfway")),
                        new CallModel(callId(2, 0, 3), 2)),
                row(
                        "ACTING, a worker says notify to the call of another tool → nothing is published",
                        aTask().iteration(1).transcript(2, 20).acting(open(0, "c1", "search")),
                        notified("c1", "halfway"),
                        aTask().iteration(2).transcript(3, 33).actions(1).reasoning(callId(2, 0, 3)),
                        new Append(2, List.of(new ToolResult("p-c1", "search", "{\"sent\":true}", false))),
                        new CallModel(callId(2, 0, 3), 2)),
                row(
                        "F-116: ACTING, a notify call that failed → nothing is published",
                        aTask().iteration(1).transcript(2, 20).acting(open(0, "c1", "notify")),
                        new TaskEvent.ToolReturned(
                                meta("e"), "c1", "no", true, new TaskEvent.Notice("halfway"), Usage.NONE),
                        aTask().iteration(2).transcript(3, 29).actions(1).reasoning(callId(2, 0, 3)),
                        new Append(2, List.of(new ToolResult("p-c1", "notify", "Error: no", true))),
                        new CallModel(callId(2, 0, 3), 2)),
                row(
                        "F-069, F-073, F-088: ACTING, the response is given → COMPLETED, published once",
                        aTask().iteration(2)
                                .used(30, 10)
                                .actions(3)
                                .input(4)
                                .transcript(9, 90)
                                .acting(response("42")),
                        stepCompleted(0),
                        aTask().iteration(2)
                                .used(30, 10)
                                .actions(4)
                                .input(4)
                                .transcript(9, 90)
                                .completed(),
                        new Publish(new Fact.Completed(4, "42", 2, 4, new Usage(30, 10, 0)))),
                row(
                        "F-123, F-134: ACTING, suspend → SUSPENDED; results will count",
                        aTask().iteration(1).acting(open(0, "c1", "search")),
                        suspend("lunch"),
                        suspended(aTask().iteration(1).acting(open(0, "c1", "search")))),
                row(
                        "DESIGN §4: ACTING, cancel → CANCELLED",
                        aTask().iteration(1).acting(open(0, "c1", "search")),
                        cancel("enough"),
                        aTask().iteration(1).transcript(2, 2 + NOT_RUN.length()).cancelled("enough"),
                        new Append(1, List.of(new ToolResult("p-c1", "search", NOT_RUN, true))),
                        new Publish(new Fact.Cancelled("enough"))),
                row(
                        "F-257: ACTING, interrupted → CANCELLED; the open call says so, then a placeholder",
                        aTask().iteration(1).acting(open(0, "c1", "search")),
                        interrupt(null),
                        aTask().iteration(1)
                                .transcript(4, 2 + NOT_RUN.length() + Turns.CUT_OFF.length() + Turns.NOTICE.length())
                                .cancelled("stop"),
                        new Append(
                                1,
                                List.of(
                                        new ToolResult("p-c1", "search", NOT_RUN, true),
                                        new AssistantTurn(Turns.CUT_OFF, List.of()),
                                        new UserText(Turns.NOTICE))),
                        new Publish(new Fact.Cancelled("stop", Turns.CUT_OFF, Turns.NOTICE))),
                row(
                        "F-257: ACTING, interrupted after the model has answered → no second answer",
                        aTask().iteration(1).transcript(2, 7).acting(response("Hello")),
                        interrupt(null),
                        aTask().iteration(1)
                                .transcript(3, 7 + Turns.NOTICE.length())
                                .cancelled("stop"),
                        new Append(2, List.of(new UserText(Turns.NOTICE))),
                        new Publish(new Fact.Cancelled("stop", null, Turns.NOTICE))),
                row(
                        "F-135: ACTING, declared failed → FAILED",
                        aTask().iteration(1).acting(open(0, "c1", "search")),
                        declareFailed(),
                        aTask().iteration(1).failed(ERROR)),
                discard(
                        "a result that is in already",
                        aTask().iteration(1).acting(open(0, "c1", "search"), done(1, "c2", "fetch")),
                        returned("c2", "[]"),
                        STALE_CALL),
                discard(
                        "a result of a call that nobody made",
                        aTask().iteration(1).acting(open(0, "c1", "search")),
                        returned("c9", "[]"),
                        STALE_CALL),
                discard(
                        "F-145: a step that the plan does not have",
                        aTask().iteration(1).acting(response("42")),
                        stepCompleted(1),
                        STALE_CALL),
                discard(
                        "a tool step is done by its result, not by STEP_COMPLETED",
                        aTask().iteration(1).acting(open(0, "c1", "search")),
                        stepCompleted(0),
                        STALE_CALL),
                discard(
                        "the reply that led here, again",
                        aTask().iteration(1).acting(open(0, "c1", "search")),
                        answered("m1", "x"),
                        STALE_CALL),
                discard(
                        "a message for a running task",
                        aTask().iteration(1).acting(open(0, "c1", "search")),
                        input("And?"),
                        NOT_WAITING),
                discard(
                        "a resume of a running task",
                        aTask().iteration(1).acting(open(0, "c1", "search")),
                        resume(),
                        NOT_WAITING));
    }

    static Stream<TransitionRow> completed() {
        return Stream.of(
                row(
                        "F-117, F-148, X-04, X-13: COMPLETED, resumed with new input → in line again, iterations anew",
                        aTask().iteration(7)
                                .used(500, 100)
                                .actions(9)
                                .transcript(20, 400)
                                .completed(),
                        resumeWith("And now?"),
                        aTask().used(500, 100)
                                .actions(9)
                                .input(20)
                                .transcript(21, 408)
                                .announced(),
                        new Append(20, List.of(new UserText("And now?"))),
                        new RequestAdmission()),
                row(
                        "F-133: admitted again → REASONING, without being announced a second time",
                        aTask().used(500, 100)
                                .actions(9)
                                .input(20)
                                .transcript(21, 408)
                                .announced(),
                        admitted(),
                        aTask().iteration(1)
                                .used(500, 100)
                                .actions(9)
                                .input(20)
                                .transcript(21, 408)
                                .reasoning(callId(1, 0, 21)),
                        new CallModel(callId(1, 0, 21), 1)),
                discard("F-117: a resume without input", aTask().completed(), resume(), NOT_WAITING),
                discard("F-133: a message", aTask().completed(), input("And?"), TASK_COMPLETED),
                discard("F-133: the starting input twice", aTask().completed(), firstInput("Hi"), DUPLICATE),
                discard("F-133: a suspend", aTask().completed(), suspend("lunch"), TASK_COMPLETED),
                discard("F-133: a cancel", aTask().completed(), cancel("late"), TASK_COMPLETED),
                discard("F-135: declared failed", aTask().completed(), declareFailed(), TASK_COMPLETED),
                discard("a late reply", aTask().completed(), answered("m1", "x"), STALE_CALL),
                discard("a late result", aTask().completed(), returned("c1", "1"), STALE_CALL),
                discard("the response step again", aTask().completed(), stepCompleted(0), STALE_CALL));
    }

    static Stream<TransitionRow> ended() {
        return Stream.of(
                discard("F-136: FAILED, a resume", aTask().failed(ERROR), resumeWith("again"), TASK_ENDED),
                discard("F-136: FAILED, a late reply", aTask().failed(ERROR), answered("m1", "x"), TASK_ENDED),
                discard("F-136: FAILED, failed again", aTask().failed(ERROR), declareFailed(), TASK_ENDED),
                discard("CANCELLED, a late result", aTask().cancelled("no"), returned("c1", "1"), TASK_ENDED),
                discard("CANCELLED, a resume", aTask().cancelled("no"), resumeWith("again"), TASK_ENDED),
                discard("CANCELLED, a cancel", aTask().cancelled("no"), cancel("no"), TASK_ENDED));
    }

    @Test
    @DisplayName("DESIGN §4: a call id names task, iteration and ordinal, and follows from the causing event")
    void shouldDeriveCallIds() {
        // given
        TaskContext context = aTask().iteration(3).transcript(12, 100).context();

        // when
        String id = context.callId(2, meta("e"));

        // then
        assertThat(id).isEqualTo("t1/3/2-12-00000065");
    }

    @Test
    @DisplayName("DESIGN §4: call ids differ even when the ids of two resumes have the same hash")
    void shouldGiveEachCallItsOwnId() {
        // given
        TaskFsm fsm = new TaskFsm(MachineLimits.DEFAULT);
        TaskState state = aTask().transcript(2, 4).completed();
        Set<String> ids = new HashSet<>();

        // when
        for (String eventId : List.of("resume-Aa", "resume-BB")) { // "Aa".hashCode() == "BB".hashCode()
            Meta meta = new Meta(eventId, "t1", Instant.EPOCH, TaskEvents.NOW_MS);
            TaskState waiting = fsm.transition(state, new TaskEvent.TaskResumed(meta, "again", TaskLimits.UNLIMITED))
                    .next();
            TaskState reasoning = fsm.transition(waiting, new TaskEvent.Admitted(meta, Usage.NONE))
                    .next();
            String asked = awaitingOf(reasoning);
            TaskState acting = fsm.transition(reasoning, answered(asked, "ok")).next();
            state = fsm.transition(acting, stepCompleted(0)).next();
            ids.add(asked);
        }

        // then
        assertThat(ids).hasSize(2);
    }

    @Test
    @DisplayName("Usage that would overflow stays at the largest number, so that no reply turns a limit off")
    void shouldNotOverflowUsage() {
        // given
        Usage all = new Usage(Long.MAX_VALUE, Long.MAX_VALUE, 0);

        // when
        Usage sum = all.plus(new Usage(1, 1, 0));

        // then
        assertThat(sum).isEqualTo(all);
        assertThat(sum.total()).isEqualTo(Long.MAX_VALUE);
    }

    private static String awaitingOf(TaskState state) {
        return ((TaskState.Reasoning) state).awaiting();
    }
}
