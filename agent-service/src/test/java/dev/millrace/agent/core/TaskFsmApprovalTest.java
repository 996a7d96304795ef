package dev.millrace.agent.core;

import static dev.millrace.agent.core.DiscardReason.DUPLICATE;
import static dev.millrace.agent.core.DiscardReason.NOT_WAITING;
import static dev.millrace.agent.core.DiscardReason.STALE_CALL;
import static dev.millrace.agent.core.TaskBuilder.aTask;
import static dev.millrace.agent.core.TaskBuilder.answered;
import static dev.millrace.agent.core.TaskBuilder.done;
import static dev.millrace.agent.core.TaskBuilder.goingOn;
import static dev.millrace.agent.core.TaskBuilder.held;
import static dev.millrace.agent.core.TaskBuilder.open;
import static dev.millrace.agent.core.TaskBuilder.requested;
import static dev.millrace.agent.core.TaskBuilder.step;
import static dev.millrace.agent.core.TaskBuilder.undecided;
import static dev.millrace.agent.core.TaskEvents.NOW_MS;
import static dev.millrace.agent.core.TaskEvents.RUN;
import static dev.millrace.agent.core.TaskEvents.RUN_IF_APPROVED;
import static dev.millrace.agent.core.TaskEvents.admitted;
import static dev.millrace.agent.core.TaskEvents.approved;
import static dev.millrace.agent.core.TaskEvents.approvedWith;
import static dev.millrace.agent.core.TaskEvents.callId;
import static dev.millrace.agent.core.TaskEvents.called;
import static dev.millrace.agent.core.TaskEvents.calledInOrder;
import static dev.millrace.agent.core.TaskEvents.cancel;
import static dev.millrace.agent.core.TaskEvents.ifApproved;
import static dev.millrace.agent.core.TaskEvents.input;
import static dev.millrace.agent.core.TaskEvents.refused;
import static dev.millrace.agent.core.TaskEvents.rejected;
import static dev.millrace.agent.core.TaskEvents.resume;
import static dev.millrace.agent.core.TaskEvents.returned;
import static dev.millrace.agent.core.TaskEvents.run;
import static dev.millrace.agent.core.TaskEvents.suspend;
import static dev.millrace.agent.core.TaskEvents.timePassed;
import static dev.millrace.agent.core.TransitionRow.discard;
import static dev.millrace.agent.core.TransitionRow.row;

import dev.millrace.agent.core.Effect.Append;
import dev.millrace.agent.core.Effect.CallModel;
import dev.millrace.agent.core.Effect.CallTool;
import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Effect.RequestAdmission;
import dev.millrace.agent.core.Effect.SettleModelCall;
import dev.millrace.agent.core.TaskState.Acting;
import dev.millrace.agent.core.TaskState.Suspended;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Call;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tool calls that a person has to agree to, and tool calls that run one after the other. */
class TaskFsmApprovalTest {

    private static final String NOT_RUN = "{\"cancelled\":true,\"reason\":\"interrupted by the user\"}";
    private static final long EXPIRES_AT_MS = NOW_MS + 60_000;

    private static final Acting ONE = acting(undecided(0, "c1", "pay"));
    private static final Acting TWO = acting(undecided(0, "c1", "pay"), undecided(1, "c2", "mail"));

    private static Acting acting(Plan.Step... steps) {
        return aTask().iteration(1).transcript(2, 20).acting(steps);
    }

    @ParameterizedTest
    @MethodSource({"asking", "deciding", "running", "otherwise", "inOrder"})
    void shouldMove(TransitionRow row) {
        row.check();
    }

    static Stream<TransitionRow> asking() {
        return Stream.of(
                row(
                        "DESIGN §4: a call that needs approval → SUSPENDED, it is asked for; the other call runs at once",
                        aTask().reasoningAt(1),
                        called("m1", null, ifApproved("p1", "pay", "{\"amount\":1}"), run("p2", "search", "{}")),
                        TaskBuilder.deciding(aTask().iteration(1)
                                .used(10, 5)
                                .transcript(2, 2 + 3 + 12 + 8)
                                .acting(
                                        new Plan.CallStep(
                                                0,
                                                callId(1, 1, 1),
                                                "p1",
                                                "pay",
                                                new Plan.Deciding("{\"amount\":1}", RUN_IF_APPROVED, EXPIRES_AT_MS)),
                                        new Plan.CallStep(1, callId(1, 2, 1), "p2", "search", requested(null)))),
                        new SettleModelCall("m1"),
                        new Append(
                                1,
                                List.of(new AssistantTurn(
                                        null,
                                        List.of(
                                                new Call("p1", "pay", "{\"amount\":1}"),
                                                new Call("p2", "search", "{}"))))),
                        new Publish(new Fact.ApprovalRequested(
                                callId(1, 1, 1), "p1", "pay", "{\"amount\":1}", EXPIRES_AT_MS, null)),
                        new CallTool(callId(1, 2, 1), 1, "p2", "search", "{}", "general", 5_000)),
                row(
                        "X-09: the other call's result is recorded while a decision is awaited",
                        TaskBuilder.deciding(acting(undecided(0, "c1", "pay"), open(1, "c2", "search"))),
                        returned("c2", "{}"),
                        TaskBuilder.deciding(aTask().iteration(1)
                                .transcript(3, 22)
                                .actions(1)
                                .acting(undecided(0, "c1", "pay"), done(1, "c2", "search"))),
                        new Append(2, List.of(new ToolResult("p-c2", "search", "{}", false)))));
    }

    static Stream<TransitionRow> deciding() {
        return Stream.of(
                row(
                        "approved, and it was the last decision → the stored call is kept, the task asks for admission",
                        TaskBuilder.deciding(ONE),
                        approved("c1"),
                        goingOn(TaskBuilder.deciding(acting(held(0, "c1", "pay")))),
                        new RequestAdmission()),
                row(
                        "approved with other arguments → those are stored",
                        TaskBuilder.deciding(ONE),
                        approvedWith("c1", "{\"amount\":10}"),
                        goingOn(TaskBuilder.deciding(
                                acting(step(0, "c1", "pay", new Plan.Held("{\"amount\":10}", RUN, true))))),
                        new RequestAdmission()),
                row(
                        "one of two approved → the other is still awaited",
                        TaskBuilder.deciding(TWO),
                        approved("c1"),
                        TaskBuilder.deciding(acting(held(0, "c1", "pay"), undecided(1, "c2", "mail")))),
                row(
                        "rejected → the model is told who and why; it was the last decision, so the task asks for admission",
                        TaskBuilder.deciding(ONE),
                        rejected("c1", "too expensive", "ada"),
                        goingOn(TaskBuilder.deciding(acting(answered(0, "c1", "pay")))),
                        new FollowUp(new Fact.ToolRefused(
                                "c1", "pay", "approval_rejected", "rejected by ada: too expensive")),
                        new RequestAdmission()),
                row(
                        "rejected by somebody without a word",
                        TaskBuilder.deciding(TWO),
                        rejected("c2", null, null),
                        TaskBuilder.deciding(acting(undecided(0, "c1", "pay"), answered(1, "c2", "mail"))),
                        new FollowUp(new Fact.ToolRefused("c2", "mail", "approval_rejected", "rejected by a person"))),
                discard(
                        "decided twice",
                        goingOn(TaskBuilder.deciding(acting(held(0, "c1", "pay")))),
                        rejected("c1", null, null),
                        DUPLICATE),
                discard("decided again while it runs", acting(open(0, "c1", "pay")), approved("c1"), DUPLICATE),
                discard("a decision on another call", TaskBuilder.deciding(ONE), approved("c9"), STALE_CALL),
                discard("a decision, and the task thinks", aTask().reasoningAt(1), approved("c1"), STALE_CALL),
                discard("no decision: a plain resume", TaskBuilder.deciding(ONE), resume(), NOT_WAITING));
    }

    static Stream<TransitionRow> running() {
        return Stream.of(
                row(
                        "admitted → the approved call runs, with no model call in between",
                        goingOn(TaskBuilder.deciding(acting(held(0, "c1", "pay")))),
                        admitted(),
                        acting(open(0, "c1", "pay")),
                        new CallTool("c1", 0, "p-c1", "pay", "{}", "general", 5_000)),
                row(
                        "admitted → an edited call runs exactly as approved",
                        goingOn(TaskBuilder.deciding(
                                acting(step(0, "c1", "pay", new Plan.Held("{\"amount\":10}", RUN, true))))),
                        admitted(),
                        acting(step(0, "c1", "pay", requested("{\"amount\":10}"))),
                        new CallTool("c1", 0, "p-c1", "pay", "{\"amount\":10}", "general", 5_000)),
                row(
                        "the model, which asked for something else, is told what ran",
                        acting(step(0, "c1", "pay", requested("{\"amount\":10}")), open(1, "c2", "search")),
                        returned("c1", "{}"),
                        aTask().iteration(1)
                                .transcript(3, 20 + 69)
                                .actions(1)
                                .acting(done(0, "c1", "pay"), open(1, "c2", "search")),
                        new Append(
                                2,
                                List.of(new ToolResult(
                                        "p-c1",
                                        "pay",
                                        "Note: a person changed the arguments of this call to {\"amount\":10}\n{}",
                                        false)))),
                row(
                        "admitted, and nothing is left to run → the model sees the rejections",
                        goingOn(TaskBuilder.deciding(acting(done(0, "c1", "pay")))),
                        admitted(),
                        aTask().iteration(2).transcript(2, 20).reasoning(callId(2, 0, 2)),
                        new CallModel(callId(2, 0, 2), 2)));
    }

    static Stream<TransitionRow> otherwise() {
        Suspended byHand = new Suspended(TWO, "lunch", true, null, null, null);
        return Stream.of(
                row(
                        "X-10: a message in place of a decision → the calls are withdrawn, the task asks for admission",
                        TaskBuilder.deciding(acting(undecided(0, "c1", "pay"), open(1, "c2", "search"))),
                        input("Wait!"),
                        goingOn(
                                TaskBuilder.deciding(acting(answered(0, "c1", "pay"), open(1, "c2", "search"))),
                                "Wait!"),
                        new Publish(new Fact.ApprovalWithdrawn("c1")),
                        new RequestAdmission()),
                row(
                        "X-10: admitted with a message → what was not decided is not run",
                        goingOn(TaskBuilder.deciding(acting(answered(0, "c1", "pay"))), "Wait!"),
                        admitted(),
                        aTask().iteration(2)
                                .transcript(4, 20 + NOT_RUN.length() + 5)
                                .reasoning(callId(2, 0, 4)),
                        new Append(2, List.of(new ToolResult("p-c1", "pay", NOT_RUN, true), new UserText("Wait!"))),
                        new CallModel(callId(2, 0, 4), 2)),
                row("suspended by hand as well", TaskBuilder.deciding(TWO), suspend("lunch"), byHand),
                row(
                        "the last decision does not undo a suspension by hand",
                        new Suspended(ONE, "lunch", true, null, null, null),
                        approved("c1"),
                        new Suspended(acting(held(0, "c1", "pay")), "lunch", true, null, null, null)),
                row("a resume does not decide", byHand, resume(), TaskBuilder.deciding(TWO)),
                row(
                        "a resume after the last decision → the task asks for admission",
                        new Suspended(acting(held(0, "c1", "pay")), "lunch", true, null, null, null),
                        resume(),
                        goingOn(new Suspended(acting(held(0, "c1", "pay")), "lunch", true, null, null, null)),
                        new RequestAdmission()),
                row(
                        "cancelled while a decision is awaited",
                        TaskBuilder.deciding(ONE),
                        cancel("no"),
                        aTask().iteration(1)
                                .transcript(3, 20 + NOT_RUN.length())
                                .cancelled("no"),
                        new Append(2, List.of(new ToolResult("p-c1", "pay", NOT_RUN, true))),
                        new Publish(new Fact.Cancelled("no"))),
                row(
                        "X-43: nobody decides in time → decided by the configured default, here a rejection",
                        TaskBuilder.deciding(ONE),
                        timePassed(EXPIRES_AT_MS),
                        TaskBuilder.deciding(ONE),
                        new FollowUp(new Fact.ApprovalExpired("c1", false))),
                row(
                        "X-43: the same, here an approval",
                        TaskBuilder.deciding(acting(approvedOnExpiry())),
                        timePassed(EXPIRES_AT_MS),
                        TaskBuilder.deciding(acting(approvedOnExpiry())),
                        new FollowUp(new Fact.ApprovalExpired("c1", true))));
    }

    private static Plan.Step approvedOnExpiry() {
        ToolCall.Run run = new ToolCall.Run("general", 5_000, new ToolCall.Approval(60_000, true));
        return step(0, "c1", "pay", new Plan.Deciding("{}", run, EXPIRES_AT_MS));
    }

    static Stream<TransitionRow> inOrder() {
        return Stream.of(
                row(
                        "DESIGN §7: sequential calls → only the first is asked for",
                        aTask().reasoningAt(1),
                        calledInOrder("m1", run("p1", "search", "{}"), refused("p2", "shell", "tool_not_found", "no")),
                        aTask().iteration(1)
                                .used(10, 5)
                                .transcript(2, 2 + 8 + 7)
                                .actingInOrder(
                                        new Plan.CallStep(0, callId(1, 1, 1), "p1", "search", requested(null)),
                                        new Plan.CallStep(
                                                1,
                                                callId(1, 2, 1),
                                                "p2",
                                                "shell",
                                                new Plan.Held(
                                                        "{}", new ToolCall.Refuse("tool_not_found", "no"), false))),
                        new SettleModelCall("m1"),
                        new Append(
                                1,
                                List.of(new AssistantTurn(
                                        null, List.of(new Call("p1", "search", "{}"), new Call("p2", "shell", "{}"))))),
                        new CallTool(callId(1, 1, 1), 0, "p1", "search", "{}", "general", 5_000)),
                row(
                        "the first is done → the second is asked for",
                        aTask().iteration(1)
                                .transcript(2, 20)
                                .actingInOrder(open(0, "c1", "search"), held(1, "c2", "fetch")),
                        returned("c1", "{}"),
                        aTask().iteration(1)
                                .transcript(3, 22)
                                .actions(1)
                                .actingInOrder(done(0, "c1", "search"), open(1, "c2", "fetch")),
                        new Append(2, List.of(new ToolResult("p-c1", "search", "{}", false))),
                        new CallTool("c2", 1, "p-c2", "fetch", "{}", "general", 5_000)),
                row(
                        "the first is done and the second needs approval → SUSPENDED when its turn has come",
                        aTask().iteration(1)
                                .transcript(2, 20)
                                .actingInOrder(
                                        open(0, "c1", "search"),
                                        step(1, "c2", "pay", new Plan.Held("{}", RUN_IF_APPROVED, false))),
                        returned("c1", "{}"),
                        TaskBuilder.deciding(aTask().iteration(1)
                                .transcript(3, 22)
                                .actions(1)
                                .actingInOrder(done(0, "c1", "search"), undecided(1, "c2", "pay"))),
                        new Append(2, List.of(new ToolResult("p-c1", "search", "{}", false))),
                        new Publish(new Fact.ApprovalRequested("c2", "p-c2", "pay", "{}", EXPIRES_AT_MS, null))),
                row(
                        "suspended by hand between the two → the second is asked for after admission only",
                        goingOn(TaskBuilder.suspended(aTask().iteration(1)
                                .transcript(3, 22)
                                .actions(1)
                                .actingInOrder(done(0, "c1", "search"), held(1, "c2", "fetch")))),
                        admitted(),
                        aTask().iteration(1)
                                .transcript(3, 22)
                                .actions(1)
                                .actingInOrder(done(0, "c1", "search"), open(1, "c2", "fetch")),
                        new CallTool("c2", 1, "p-c2", "fetch", "{}", "general", 5_000)));
    }
}
