package dev.millrace.agent.core;

import static dev.millrace.agent.core.DiscardReason.DUPLICATE;
import static dev.millrace.agent.core.DiscardReason.NOT_SUSPENDABLE;
import static dev.millrace.agent.core.DiscardReason.NOT_WAITING;
import static dev.millrace.agent.core.DiscardReason.STALE_CALL;
import static dev.millrace.agent.core.TaskBuilder.aTask;
import static dev.millrace.agent.core.TaskBuilder.asking;
import static dev.millrace.agent.core.TaskBuilder.done;
import static dev.millrace.agent.core.TaskBuilder.keeping;
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
import static dev.millrace.agent.core.TaskEvents.modelFailed;
import static dev.millrace.agent.core.TaskEvents.notified;
import static dev.millrace.agent.core.TaskEvents.resume;
import static dev.millrace.agent.core.TaskEvents.resumeWith;
import static dev.millrace.agent.core.TaskEvents.returned;
import static dev.millrace.agent.core.TaskEvents.run;
import static dev.millrace.agent.core.TaskEvents.stepCompleted;
import static dev.millrace.agent.core.TaskEvents.suspend;
import static dev.millrace.agent.core.TransitionRow.discard;
import static dev.millrace.agent.core.TransitionRow.row;

import dev.millrace.agent.core.Effect.Append;
import dev.millrace.agent.core.Effect.CallModel;
import dev.millrace.agent.core.Effect.CallTool;
import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Effect.RequestAdmission;
import dev.millrace.agent.core.Effect.SettleModelCall;
import dev.millrace.agent.core.TaskState.KeptReply;
import dev.millrace.agent.core.TaskState.Question;
import dev.millrace.agent.core.TaskState.Said;
import dev.millrace.agent.core.TaskState.Suspended;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Call;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a suspended task does: what arrives meanwhile counts, and a message may be what it waits for. */
class TaskFsmSuspensionTest {

    private static final String NOT_RUN = "{\"cancelled\":true,\"reason\":\"interrupted by the user\"}";
    private static final String ASKED_FIRST =
            "{\"cancelled\":true,\"reason\":\"not run, because the user was asked a question first\"}";

    /** Suspended while it waited for {@code m1}. */
    private static final Suspended IN_REASONING = suspended(aTask().reasoningAt(1));

    /** Suspended while it waited for {@code c1}; {@code c2} is in. */
    private static final Suspended IN_ACTING = suspended(
            aTask().iteration(1).transcript(3, 30).actions(1).acting(open(0, "c1", "search"), done(1, "c2", "fetch")));

    /** The model asked in plain words. */
    private static final Suspended ASKING =
            asking(aTask().iteration(1).transcript(2, 8).reasoning("m1"), new Question("Which?", null, List.of()));

    /** The model asked by the call {@code p1} and wanted {@code p2} as well. */
    private static final Suspended ASKING_BY_TOOL = asking(
            aTask().iteration(1).transcript(2, 20).reasoning("m1"),
            new Question("Which?", "p1", List.of(new Call("p2", "search", "{}"))));

    @ParameterizedTest
    @MethodSource({"meanwhile", "reasons", "goingOn", "newInput", "answers", "ends", "discards"})
    void shouldMove(TransitionRow row) {
        row.check();
    }

    /** How it goes on once it is admitted, after this event has given it a reason to. */
    private static TransitionRow admittedAfter(
            String name, Suspended state, TaskEvent event, TaskState next, Effect... effects) {
        String said =
                switch (event) {
                    case TaskEvent.InputReceived e -> e.text();
                    case TaskEvent.TaskResumed e -> e.newInput();
                    default -> throw new AssertionError("no reason to go on: " + event);
                };
        return row(
                name,
                said == null ? TaskBuilder.goingOn(state) : TaskBuilder.goingOn(state, said),
                admitted(),
                next,
                effects);
    }

    static Stream<TransitionRow> meanwhile() {
        return Stream.of(
                row(
                        "X-09: the awaited answer comes while SUSPENDED → kept, paid for, not acted on",
                        IN_REASONING,
                        answered("m1", "Hello"),
                        keeping(
                                aTask().iteration(1).used(10, 5).reasoning("m1"),
                                new KeptReply("Hello", List.of(), false)),
                        new SettleModelCall("m1")),
                row(
                        "X-09: awaited tool calls come while SUSPENDED → kept, none runs",
                        IN_REASONING,
                        called("m1", null, run("p1", "search", "{}")),
                        keeping(
                                aTask().iteration(1).used(10, 5).reasoning("m1"),
                                new KeptReply(null, List.of(run("p1", "search", "{}")), false)),
                        new SettleModelCall("m1")),
                row(
                        "X-09: the model asks while SUSPENDED → still suspended, now for an answer",
                        IN_REASONING,
                        asked("m1", "Which?"),
                        new Suspended(
                                aTask().iteration(1)
                                        .used(10, 5)
                                        .transcript(2, 8)
                                        .reasoning("m1"),
                                "lunch",
                                true,
                                null,
                                new Question("Which?", null, List.of()),
                                null),
                        new SettleModelCall("m1"),
                        new Append(1, List.of(new AssistantTurn("Which?", List.of()))),
                        new Publish(new Fact.Asked("Which?"))),
                row(
                        "X-09: a tool result comes while SUSPENDED → recorded, no model call",
                        IN_ACTING,
                        returned("c1", "{}"),
                        suspended(aTask().iteration(1)
                                .transcript(4, 32)
                                .actions(2)
                                .acting(done(0, "c1", "search"), done(1, "c2", "fetch"))),
                        new Append(3, List.of(new ToolResult("p-c1", "search", "{}", false)))),
                row(
                        "X-09, F-115: a notification while SUSPENDED is still told",
                        suspended(aTask().iteration(1).transcript(2, 20).acting(open(0, "c1", "notify"))),
                        notified("c1", "halfway"),
                        suspended(aTask().iteration(1)
                                .transcript(3, 33)
                                .actions(1)
                                .acting(done(0, "c1", "notify"))),
                        new Append(2, List.of(new ToolResult("p-c1", "notify", "{\"sent\":true}", false))),
                        new Publish(new Fact.Notified("halfway"))));
    }

    static Stream<TransitionRow> reasons() {
        return Stream.of(
                row(
                        "X-13: resumed → it has given its place away and asks for one again",
                        IN_REASONING,
                        resume(),
                        TaskBuilder.goingOn(IN_REASONING),
                        new RequestAdmission()),
                row(
                        "X-10, X-13: a message → the same, and the message is kept",
                        IN_ACTING,
                        input("Wait!"),
                        TaskBuilder.goingOn(IN_ACTING, "Wait!"),
                        new RequestAdmission()),
                row(
                        "X-10: the answer to a question → the same",
                        ASKING,
                        input("Both"),
                        TaskBuilder.goingOn(ASKING, "Both"),
                        new RequestAdmission()),
                row(
                        "X-10: a second message while it waits for admission is kept, too; it is in line already",
                        TaskBuilder.goingOn(ASKING, new Said("e0", "Both")),
                        input("Quickly"),
                        TaskBuilder.goingOn(ASKING, new Said("e0", "Both"), new Said("e", "Quickly"))),
                discard(
                        "F-189: the same message twice while it waits for admission",
                        TaskBuilder.goingOn(ASKING, "Both"),
                        input("Both"),
                        DUPLICATE),
                discard("no answer: a plain resume of a question that is open", ASKING, resume(), NOT_WAITING),
                row(
                        "suspended by hand while a question is open → it waits for both",
                        ASKING,
                        suspend("lunch"),
                        new Suspended(ASKING.from(), "lunch", true, null, ASKING.question(), null)),
                row(
                        "resumed, and the question is still open → it waits for the answer",
                        new Suspended(ASKING.from(), "lunch", true, null, ASKING.question(), null),
                        resume(),
                        ASKING),
                row(
                        "suspended again while it waits for admission → it is not admitted",
                        TaskBuilder.goingOn(IN_ACTING),
                        suspend("dinner"),
                        new Suspended(IN_ACTING.from(), "dinner", true, null, null, null)),
                discard(
                        "F-134: suspended again after it was told something → that is not put off",
                        TaskBuilder.goingOn(IN_ACTING, "Wait!"),
                        suspend("dinner"),
                        NOT_SUSPENDABLE),
                row(
                        "X-09: a result while it waits for admission → recorded",
                        TaskBuilder.goingOn(IN_ACTING),
                        returned("c1", "{}"),
                        TaskBuilder.goingOn(suspended(aTask().iteration(1)
                                .transcript(4, 32)
                                .actions(2)
                                .acting(done(0, "c1", "search"), done(1, "c2", "fetch")))),
                        new Append(3, List.of(new ToolResult("p-c1", "search", "{}", false)))),
                row(
                        "X-11: a question that has been overtaken by a message is part of the conversation",
                        TaskBuilder.goingOn(IN_REASONING, "Wait!"),
                        asked("m1", "Which?"),
                        TaskBuilder.goingOn(
                                keeping(
                                        aTask().iteration(1).used(10, 5).reasoning("m1"),
                                        new KeptReply("Which?", List.of(), false)),
                                "Wait!"),
                        new SettleModelCall("m1")),
                discard("admitted, but nobody asked for it", IN_ACTING, admitted(), DUPLICATE));
    }

    static Stream<TransitionRow> goingOn() {
        return Stream.of(
                admittedAfter(
                        "F-131: resumed into REASONING, the call is still out → waits on, no second call",
                        IN_REASONING,
                        resume(),
                        aTask().reasoningAt(1)),
                admittedAfter(
                        "X-09: resumed into REASONING with an answer kept → ACTING, no second model call",
                        keeping(
                                aTask().iteration(1).used(10, 5).reasoning("m1"),
                                new KeptReply("Hello", List.of(), false)),
                        resume(),
                        aTask().iteration(1).used(10, 5).transcript(2, 7).acting(response("Hello")),
                        new Append(1, List.of(new AssistantTurn("Hello", List.of()))),
                        new FollowUp(new Fact.StepDone(0, 1))),
                admittedAfter(
                        "X-09: resumed into REASONING with tool calls kept → ACTING, they run now",
                        keeping(
                                aTask().iteration(1).used(10, 5).reasoning("m1"),
                                new KeptReply(null, List.of(run("p1", "search", "{}")), false)),
                        resume(),
                        aTask().iteration(1)
                                .used(10, 5)
                                .transcript(2, 10)
                                .acting(new Plan.CallStep(0, callId(1, 1, 1), "p1", "search", requested(null))),
                        new Append(1, List.of(new AssistantTurn(null, List.of(new Call("p1", "search", "{}"))))),
                        new CallTool(callId(1, 1, 1), 0, "p1", "search", "{}", "general", 5_000)),
                admittedAfter(
                        "F-131, X-09: resumed into ACTING with results missing → waits on",
                        IN_ACTING,
                        resume(),
                        IN_ACTING.from()),
                admittedAfter(
                        "X-09: resumed into ACTING with all results in → REASONING by the completion rule",
                        suspended(aTask().iteration(1)
                                .transcript(4, 32)
                                .actions(2)
                                .acting(done(0, "c1", "search"), done(1, "c2", "fetch"))),
                        resume(),
                        aTask().iteration(2).transcript(4, 32).actions(2).reasoning(callId(2, 0, 4)),
                        new CallModel(callId(2, 0, 4), 2)));
    }

    static Stream<TransitionRow> newInput() {
        return Stream.of(
                admittedAfter(
                        "F-132, X-10: a message while the model call is out → that call is dropped, a new one made",
                        IN_REASONING,
                        input("Wait!"),
                        aTask().iteration(2).transcript(2, 7).reasoning(callId(2, 0, 2)),
                        new SettleModelCall("m1"),
                        new Append(1, List.of(new UserText("Wait!"))),
                        new CallModel(callId(2, 0, 2), 2)),
                admittedAfter(
                        "X-10: resumed with new input is the same as a message",
                        IN_REASONING,
                        resumeWith("Wait!"),
                        aTask().iteration(2).transcript(2, 7).reasoning(callId(2, 0, 2)),
                        new SettleModelCall("m1"),
                        new Append(1, List.of(new UserText("Wait!"))),
                        new CallModel(callId(2, 0, 2), 2)),
                admittedAfter(
                        "X-09, X-10: a message with an answer kept → the answer stays in the transcript, before the message",
                        keeping(
                                aTask().iteration(1).used(10, 5).reasoning("m1"),
                                new KeptReply("Hello", List.of(), false)),
                        input("Wait!"),
                        aTask().iteration(2).used(10, 5).transcript(3, 12).reasoning(callId(2, 0, 3)),
                        new Append(1, List.of(new AssistantTurn("Hello", List.of()), new UserText("Wait!"))),
                        new CallModel(callId(2, 0, 3), 2)),
                admittedAfter(
                        "X-10: a message with tool calls kept → they are closed as not run, before the message",
                        keeping(
                                aTask().iteration(1).used(10, 5).reasoning("m1"),
                                new KeptReply(null, List.of(run("p1", "search", "{}")), false)),
                        input("Wait!"),
                        aTask().iteration(2)
                                .used(10, 5)
                                .transcript(4, 2 + 8 + NOT_RUN.length() + 5)
                                .reasoning(callId(2, 0, 4)),
                        new Append(
                                1,
                                List.of(
                                        new AssistantTurn(null, List.of(new Call("p1", "search", "{}"))),
                                        new ToolResult("p1", "search", NOT_RUN, true),
                                        new UserText("Wait!"))),
                        new CallModel(callId(2, 0, 4), 2)),
                admittedAfter(
                        "X-10: a message while a tool runs → its call is closed, before the message",
                        IN_ACTING,
                        input("Wait!"),
                        aTask().iteration(2)
                                .transcript(5, 30 + NOT_RUN.length() + 5)
                                .actions(1)
                                .reasoning(callId(2, 0, 5)),
                        new Append(3, List.of(new ToolResult("p-c1", "search", NOT_RUN, true), new UserText("Wait!"))),
                        new CallModel(callId(2, 0, 5), 2)));
    }

    static Stream<TransitionRow> answers() {
        return Stream.of(
                admittedAfter(
                        "F-132, X-10, X-11: the answer to a question in plain words is the next message",
                        ASKING,
                        input("Both"),
                        aTask().iteration(2).transcript(3, 12).reasoning(callId(2, 0, 3)),
                        new Append(2, List.of(new UserText("Both"))),
                        new CallModel(callId(2, 0, 3), 2)),
                admittedAfter(
                        "X-11: the answer to ask_user is its result; the other call is closed",
                        ASKING_BY_TOOL,
                        input("Both"),
                        aTask().iteration(2)
                                .transcript(4, 20 + 4 + ASKED_FIRST.length())
                                .reasoning(callId(2, 0, 4)),
                        new Append(
                                2,
                                List.of(
                                        new ToolResult("p1", "ask_user", "Both", false),
                                        new ToolResult("p2", "search", ASKED_FIRST, true))),
                        new CallModel(callId(2, 0, 4), 2)),
                admittedAfter(
                        "X-11: the answer in plain words to a reply that had tool calls too: results first",
                        asking(
                                aTask().iteration(1).transcript(2, 20).reasoning("m1"),
                                new Question("Which?", null, List.of(new Call("p2", "search", "{}")))),
                        resumeWith("Both"),
                        aTask().iteration(2)
                                .transcript(4, 20 + 4 + ASKED_FIRST.length())
                                .reasoning(callId(2, 0, 4)),
                        new Append(2, List.of(new ToolResult("p2", "search", ASKED_FIRST, true), new UserText("Both"))),
                        new CallModel(callId(2, 0, 4), 2)));
    }

    static Stream<TransitionRow> ends() {
        return Stream.of(
                row(
                        "the model call fails while SUSPENDED → FAILED",
                        IN_REASONING,
                        modelFailed("m1"),
                        aTask().iteration(1).failed(ERROR),
                        new SettleModelCall("m1"),
                        new Publish(new Fact.Failed(ERROR, 1, Usage.NONE))),
                row(
                        "SUSPENDED with a call out, cancel → CANCELLED, the call is aborted",
                        IN_REASONING,
                        cancel("enough"),
                        aTask().iteration(1).cancelled("enough"),
                        new SettleModelCall("m1"),
                        new Publish(new Fact.Cancelled("enough"))),
                row(
                        "SUSPENDED for an answer, cancel → CANCELLED, there is no call to abort",
                        ASKING,
                        cancel("enough"),
                        aTask().iteration(1).transcript(2, 8).cancelled("enough"),
                        new Publish(new Fact.Cancelled("enough"))),
                row(
                        "SUSPENDED for an answer, cancel → CANCELLED; the question by a tool is closed, and what else it"
                                + " wanted",
                        ASKING_BY_TOOL,
                        cancel("enough"),
                        aTask().iteration(1)
                                .transcript(4, 20 + NOT_RUN.length() + ASKED_FIRST.length())
                                .cancelled("enough"),
                        new Append(
                                2,
                                List.of(
                                        new ToolResult("p1", "ask_user", NOT_RUN, true),
                                        new ToolResult("p2", "search", ASKED_FIRST, true))),
                        new Publish(new Fact.Cancelled("enough"))),
                row(
                        "F-257: SUSPENDED for an answer, interrupted → CANCELLED; the question was the model's last word",
                        ASKING,
                        interrupt(null),
                        aTask().iteration(1)
                                .transcript(3, 8 + Turns.NOTICE.length())
                                .cancelled("stop"),
                        new Append(2, List.of(new UserText(Turns.NOTICE))),
                        new Publish(new Fact.Cancelled("stop", null, Turns.NOTICE))),
                row(
                        "F-257: SUSPENDED with a reply that was kept, interrupted → CANCELLED; it is said, and nothing else",
                        keeping(aTask().reasoningAt(1), new KeptReply("Hello", List.of(), false)),
                        interrupt("never shown"),
                        aTask().iteration(1)
                                .transcript(3, 2 + 5 + Turns.NOTICE.length())
                                .cancelled("stop"),
                        new Append(1, List.of(new AssistantTurn("Hello", List.of()), new UserText(Turns.NOTICE))),
                        new Publish(new Fact.Cancelled("stop", null, Turns.NOTICE))),
                row(
                        "F-135: SUSPENDED with a call out, declared failed → FAILED, the call is aborted",
                        IN_REASONING,
                        declareFailed(),
                        aTask().iteration(1).failed(ERROR),
                        new SettleModelCall("m1")));
    }

    static Stream<TransitionRow> discards() {
        return Stream.of(
                discard("a reply to another call", IN_REASONING, answered("m0", "old"), STALE_CALL),
                discard("a question from another call", IN_REASONING, asked("m0", "old?"), STALE_CALL),
                discard("the failure of another call", IN_REASONING, modelFailed("m0"), STALE_CALL),
                discard(
                        "the kept reply again",
                        keeping(aTask().reasoningAt(1), new KeptReply("Hello", List.of(), false)),
                        answered("m1", "Hello"),
                        STALE_CALL),
                discard("a reply after the question", ASKING, answered("m1", "Hello"), STALE_CALL),
                discard("the question again", ASKING, asked("m1", "Which?"), STALE_CALL),
                discard("a failure after the question", ASKING, modelFailed("m1"), STALE_CALL),
                discard("a recorded result again", IN_ACTING, returned("c2", "[]"), STALE_CALL),
                discard("a result while in REASONING", IN_REASONING, returned("c1", "[]"), STALE_CALL),
                discard("a reply while in ACTING", IN_ACTING, answered("m1", "x"), STALE_CALL),
                discard("a step", IN_ACTING, stepCompleted(0), STALE_CALL),
                discard("F-134: suspended twice", IN_ACTING, suspend("dinner"), NOT_SUSPENDABLE),
                discard("admitted twice", IN_ACTING, created(), DUPLICATE),
                discard("F-189: the starting input is no answer", ASKING, firstInput("Hi"), DUPLICATE));
    }
}
