package dev.millrace.agent.core;

import dev.millrace.agent.core.Effect.CallTool;
import dev.millrace.agent.core.TaskEvent.ApprovalDecided;
import dev.millrace.agent.core.TaskEvent.CancelRequested;
import dev.millrace.agent.core.TaskEvent.ChildEnded;
import dev.millrace.agent.core.TaskEvent.InputReceived;
import dev.millrace.agent.core.TaskEvent.ModelCallFailed;
import dev.millrace.agent.core.TaskEvent.ModelReplied;
import dev.millrace.agent.core.TaskEvent.QuestionAsked;
import dev.millrace.agent.core.TaskEvent.TaskResumed;
import dev.millrace.agent.core.TaskEvent.TaskSuspended;
import dev.millrace.agent.core.TaskEvent.ToolReturned;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A story about one task, told from outside: people, the model and the tools say what they say, call ids are whatever the
 * machine made them.
 *
 * @param name becomes part of a file name
 * @param about what it shows, with the numbers of the specification
 */
record Scenario(String name, String about, TaskLimits limits, Consumer<Script> story) {

    static final List<Scenario> ALL = List.of(
            scenario(
                    "canonical-flow",
                    "F-053: one tool call, one answer",
                    task -> task.says("Search for AI Agent papers")
                            .admitted()
                            .modelCalls(null, TaskEvents.run("p1", "web_search", "{\"query\":\"AI Agent papers\"}"))
                            .toolReturns("web_search", "[\"paper 1\",\"paper 2\"]")
                            .modelAnswers("I found two papers.")),
            scenario(
                    "parallel-tools",
                    "X-45, F-130: three calls at once, results out of order and doubled, one fails, one model call after them",
                    task -> task.says("Compare")
                            .admitted()
                            .modelCalls(
                                    "On it.",
                                    TaskEvents.run("p1", "read_file", "{\"path\":\"a\"}"),
                                    TaskEvents.run("p2", "http_get", "{\"url\":\"b\"}"),
                                    TaskEvents.run("p3", "notify", "{\"message\":\"started\"}"))
                            .notifies("started")
                            .toolReturns("read_file", "\"A\"")
                            .again()
                            .toolFails("http_get", "404")
                            .modelAnswers("a is A, b is not there.")),
            scenario(
                    "suspend-with-late-results",
                    "X-09: results arrive while suspended, the task goes on with them",
                    task -> task.says("Compare")
                            .admitted()
                            .modelCalls(
                                    null,
                                    TaskEvents.run("p1", "read_file", "{\"path\":\"a\"}"),
                                    TaskEvents.run("p2", "http_get", "{\"path\":\"b\"}"))
                            .suspended("lunch")
                            .toolReturns("http_get", "\"B\"")
                            .toolReturns("read_file", "\"A\"")
                            .resumed(null)
                            .admitted()
                            .modelAnswers("They differ.")),
            scenario(
                    "suspend-with-late-reply",
                    "X-09: the reply arrives while suspended and is not asked for again",
                    task -> task.says("Hi")
                            .admitted()
                            .suspended("lunch")
                            .modelAnswers("Hello")
                            .again()
                            .resumed(null)
                            .admitted()),
            scenario(
                    "ask-and-answer",
                    "X-10, X-11: the model asks by a tool call, then in plain words; messages are the answers",
                    task -> task.says("Book a table")
                            .admitted()
                            .modelAsks(
                                    "For how many?",
                                    "p1",
                                    TaskEvents.run("p1", "ask_user", "{\"question\":\"For how many?\"}"),
                                    TaskEvents.run("p2", "web_search", "{}"))
                            .says("Four")
                            .admitted()
                            .modelAsks("When?", null)
                            .resumed(null)
                            .says("At eight")
                            .again()
                            .admitted()
                            .modelAnswers("Done.")),
            scenario(
                    "message-while-acting",
                    "X-10: suspended while a tool runs, then told something else; the late result is stale",
                    task -> task.says("Search for cats")
                            .admitted()
                            .modelCalls(null, TaskEvents.run("p1", "web_search", "{\"query\":\"cats\"}"))
                            .suspended("wrong")
                            .says("Dogs, I meant")
                            .admitted()
                            .toolReturns("web_search", "[]")
                            .modelAnswers("Dogs it is.")),
            scenario(
                    "cancel",
                    "DESIGN §4: cancelled while the model thinks; the late reply is discarded",
                    task -> task.says("Hi")
                            .admitted()
                            .cancelled("changed my mind")
                            .lateAnswer("Hello")),
            scenario(
                    "iteration-limit",
                    "F-075, X-06: a model that never stops calling tools",
                    TaskBuilder.limits(2, 32, 4_000_000, 2_000_000),
                    task -> task.says("Loop")
                            .admitted()
                            .modelCalls(null, TaskEvents.run("p1", "sleep", "{}"))
                            .toolReturns("sleep", "null")
                            .modelCalls(null, TaskEvents.run("p2", "sleep", "{}"))
                            .toolReturns("sleep", "null")),
            scenario(
                    "resume-of-completed",
                    "F-117, F-148, X-04: a completed task takes new input and completes again",
                    task -> task.says("Hi")
                            .admitted()
                            .modelAnswers("Hello")
                            .says("A message is no resume")
                            .resumed("And now?")
                            .admitted()
                            .modelCalls(null, TaskEvents.run("p1", "current_time", "{}"))
                            .toolReturns("current_time", "\"noon\"")
                            .modelAnswers("Noon.")),
            scenario(
                    "refused-tool",
                    "F-154, F-090: a refused and a malformed call beside a good one; then nothing but a refused one",
                    task -> task.says("Post it")
                            .admitted()
                            .modelCalls(
                                    null,
                                    TaskEvents.refused(
                                            "p1",
                                            "http_post",
                                            "tool_not_available",
                                            "Tool \"http_post\" is not available for task type \"explore\""),
                                    TaskEvents.run("p2", "http_get", "{}"),
                                    TaskEvents.refused("p3", "http_get", "invalid_json_arguments", "no JSON object"))
                            .toolReturns("http_get", "\"ok\"")
                            .modelCalls(
                                    null,
                                    TaskEvents.refused("p4", "shell", "tool_not_found", "Tool \"shell\" not found"))
                            .modelAnswers("I cannot.")),
            scenario(
                    "model-failure",
                    "F-070, F-136: the model call fails for good; nothing helps a failed task",
                    task -> task.says("Hi").admitted().modelFails().resumed("again")),
            scenario(
                    "approval",
                    "DESIGN §4: one call needs none, one is approved with other arguments, one is rejected; suspended by hand"
                            + " meanwhile, decided twice",
                    task -> task.says("Pay")
                            .admitted()
                            .modelCalls(
                                    null,
                                    TaskEvents.run("p1", "read_file", "{}"),
                                    TaskEvents.ifApproved("p2", "pay", "{\"amount\":100}"),
                                    TaskEvents.ifApproved("p3", "mail", "{}"))
                            .approved("pay", "{\"amount\":10}")
                            .again()
                            .suspended("lunch")
                            .toolReturns("read_file", "\"A\"")
                            .rejected("mail", "not now")
                            .resumed(null)
                            .admitted()
                            .toolReturns("pay", "{\"paid\":10}")
                            .modelAnswers("Paid 10.")),
            scenario(
                    "approval-message",
                    "X-10: a message in place of a decision withdraws the question, and the call is not run",
                    task -> task.says("Pay")
                            .admitted()
                            .modelCalls(null, TaskEvents.ifApproved("p1", "pay", "{}"))
                            .resumed(null)
                            .says("Wait, how much is it?")
                            .says("And to whom?")
                            .admitted()
                            .modelAnswers("10, to Ada.")),
            scenario(
                    "approval-expiry",
                    "X-43: nobody decides in time, so the call is rejected",
                    task -> task.says("Pay")
                            .admitted()
                            .modelCalls(null, TaskEvents.ifApproved("p1", "pay", "{}"))
                            .timePasses()
                            .admitted()
                            .modelAnswers("Nobody let me.")),
            scenario(
                    "in-order",
                    "DESIGN §7: sequential calls run one after the other, an approval among them when its turn comes",
                    task -> task.says("In order")
                            .admitted()
                            .modelCallsInOrder(
                                    TaskEvents.run("p1", "first", "{}"),
                                    TaskEvents.refused("p2", "shell", "tool_not_found", "no"),
                                    TaskEvents.ifApproved("p3", "second", "{}"),
                                    TaskEvents.run("p4", "third", "{}"))
                            .toolReturns("first", "1")
                            .approved("second", null)
                            .admitted()
                            .toolReturns("second", "2")
                            .toolReturns("third", "3")
                            .modelAnswers("Done.")),
            scenario(
                    "silent-tool",
                    "X-43: a tool that never answers is an error to the model; its late result is stale",
                    task -> task.says("Search")
                            .admitted()
                            .modelCalls(null, TaskEvents.run("p1", "web_search", "{}"))
                            .timePasses()
                            .modelAnswers("The search is down.")),
            scenario(
                    "sub-tasks",
                    "F-168: one child answers for a call, two work in the background and one of them fails; X-45: one model"
                            + " call tells of both",
                    task -> task.says("Look everywhere")
                            .admitted()
                            .modelCalls(
                                    null,
                                    TaskEvents.spawn("p1", false),
                                    TaskEvents.spawn("p2", true),
                                    TaskEvents.spawn("p3", true))
                            .childAnswers("{\"response\":\"here\"}")
                            .admitted()
                            .modelAnswers("Here it is; I go on looking.")
                            .childEnds("Background task failed: no")
                            .childEnds("Background task completed: there, too")
                            .admitted()
                            .modelAnswers("It is here and there.")),
            scenario(
                    "silent-model",
                    "X-43: a model that never answers fails the task",
                    task -> task.says("Hi").admitted().timePasses().lateAnswer("Hello")));

    private static Scenario scenario(String name, String about, Consumer<Script> story) {
        return scenario(name, about, TaskLimits.DEFAULT, story);
    }

    private static Scenario scenario(String name, String about, TaskLimits limits, Consumer<Script> story) {
        return new Scenario(name, about, limits, story);
    }

    static Scenario named(String name) {
        return ALL.stream()
                .filter(scenario -> scenario.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Plays it and returns every move, those by follow-ups among them. */
    List<SimulatedShell.Move> play() {
        Script script = new Script(new SimulatedShell(MachineLimits.of(limits)));
        story.accept(script);
        return script.shell.moves();
    }

    /** What can be told. */
    static final class Script {
        private final SimulatedShell shell;
        private int events;
        private String lastModelCall = "";
        private @Nullable TaskEvent last;

        private Script(SimulatedShell shell) {
            this.shell = shell;
        }

        Script says(String text) {
            Meta meta = shell.moves().isEmpty() ? meta(TaskBuilder.TASK_ID) : meta();
            return happens(new InputReceived(meta, text, "general", 100, TaskEvent.Terms.NONE));
        }

        Script admitted() {
            shell.admit();
            return this;
        }

        Script modelAnswers(String text) {
            return happens(new ModelReplied(meta(), modelCall(), text, List.of(), false, TaskEvents.USAGE));
        }

        /** The answer to the last call, which is settled already. */
        Script lateAnswer(String text) {
            return happens(new ModelReplied(meta(), lastModelCall(), text, List.of(), false, TaskEvents.USAGE));
        }

        Script modelCalls(@Nullable String text, ToolCall... calls) {
            return happens(new ModelReplied(meta(), modelCall(), text, List.of(calls), false, TaskEvents.USAGE));
        }

        Script modelCallsInOrder(ToolCall... calls) {
            return happens(new ModelReplied(meta(), modelCall(), null, List.of(calls), true, TaskEvents.USAGE));
        }

        /** The child that a call waits for. */
        Script childAnswers(String json) {
            return happens(new ToolReturned(meta(), child(false), json, false, null, TaskEvents.USAGE));
        }

        /** The next one in the background. */
        Script childEnds(String news) {
            return happens(new ChildEnded(meta(), child(true), news, TaskEvents.USAGE));
        }

        private String child(boolean background) {
            return shell.childrenOut().stream()
                    .filter(child -> child.background() == background)
                    .map(Children.Child::callId)
                    .findFirst()
                    .orElseThrow();
        }

        Script approved(String tool, @Nullable String arguments) {
            return happens(new ApprovalDecided(meta(), approval(tool), true, arguments, null, "ada"));
        }

        Script rejected(String tool, String reason) {
            return happens(new ApprovalDecided(meta(), approval(tool), false, null, reason, "ada"));
        }

        /** As much as it takes until something is late. */
        Script timePasses() {
            shell.passTimeUntilWakeUp();
            return this;
        }

        Script modelAsks(String question, @Nullable String toolCallId, ToolCall... calls) {
            return happens(new QuestionAsked(
                    meta(), modelCall(), question, null, toolCallId, List.of(calls), TaskEvents.USAGE));
        }

        Script modelFails() {
            return happens(new ModelCallFailed(meta(), modelCall(), TaskEvents.ERROR));
        }

        Script toolReturns(String tool, String json) {
            return happens(new ToolReturned(meta(), toolCall(tool), json, false, null, Usage.NONE));
        }

        Script notifies(String message) {
            return happens(new ToolReturned(
                    meta(), toolCall("notify"), "{\"sent\":true}", false, new TaskEvent.Notice(message), Usage.NONE));
        }

        Script toolFails(String tool, String error) {
            return happens(new ToolReturned(meta(), toolCall(tool), error, true, null, Usage.NONE));
        }

        Script suspended(String reason) {
            return happens(new TaskSuspended(meta(), reason));
        }

        Script resumed(@Nullable String newInput) {
            return happens(new TaskResumed(meta(), newInput, TaskLimits.UNLIMITED));
        }

        Script cancelled(String reason) {
            return happens(new CancelRequested(meta(), reason));
        }

        /** The last event once more. */
        Script again() {
            if (last != null) {
                shell.acceptStale(last);
            }
            return this;
        }

        private Script happens(TaskEvent event) {
            last = event;
            shell.accept(event);
            return this;
        }

        private String modelCall() {
            lastModelCall = shell.modelCallsOut().getFirst();
            return lastModelCall;
        }

        private String lastModelCall() {
            return shell.moves().stream()
                    .flatMap(move -> move.transition().effects().stream())
                    .filter(Effect.CallModel.class::isInstance)
                    .map(effect -> ((Effect.CallModel) effect).callId())
                    .reduce(lastModelCall, (earlier, later) -> later);
        }

        private String approval(String tool) {
            return shell.approvalsOut().stream()
                    .filter(request -> request.toolName().equals(tool))
                    .map(Fact.ApprovalRequested::callId)
                    .findFirst()
                    .orElseThrow();
        }

        private String toolCall(String tool) {
            return shell.toolCallsOut().stream()
                    .filter(call -> call.toolName().equals(tool))
                    .map(CallTool::callId)
                    .findFirst()
                    .orElseThrow();
        }

        private Meta meta() {
            return meta("e" + ++events);
        }

        private Meta meta(String eventId) {
            return new Meta(eventId, TaskBuilder.TASK_ID, Instant.EPOCH, shell.nowMs());
        }
    }
}
