package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.event;
import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.topology.AdmissionSettings.Policy;
import dev.millrace.schemas.EnvironmentType;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.ToolDefinition;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sessions in which several agents speak, as the task machine has them. */
class ThreadsTopologyTest {

    private static final List<String> THREE = List.of("user", "planner", "critic");

    @TempDir
    Path stateDir;

    private TestMachine machine;
    private final List<Event> journal = new ArrayList<>();

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void start() {
        machine = new TestMachine(
                stateDir,
                new AdmissionSettings(10, Policy.QUEUE),
                List.of(new ToolDefinition(
                                "deploy",
                                "d",
                                JsonObject.empty(),
                                "tool",
                                30_000,
                                ToolDefinition.SideEffects.DESTRUCTIVE)
                        .withApproval(new ToolDefinition.Approval.Always())));
        machine.use("planner", "---\ndescription: d\ntools: [read_file]\n---\nYou plan.");
        machine.use("critic", "---\ndescription: d\ntools: [deploy]\n---\nYou judge.");
        machine.serve("read_file");
    }

    @AfterEach
    void stop() {
        machine.close();
    }

    @Test
    @DisplayName("F-290, F-299, F-300: who is mentioned is given the message, one after the other; each is shown what"
            + " was said before with the speakers' names, and in the history it stands once")
    void shouldGiveItToThoseMentioned() {
        // when
        say("m1", "Ann", "@planner make a plan, @critic judge it", THREE);
        String planner = running();
        List<String> first = shown(planner);
        answer(planner, "One step.");
        String critic = running();
        List<String> second = shown(critic);
        answer(critic, "Good.");

        // then
        assertThat(planner).isEqualTo("m1");
        assertThat(agent(planner)).isEqualTo("planner");
        assertThat(agent(critic)).isEqualTo("critic");
        assertThat(first).containsExactly("user: [Ann]: @planner make a plan, @critic judge it");
        assertThat(second)
                .containsExactly(
                        "user: [Ann]: @planner make a plan, @critic judge it",
                        "user: [planner]: One step.",
                        "user: [Ann]: @planner make a plan, @critic judge it");
        assertThat(turns()).containsExactly("user → [planner, critic]", "planner → []", "critic → []");

        // when: the next one sees all of it once
        say("m2", null, "@planner and now?", List.of());

        // then
        assertThat(shown("m2"))
                .containsExactly(
                        "user: [Ann]: @planner make a plan, @critic judge it",
                        "assistant: One step.",
                        "user: [critic]: Good.",
                        "user: @planner and now?");
    }

    @Test
    @DisplayName("F-270, F-300: an agent's answer is the input of the one that it mentions; results of tools go to the"
            + " agent that has called them, and nobody else is shown them")
    void shouldHandOver() {
        // given
        say("m1", null, "@planner begin", THREE);
        machine.callTool("m1", "read_file");
        Event call = last(KnownEventType.TOOL_CALL_REQUESTED);
        machine.send(call.derive(KnownEventType.TOOL_CALL_COMPLETED, 0, TestMachine.START)
                .source("tools.executor")
                .payload(Map.of(
                        "callId", String.valueOf(call.text("callId")), "toolName", "read_file", "result", "a secret")));

        // when
        answer("m1", "I have read it. @critic, what do you say?");

        // then
        String critic = running();
        Event given = last(KnownEventType.MESSAGE_RECEIVED);
        assertThat(agent(critic)).isEqualTo("critic");
        assertThat(shown(critic))
                .containsExactly(
                        "user: @planner begin",
                        "user: [planner]: I have read it. @critic, what do you say?",
                        "user: [planner]: I have read it. @critic, what do you say?");
        assertThat(given.payload()).isInstanceOfSatisfying(Payload.MessageReceived.class, said -> {
            assertThat(said.sender()).isEqualTo(new Payload.Sender("agent", "planner", null));
            assertThat(said.thread()).isEqualTo(new Payload.Conversation(THREE, "m1"));
        });
        assertThat(given.parentEventId())
                .isEqualTo(last(KnownEventType.TASK_COMPLETED).id());
        assertThat(given.correlationId()).isEqualTo("m1");
        assertThat(given.causalDepth()).isEqualTo(1);
        assertThat(machine.model.requested.getLast().agent().fields())
                .containsEntry(AgentPin.PARTICIPANTS, "user, planner, critic");
    }

    @Test
    @DisplayName("F-290: a chain is as urgent as the message that began it")
    void shouldKeepThePriority() {
        // when
        machine.send(message("m1")
                .sessionId("s")
                .priority(250)
                .payload(Map.of("text", "@planner @critic begin", "thread", Map.of("participants", THREE))));
        answer("m1", "@critic go on");
        answer(running(), "nothing");
        answer(running(), "nothing");

        // then
        assertThat(of(KnownEventType.MESSAGE_RECEIVED).stream()
                        .map(Event::effectivePriority)
                        .toList())
                .containsExactly(250, 250, 250);
    }

    @Test
    @DisplayName(
            "a participant that waits for an approval gives way, and what it says afterwards stands after the others")
    void shouldGiveWay() {
        // given
        say("m1", null, "@planner begin", THREE);
        answer("m1", "@critic deploy it");
        String critic = running();
        machine.callTool(critic, "deploy");
        Event asked = last(KnownEventType.APPROVAL_REQUESTED);

        // when
        say("m2", null, "@planner meanwhile?", List.of());
        answer("m2", "nothing");
        machine.send(asked.derive(KnownEventType.APPROVAL_DECIDED, 0, TestMachine.START)
                .source("user")
                .payload(Map.of("callId", String.valueOf(asked.text("callId")), "decision", "approve")));
        machine.send(asked.derive(KnownEventType.TOOL_CALL_COMPLETED, 0, TestMachine.START)
                .source("tools.executor")
                .payload(Map.of(
                        "callId", String.valueOf(asked.text("callId")), "toolName", "deploy", "result", "deployed")));
        answer(critic, "It is out.");
        say("m3", null, "@planner and?", List.of());

        // then
        assertThat(shown("m3"))
                .containsExactly(
                        "user: @planner begin",
                        "assistant: @critic deploy it",
                        "user: @planner meanwhile?",
                        "assistant: nothing",
                        "user: [critic]: It is out.",
                        "user: @planner and?");
    }

    @Test
    @DisplayName("F-300: without a mention the other one of two answers; of three nobody does, and that is told")
    void shouldTakeTheOtherOfTwo() {
        // when
        say("m1", null, "hello", List.of("user", "critic"));
        answer("m1", "yes?");
        say("m2", null, "hello", THREE);
        say("m3", null, "hello @stranger", List.of());

        // then
        assertThat(agent("m1")).isEqualTo("critic");
        assertThat(machine.model.requested).hasSize(1);
        assertThat(turns()).containsExactly("user → [critic]", "critic → []", "user → []", "user → []");
        assertThat(of(KnownEventType.TASK_CREATED)).hasSize(1);
    }

    @Test
    @DisplayName("F-300: an agent gives the word to those that its allowedAgents name, and to nobody else")
    void shouldFilter() {
        // given
        machine.use("planner", "---\ndescription: d\ntools: []\nallowedAgents: [critic]\n---\np");
        machine.use("clerk", "---\ndescription: d\ntools: []\n---\np");
        say("m1", null, "@planner go", List.of("user", "planner", "critic", "clerk"));

        // when
        answer("m1", "@clerk and @critic, please");

        // then
        assertThat(turns()).containsExactly("user → [planner]", "planner → [critic]");
    }

    @Test
    @DisplayName("F-300: skipRouting keeps a message and gives it to nobody, also in a session of several participants")
    void shouldNotRoute() {
        // when
        machine.send(message("m1")
                .sessionId("s")
                .payload(Map.of(
                        "text",
                        "@planner hello",
                        "metadata",
                        Map.of("skipRouting", true),
                        "thread",
                        Map.of("participants", THREE))));

        // then
        assertThat(machine.model.requested).isEmpty();
        assertThat(of(KnownEventType.MESSAGE_RECEIVED)).hasSize(1);
        assertThat(turns()).isEmpty();
    }

    @Test
    @DisplayName("X-25: two agents that answer each other end at the causal depth, and the journal says so")
    void shouldEndPingPong() {
        // when
        say("m1", null, "argue", List.of("planner", "critic"));
        int answers = 0;
        while (machine.model.requested.size() > answers && answers < 200) {
            answer(machine.model.requested.getLast().taskId(), "no " + answers);
            answers++;
        }

        // then
        assertThat(answers).isBetween(2, 100);
        Event last = journal().stream()
                .filter(event -> event.type() == EnvironmentType.SESSION_TURN)
                .reduce((a, b) -> b)
                .orElseThrow();
        assertThat(last.fields()).containsEntry("ended", "causal_depth_limit").containsEntry("next", List.of());
        assertThat(of(KnownEventType.TASK_FAILED)).isEmpty();
        assertThat(of(KnownEventType.TASK_COMPLETED)).hasSize(answers);
    }

    @Test
    @DisplayName("X-25: so they do when the session's budget is used up, and the turn says that")
    void shouldEndByTheBudget(@TempDir Path elsewhere) {
        // given: each answer takes five tokens
        machine.close();
        machine = new TestMachine(
                elsewhere,
                new AdmissionSettings(10, Policy.QUEUE),
                new MachineLimits(TaskLimits.DEFAULT, 8, TaskLimits.NONE, 900_000, 600_000));
        machine.use("planner", "---\ndescription: d\ntools: []\n---\nYou plan.");
        machine.use("critic", "---\ndescription: d\ntools: []\n---\nYou judge.");

        // when
        say("m1", null, "argue", List.of("planner", "critic"));
        answer("m1", "yes");
        answer(running(), "no");

        // then
        assertThat(turns())
                .containsExactly(
                        "user → [planner]",
                        "planner → [critic]",
                        "critic → [planner]",
                        "planner → [] (session_token_limit)");
        assertThat(machine.model.requested).hasSize(2);
        assertThat(of(KnownEventType.TASK_FAILED))
                .singleElement()
                .satisfies(failed -> assertThat(failed.text("code")).isEqualTo("session_token_limit"));
    }

    @Test
    @DisplayName("F-304: an agent asks another one and waits: that one answers in a session of its own, which gives"
            + " nobody in the thread the word")
    void shouldAskAnotherAgentAndWait() {
        // given
        machine.use("planner", "---\ndescription: d\ntools: []\nsubAgents: [critic]\n---\nYou plan.");
        say("m1", null, "@planner begin", THREE);

        // when
        machine.callTool("m1", "ask_question", Map.of("agent", "critic", "question", "Where is it?"));
        String asked = running();
        List<String> shown = shown(asked);
        answer(asked, "In the yard, @planner.");
        List<String> goesOn = shown("m1");
        answer("m1", "It is in the yard.");

        // then
        assertThat(asked).isNotEqualTo("m1");
        assertThat(agent(asked)).isEqualTo("critic");
        assertThat(shown).containsExactly("user: Where is it?");
        assertThat(goesOn).startsWith("user: @planner begin").endsWith("result of ask_question");
        assertThat(turns()).containsExactly("user → [planner]", "planner → []");
        assertThat(of(KnownEventType.TASK_COMPLETED)).extracting(Event::taskId).containsExactly(asked, "m1");
    }

    @Test
    @DisplayName("a task that fails gives nobody the word, and that is told; the same for one that is cancelled")
    void shouldTellOfFailures() {
        // when
        say("m1", null, "argue", List.of("planner", "critic"));
        machine.fail("m1", "model_unavailable", "away");
        say("m2", null, "argue", List.of());
        machine.send(event("c", KnownEventType.TASK_CANCEL_REQUESTED)
                .taskId("m2")
                .sessionId("s")
                .source("user")
                .payload(Map.of()));

        // then
        assertThat(turns())
                .containsExactly(
                        "user → [planner]",
                        "planner → [] (model_unavailable)",
                        "user → [planner]",
                        "planner → [] (cancelled)");
    }

    @Test
    @DisplayName("words of an agent are no answer to a question that another one has for people")
    void shouldNotAnswerForPeople() {
        // given
        say("m1", null, "@planner and @critic, begin", THREE);
        machine.ask("m1", "Which one?");

        // when
        machine.send(message("x")
                .sessionId("s")
                .payload(Map.of(
                        "text",
                        "take the first",
                        "taskType",
                        "planner",
                        "sender",
                        Map.of("type", "agent", "name", "critic"))));
        say("m2", "Ann", "the second", List.of());

        // then: what stands in line is in the journal, too
        assertThat(of(KnownEventType.MESSAGE_RECEIVED).stream()
                        .filter(event -> List.of("x", "m2").contains(event.id()))
                        .map(Event::taskId)
                        .toList())
                .containsExactly("x", "m1");
    }

    @Test
    @DisplayName("a session's own events say who takes part, too; what is no list of names is left")
    void shouldBeToldByTheSession() {
        // when
        machine.send(event("s1", EventType.of("session.created"))
                .sessionId("s")
                .payload(Map.of("sessionId", "s", "participants", List.of("user", "critic"))));
        machine.send(event("s2", EventType.of("session.updated"))
                .sessionId("s")
                .payload(Map.of("participants", List.of(1, 2))));
        say("m1", null, "hello", List.of());

        // then
        assertThat(agent("m1")).isEqualTo("critic");
    }

    @Test
    @DisplayName(
            "whoever names an agent speaks to that one, and a session of which nobody has said who takes part is as"
                    + " ever")
    void shouldLeaveOthersAlone() {
        // when
        machine.send(message("m0").sessionId("other").payload(Map.of("text", "@planner hello")));
        machine.send(message("m1")
                .sessionId("s")
                .payload(Map.of("text", "hello", "taskType", "critic", "thread", Map.of("participants", THREE))));

        // then
        assertThat(agent("m0")).isEqualTo("general");
        assertThat(agent("m1")).isEqualTo("critic");
        assertThat(turns()).isEmpty();
    }

    private void say(String id, @Nullable String name, String text, List<String> participants) {
        Map<String, Object> payload = new HashMap<>(Map.of("text", text));
        if (name != null) {
            payload.put("sender", Map.of("type", "user", "name", name));
        }
        if (!participants.isEmpty()) {
            payload.put("thread", Map.of("participants", participants));
        }
        machine.send(message(id).sessionId("s").payload(payload));
    }

    private void answer(String taskId, String text) {
        Map<String, @Nullable Object> payload =
                new HashMap<>(machine.answerTo(taskId).fields());
        payload.put("response", text);
        machine.send(machine.answerTo(taskId).toBuilder().payload(payload));
    }

    private String running() {
        return machine.model.requested.getLast().taskId();
    }

    private String agent(String taskId) {
        String reference = call(taskId).agent().reference();
        return reference.substring(0, reference.indexOf('@'));
    }

    private OutstandingCall call(String taskId) {
        return machine.model.requested.stream()
                .filter(call -> call.taskId().equals(taskId))
                .reduce((first, second) -> second)
                .orElseThrow();
    }

    private List<String> shown(String taskId) {
        return StreamsTranscripts.shown(machine.driver.getKeyValueStore(TaskStores.ROWS), call(taskId))
                .orElseThrow()
                .stream()
                .map(ThreadsTopologyTest::text)
                .toList();
    }

    private static String text(TranscriptEntry entry) {
        return switch (entry) {
            case TranscriptEntry.UserText said -> "user: " + said.text();
            case TranscriptEntry.Summary summary -> "summary: " + summary.text();
            case TranscriptEntry.AssistantTurn turn -> "assistant: " + turn.text();
            case TranscriptEntry.ToolResult result -> "result of " + result.toolName();
        };
    }

    private List<Event> journal() {
        journal.addAll(machine.journal());
        return journal;
    }

    private List<Event> of(KnownEventType type) {
        return journal().stream().filter(event -> event.type() == type).toList();
    }

    private Event last(KnownEventType type) {
        return of(type).getLast();
    }

    private List<String> turns() {
        return journal().stream()
                .filter(event -> event.type() == EnvironmentType.SESSION_TURN)
                .map(event -> event.text("speaker") + " → "
                        + (event.fields().get("next") instanceof List<?> next
                                ? next.stream()
                                        .map(one -> one instanceof Map<?, ?> map ? map.get("agent") : one)
                                        .toList()
                                : "?")
                        + (event.text("ended") == null ? "" : " (" + event.text("ended") + ")"))
                .toList();
    }
}
