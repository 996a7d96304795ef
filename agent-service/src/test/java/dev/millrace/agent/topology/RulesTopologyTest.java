package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.START;
import static dev.millrace.agent.topology.TestMachine.event;
import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.expressions.Expression;
import dev.millrace.agent.files.InvalidAgentException;
import dev.millrace.agent.files.RuleFile;
import dev.millrace.agent.rules.RuleSet;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Extensions;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Segment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From an event to a conversation: what a rule makes of it, in one transaction with it. */
class RulesTopologyTest {

    private static final EventType PLACED = EventType.of("order.placed");

    @TempDir
    private Path folder;

    private TestMachine machine;

    @SuppressWarnings("NullAway.Init") // JUnit calls open before anything else
    RulesTopologyTest() {}

    @BeforeEach
    void open() {
        machine = new TestMachine(folder, new AdmissionSettings(50, AdmissionSettings.Policy.QUEUE));
        machine.rules.use(RuleFile.builtIn());
    }

    @AfterEach
    void close() {
        machine.close();
    }

    @Test
    @DisplayName(
            "F-235 publish_success, agent_handler, F-237 publishEvent_basic: an event is noted and handed to an agent")
    void shouldHandAnEventToAnAgent() {
        // given
        session("s");

        // when
        machine.send(placed("e1", "s"));
        List<Event> journal = machine.journal();

        // then: which rule took it is a fact
        assertThat(journal)
                .extracting(event -> event.type().wireName())
                .startsWith("order.placed", "MESSAGE_RECEIVED", "TASK_CREATED");
        assertThat(journal.getFirst().extension(Extensions.RULE)).matches("fallback@[0-9a-f]{12}");
        assertThat(machine.called()).containsExactly("m-s", task("e1"));
    }

    @Test
    @DisplayName("F-208, F-211: the message that begins the agent's task, and where it comes from")
    void shouldDeriveAMessage() {
        // given
        session("s");

        // when
        machine.send(placed("e1", "s").causalDepth(2));

        // then
        Event given = given().getFirst();
        assertThat(given.id()).isEqualTo(task("e1"));
        assertThat(given.parentEventId()).isEqualTo("e1");
        assertThat(given.correlationId()).isEqualTo("e1");
        assertThat(given.sessionId()).isEqualTo("s");
        assertThat(given.taskId()).isNull();
        assertThat(given.source()).isEqualTo("rules");
        assertThat(given.causalDepth()).isEqualTo(3);
        assertThat(given.effectivePriority()).isEqualTo(190);
        assertThat(given.text("text")).isEqualTo("Process event: order.placed");
    }

    @Test
    @DisplayName(
            "F-236 handle_constructs_messages, handle_message_content, handle_inserts_to_session, F-211 to F-216, X-22: three messages, word for word, then the model")
    void shouldShowThreeMessages() throws MalformedEventException {
        // given
        session("s");

        // when
        machine.send(placed("e1", "s").extension("env_name", "staging"));
        goOn();

        // then
        List<TranscriptEntry> shown = machine.transcript(task("e1"));
        assertThat(shown).hasSize(4);
        assertThat(shown.get(0))
                .isEqualTo(new TranscriptEntry.UserText(
                        "Observed event: order.placed\nEvent ID: e1\nTime: 2026-11-21T12:00:00Z"));
        assertThat(shown.get(1))
                .isEqualTo(new TranscriptEntry.AssistantTurn(
                        null,
                        List.of(new TranscriptEntry.Call("call_e1", "get_event_info", "{\"event_ids\":[\"e1\"]}"))));
        assertThat(shown.get(2)).isInstanceOfSatisfying(TranscriptEntry.ToolResult.class, result -> {
            assertThat(result.toolCallId()).isEqualTo("call_e1");
            assertThat(result.toolName()).isEqualTo("get_event_info");
            assertThat(result.isError()).isFalse();
            assertThat(object(result.content()))
                    .isEqualTo(Map.of(
                            "event_id",
                            "e1",
                            "event_type",
                            "order.placed",
                            "timestamp",
                            "2026-11-21T12:00:00Z",
                            "metadata",
                            Map.of("source", "/shop", "trigger_session_id", "s", "env_name", "staging"),
                            "payload",
                            Map.of("order", 7, "who", "Ada")));
        });
        assertThat(shown.get(3)).isEqualTo(new TranscriptEntry.UserText("Process event: order.placed"));
    }

    @Test
    @DisplayName(
            "F-236 handle_calls_handle_query, F-215, F-219: the model is called once, and its answer ends the task")
    void shouldRunTheQuery() {
        // given
        session("s");

        // when
        machine.send(placed("e1", "s"));
        goOn();
        machine.answer(task("e1"));

        // then
        assertThat(machine.called()).filteredOn(task("e1")::equals).hasSize(1);
        assertThat(machine.journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_COMPLETED)
                .extracting(Event::taskId)
                .contains(task("e1"));
    }

    @Test
    @DisplayName("F-236 handle_no_session_id, F-209, X-33: without a session nothing follows, and no error")
    void shouldDropWhatNamesNoSession() {
        machine.send(placed("e1", null));

        assertThat(given()).isEmpty();
        assertThat(machine.outcomes()).containsExactly("no_session");
        assertThat(machine.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("F-236 handle_session_not_found, F-210, X-33: nor of a session that is not there")
    void shouldDropWhatNamesAnUnknownSession() {
        machine.send(placed("e1", "nowhere"));

        assertThat(given()).isEmpty();
        assertThat(machine.outcomes()).containsExactly("unknown_session");
        assertThat(machine.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("F-235 publish_unknown_type, F-200: no rule is no error")
    void shouldOnlyNoteWhatNoRuleTakes() {
        // given
        machine.rules.use(RuleSet.NONE);
        session("s");

        // when
        machine.send(placed("e1", "s").extension(Extensions.RULE, "forged@1"));

        // then
        assertThat(given()).isEmpty();
        assertThat(machine.journal().getLast().extensions()).isEmpty();
        assertThat(machine.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("F-235 publish_idempotency, F-189: the same event twice is one message")
    void shouldFollowOnce() {
        // given
        session("s");

        // when
        machine.send(placed("e1", "s"));
        machine.send(placed("e1", "s"));

        // then
        assertThat(given()).hasSize(1);
    }

    @Test
    @DisplayName("F-235 queue_processing, queue_prevents_concurrent, F-191, X-28: one after the other in a session")
    void shouldWorkOnOneEventOfASessionAtATime() {
        // given
        session("s");
        session("t");

        // when
        machine.send(placed("e1", "s"));
        machine.send(placed("e2", "s"));
        machine.send(placed("e3", "t"));
        goOn();
        List<String> atOnce = machine.called();
        machine.answer(task("e1"));

        // then
        assertThat(atOnce).contains(task("e1"), task("e3")).doesNotContain(task("e2"));
        assertThat(machine.called()).contains(task("e2"));
    }

    @Test
    @DisplayName("F-237 user_query_rule_handles, X-25: what somebody asks is one task and one model call")
    void shouldRunAQueryOnce() {
        // when
        machine.send(message("m1").sessionId("s").extension(Extensions.ALIAS, "user_query"));
        goOn();

        // then
        assertThat(machine.called()).containsExactly("m1");
        assertThat(given()).isEmpty();
    }

    @Test
    @DisplayName("F-199: the disabled rule of what people say swallows it")
    void shouldSwallowWhatPeopleSay() throws InvalidAgentException {
        // given
        machine.rules.use(
                RuleFile.builtIn()
                        .with(
                                RuleFile.read(
                                        "rules:\n  user_query:\n    on: user_query\n    priority: 100\n    enabled: false\n    query: {}\n")));

        // when
        machine.send(message("m1").sessionId("s"));

        // then
        assertThat(machine.called()).isEmpty();
        assertThat(machine.outcomes()).containsExactly("rule_disabled");
    }

    @Test
    @DisplayName("F-237 session_rule_logs, F-205: session.* is noted only")
    void shouldNoteSessions() {
        // given
        session("s");
        machine.journal();

        // when
        machine.send(event("e1", EventType.of("session.created")).sessionId("s"));

        // then
        assertThat(given()).isEmpty();
        assertThat(machine.journal().getFirst().extension(Extensions.RULE)).startsWith("session@");
    }

    @Test
    @DisplayName("F-237 background_task_rule_creates_agent, F-206, F-228: the end of work elsewhere wakes its session")
    void shouldWakeTheSessionOfWorkElsewhere() {
        // given
        session("s");

        // when: the session stands in the payload
        machine.send(event("e1", EventType.of("background_task.completed"))
                .sessionId("s")
                .payload(Map.of("taskId", "import-3", "result", Map.of("rows", 7))));
        goOn();

        // then
        assertThat(machine.called()).contains(task("e1"));
        assertThat(String.valueOf(given().getFirst().text("text"))).startsWith("Work in the background has completed.");
    }

    @Test
    @DisplayName("F-217, F-193, F-256: the rule may choose agent, prompts and what is shown; the event brings a guide")
    void shouldDoAsTheRuleSays() throws InvalidAgentException {
        // given
        use("""
                rules:
                  orders:
                    on: order.*
                    filter: {payload.who: Ada, metadata.source: /shop}
                    agent:
                      name: explore
                      prompt: "{{payload.who}} ordered {{payload.order}}{{payload.note | .}}"
                      systemPrompt: You are the clerk of {{metadata.source}}.
                      includeToolCall: false
                """);
        session("s");

        // when
        machine.send(placed("e1", "s").extension("agent_guide", "Hurry."));
        goOn();

        // then
        assertThat(machine.transcript(task("e1")))
                .containsExactly(
                        new TranscriptEntry.UserText(
                                "<system_message>\nYou are the clerk of /shop.\n</system_message>"),
                        new TranscriptEntry.UserText(
                                "Observed event: order.placed\nEvent ID: e1\nTime: 2026-11-21T12:00:00Z\n\nHurry."),
                        new TranscriptEntry.UserText("Ada ordered 7."));
        assertThat(given().getFirst().text("taskType")).isEqualTo("explore");
    }

    @Test
    @DisplayName("F-217: the tool may have another name")
    void shouldShowTheEventAsAnotherTool() throws InvalidAgentException {
        // given
        use("rules:\n  a:\n    on: '*'\n    agent: {toolName: look}\n");
        session("s");

        // when
        machine.send(placed("e1", "s"));
        goOn();

        // then
        assertThat(machine.transcript(task("e1")).get(2))
                .isInstanceOfSatisfying(
                        TranscriptEntry.ToolResult.class,
                        result -> assertThat(result.toolName()).isEqualTo("look"));
    }

    @Test
    @DisplayName("F-234: events that a rule's filter does not want are for the next rule")
    void shouldFilter() throws InvalidAgentException {
        // given
        use("rules:\n  ada:\n    on: order.placed\n    filter: {payload.order: 8}\n    agent: {}\n");
        session("s");

        // when
        machine.send(placed("e1", "s"));

        // then
        assertThat(given()).isEmpty();
    }

    private static final String CALLING = """
            rules:
              tell:
                on: order.placed
                call:
                  tool: post_order
                  arguments:
                    order: "{{payload.order}}"
                    who: "for {{payload.who}}"
                    all: "{{payload}}"
                    list: ["{{payload.who}}", 3, true, {from: "{{metadata.source}}"}]
            """;

    @Test
    @DisplayName("F-235 function_handler, F-193: a tool is called by name, with typed arguments, and no model")
    void shouldCallATool() throws InvalidAgentException {
        // given
        machine.serve("post_order");
        use(CALLING);
        session("s");

        // when
        machine.send(placed("e1", "s"));
        goOn();
        Event request = requested().getFirst();
        machine.send(completed(request, Map.of("posted", 7)));

        // then
        assertThat(request.taskId()).isEqualTo(task("e1"));
        assertThat(request.sessionId()).isEqualTo("s");
        assertThat(request.fields()).containsEntry("toolName", "post_order").containsEntry("taskType", "general");
        assertThat(request.fields().get("params"))
                .isEqualTo(Map.of(
                        "order",
                        7,
                        "who",
                        "for Ada",
                        "all",
                        Map.of("order", 7, "who", "Ada"),
                        "list",
                        List.of("Ada", 3, true, Map.of("from", "/shop"))));
        assertThat(machine.called()).doesNotContain(task("e1"));
        assertThat(ended())
                .extracting(
                        event -> event.type().wireName() + ' ' + event.fields().get("result"))
                .containsExactly("TASK_COMPLETED {taskId=" + task("e1")
                        + ", input=Call post_order for event: order.placed, response={\"posted\":7}, iterations=0}");
    }

    @Test
    @DisplayName("X-26, F-248: a tool that always fails fails its own task with the reason, and stops no other")
    void shouldGoOnAfterAToolThatFails() throws InvalidAgentException {
        // given
        machine.serve("post_order");
        use(CALLING + "  fine:\n    on: x\n    agent: {}\n");
        session("s");

        // when
        machine.send(placed("e1", "s"));
        machine.send(placed("e2", "s"));
        machine.send(event("e3", EventType.of("x")).sessionId("s"));
        goOn();
        for (String expected : List.of("e1", "e2")) {
            Event request = requested().getLast();
            assertThat(request.taskId()).isEqualTo(task(expected));
            machine.send(failed(request, "the till is jammed"));
            goOn();
        }

        // then
        assertThat(ended())
                .extracting(event -> event.text("code") + ": " + event.text("error"))
                .containsExactly(
                        "tool_call_failed: The call of post_order failed: the till is jammed",
                        "tool_call_failed: The call of post_order failed: the till is jammed");
        assertThat(machine.called()).contains(task("e3"));
        assertThat(machine.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("F-248: a call follows from an event once, and counts once, whatever comes twice")
    void shouldCallOnce() throws InvalidAgentException {
        // given
        machine.serve("post_order");
        use(CALLING);

        // when: without a session, too
        machine.send(placed("e1", null));
        machine.send(placed("e1", null));
        goOn();
        Event request = requested().getFirst();
        machine.send(completed(request, "ok"));
        machine.send(completed(request, "ok"));
        machine.send(failed(request, "too late"));

        // then
        assertThat(requested()).hasSize(1);
        assertThat(ended()).extracting(Event::type).containsExactly(KnownEventType.TASK_COMPLETED);
        assertThat(request.sessionId()).isNull();
    }

    @Test
    @DisplayName(
            "a tool that is not there, that the agent may not call or that is the machine's own: the task says why")
    void shouldSayWhyAToolIsNotCalled() throws InvalidAgentException {
        // given
        machine.serve("post_order");
        use("""
                rules:
                  unknown: {on: a, call: {tool: post_oder}}
                  denied: {on: b, call: {tool: post_order, agent: explore}}
                  own: {on: c, call: {tool: spawn_task, arguments: {task_type: explore, input: Look}}}
                """);

        // when
        for (String type : List.of("a", "b", "c")) {
            machine.send(event("e-" + type, EventType.of(type)));
            goOn();
        }

        // then
        assertThat(requested()).isEmpty();
        assertThat(ended())
                .extracting(event -> event.text("error"))
                .satisfiesExactly(
                        error -> assertThat(error).contains("Tool \"post_oder\" not found"),
                        error -> assertThat(error).contains("not available for task type \"explore\""),
                        error -> assertThat(error).contains("A rule cannot call spawn_task"));
    }

    @Test
    @DisplayName("a call that needs a person's agreement waits for it, and runs or fails as decided")
    void shouldWaitForAgreement() throws InvalidAgentException {
        // given
        machine.serve("post_order");
        machine.use("clerk", """
                ---
                description: d
                tools: [post_order]
                approval: {post_order: {expiry: 10m}}
                ---
                You are a clerk.
                """);
        use("rules:\n  tell:\n    on: order.placed\n    call: {tool: post_order, agent: clerk}\n");

        // when
        machine.send(placed("e1", null));
        machine.send(placed("e2", null));
        goOn();
        boolean early = !requested().isEmpty();
        for (Event asked : journalled(KnownEventType.APPROVAL_REQUESTED)) {
            machine.send(event("d-" + asked.taskId(), KnownEventType.APPROVAL_DECIDED)
                    .taskId(asked.taskId())
                    .payload(Map.of(
                            "callId",
                            asked.fields().get("callId"),
                            "decision",
                            task("e1").equals(asked.taskId()) ? "approve" : "reject")));
        }
        goOn();

        // then
        assertThat(early).isFalse();
        assertThat(requested()).extracting(Event::taskId).containsExactly(task("e1"));
        assertThat(ended()).extracting(Event::taskId).containsExactly(task("e2"));
    }

    @Test
    @DisplayName(
            "F-255: a model call that fails for good: three more attempts, each in a new session that quotes the error")
    void shouldTryAgain() throws InvalidAgentException {
        // given
        use("rules:\n  orders:\n    on: order.placed\n    agent: {prompt: Look}\n");
        session("s");

        // when
        machine.send(placed("e1", "s"));
        goOn();
        // what is known in memory is read out of the rows again after something broke, as after a crash
        machine.breakAcceptingOnce();
        machine.send(TestMachine.message("broken"));
        machine.fail(task("e1"), "model_unavailable", "overloaded 0");
        goOn();
        for (int attempt = 1; attempt <= 3; attempt++) {
            machine.fail(given().getLast().id(), "model_unavailable", "overloaded " + attempt);
            goOn();
        }

        // then
        assertThat(given()).hasSize(4);
        assertThat(given()).extracting(Event::sessionId).doesNotHaveDuplicates().startsWith("s");
        Event last = given().getLast();
        assertThat(last.text("text")).isEqualTo("Look");
        assertThat(machine.transcript(last.id()).getFirst())
                .isEqualTo(
                        new TranscriptEntry.UserText(
                                "Observed event: order.placed\nEvent ID: e1\nTime: 2026-11-21T12:00:00Z\n\n"
                                        + "An agent was given this event before, in another session, and failed: overloaded 2"));
        assertThat(journalled(KnownEventType.TASK_FAILED)).hasSize(4);
        assertThat(journal)
                .filteredOn(event -> event.type().wireName().equals("session.created"))
                .extracting(event -> event.sessionId() + ' ' + event.text("title"))
                .contains(last.sessionId() + " [Event] order.placed - 2026-11-21T12:00:00Z");
        try (KeyValueIterator<String, Event> kept =
                machine.rows(TaskStores.GIVEN).all()) {
            assertThat(kept.hasNext()).isFalse();
        }
    }

    @Test
    @DisplayName("no other attempt: after a cancel or a limit, where the rule says 0, or with too many in a minute")
    void shouldNotTryAgain() throws InvalidAgentException {
        // given: three of a session, five of a rule
        use("""
                rules:
                  off: {on: a, agent: {retries: 0}}
                  on: {on: b, agent: {}}
                """);
        for (String id : List.of("s", "t", "u")) {
            session(id);
        }

        // when
        machine.send(event("off", EventType.of("a")).sessionId("s"));
        machine.send(event("cancelled", EventType.of("b")).sessionId("t"));
        machine.send(event("done", EventType.of("b")).sessionId("u"));
        goOn();
        machine.fail(task("off"), "model_unavailable", "overloaded");
        machine.send(event("c", KnownEventType.TASK_CANCEL_REQUESTED)
                .taskId(task("cancelled"))
                .sessionId("t"));
        machine.answer(task("done"));
        goOn();
        int afterThose = given().size();
        machine.send(event("x", EventType.of("b")).sessionId("s"));
        machine.send(event("y", EventType.of("b")).sessionId("t"));
        machine.send(event("z", EventType.of("b")).sessionId("u"));
        goOn();
        machine.fail(task("x"), "model_unavailable", "overloaded");
        goOn();

        // then: the rule has had its five
        assertThat(afterThose).isEqualTo(3);
        assertThat(given()).hasSize(6);
    }

    @Test
    @DisplayName(
            "a condition decides which events a rule takes; one that cannot be decided, or costs too much, does not hold")
    void shouldTakeWhatTheConditionSays() throws InvalidAgentException {
        // given
        use("""
                rules:
                  large:
                    on: order.placed
                    priority: 5
                    when: "payload.total > 100.0 && metadata.source == '/shop' && event_type == 'order.placed'"
                    log: {}
                  costly:
                    on: order.placed
                    priority: 4
                    when: payload.list.all(a, payload.list.all(b, payload.list.all(c, a + b + c >= 0)))
                    log: {}
                """);

        // when
        List<@Nullable String> rules = new ArrayList<>();
        for (Map<String, Object> payload : List.<Map<String, Object>>of(
                Map.of("total", 150),
                Map.of("total", 100.5),
                Map.of("total", 100),
                Map.of("total", "much"),
                Map.of(),
                Map.of("list", List.of(1, 2)),
                Map.of("list", Collections.nCopies(100, 1)),
                Map.of("total", 150, "text", "x".repeat(Expression.MAX_CHARS)))) {
            machine.send(event("o" + rules.size(), PLACED).source("/shop").payload(payload));
            String rule = machine.journal().getLast().extension(Extensions.RULE);
            rules.add(rule == null ? null : rule.substring(0, rule.indexOf('@')));
        }

        // then
        assertThat(rules).containsExactly("large", "large", null, null, null, "costly", null, null);
        assertThat(machine.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName(
            "F-254: without a session the newest of the event's client, then of its chat; the session it names goes first")
    void shouldFindTheSessionOfAnOrigin() {
        // given
        session("s");
        machine.origins.put("default CLIENT web-7", "of-client");
        machine.origins.put("default CHAT room", "of-chat");

        // when
        machine.send(placed("e1", null).extension("clientid", "web-7").extension("chat_id", "room"));
        machine.send(placed("e2", null).extension("clientid", "nobody").extension("chatid", "room"));
        machine.send(placed("e3", "s").extension("clientid", "web-7"));
        machine.send(placed("e4", null).extension("clientid", "nobody"));
        machine.send(placed("e5", null).extension("clientid", "web-7").namespace("acme"));

        // then
        assertThat(given())
                .extracting(event -> event.parentEventId() + ' ' + event.sessionId())
                .containsExactly("e1 of-client", "e2 of-chat", "e3 s");
    }

    @Test
    @DisplayName("F-254: and at last a new session with a title, where the settings allow it")
    void shouldBeginASession(@TempDir Path elsewhere) {
        try (TestMachine open = TestMachine.withNewSessions(elsewhere)) {
            // given
            open.rules.use(RuleFile.builtIn());

            // when
            open.send(placed("e1", null).extension("clientid", "nobody"));
            open.driver.advanceWallClockTime(Duration.ofMillis(1));

            // then
            List<Event> all = open.journal();
            String begun = Ids.derived("e1", PLACED, 0);
            assertThat(open.called()).containsExactly(task("e1"));
            assertThat(all)
                    .filteredOn(event -> event.id().equals(task("e1")))
                    .extracting(Event::sessionId)
                    .containsExactly(begun);
            assertThat(all)
                    .filteredOn(event -> event.type().wireName().equals("session.created"))
                    .extracting(event -> event.sessionId() + ' ' + event.text("title"))
                    .containsExactly(begun + " [Event] order.placed - 2026-11-21T12:00:00Z");
        }
    }

    private static final String QUIET =
            "rules: {file: {on: file.changed, debounce: {quiet: 2s, key: '{{payload.path}}'}, agent: {}}}";

    @Test
    @DisplayName("F-234: of events that come quickly one after another the last is handed over, once it is quiet")
    void shouldWaitUntilItIsQuiet() throws InvalidAgentException {
        // given
        use(QUIET);
        session("s");
        session("t");

        // when
        for (int i = 0; i < 3; i++) {
            machine.send(changed("a" + i, "s", "a.txt"));
            machine.driver.advanceWallClockTime(Duration.ofMillis(1_500));
        }
        machine.send(changed("b0", "s", "b.txt"));
        machine.send(changed("c0", "t", "a.txt"));
        List<Event> early = List.copyOf(given());
        machine.driver.advanceWallClockTime(Duration.ofMillis(800));
        List<String> first = given().stream().map(Event::parentEventId).toList();
        machine.driver.advanceWallClockTime(Duration.ofSeconds(2));
        machine.driver.advanceWallClockTime(Duration.ofSeconds(10));

        // then
        assertThat(early).isEmpty();
        assertThat(first).containsExactly("a2");
        assertThat(given()).extracting(Event::parentEventId).containsExactlyInAnyOrder("a2", "b0", "c0");
        journal.addAll(machine.journal());
        assertThat(journal)
                .filteredOn(event -> event.type().wireName().equals("file.changed"))
                .allMatch(event ->
                        String.valueOf(event.extension(Extensions.RULE)).startsWith("file@"))
                .hasSize(5);
    }

    @Test
    @DisplayName("what waits is handed over once also if another instance has the partition then")
    void shouldWaitOverARestart(@TempDir Path elsewhere) throws InvalidAgentException {
        // given
        use(QUIET);
        session("s");
        machine.send(changed("a0", "s", "a.txt"));

        // when
        try (TestMachine next = new TestMachine(elsewhere, new AdmissionSettings(50, AdmissionSettings.Policy.QUEUE))) {
            next.inherit(machine, TaskStores.HELD);
            next.inherit(machine, TaskStores.SESSIONS);
            next.rules.use(new RuleSet(RuleFile.read(QUIET)));
            // what is known of rows in memory is read anew after something was undone
            next.breakAcceptingOnce();
            next.send(message("m9"));
            next.driver.advanceWallClockTime(Duration.ofSeconds(3));
            next.driver.advanceWallClockTime(Duration.ofSeconds(3));

            // then
            assertThat(next.called()).filteredOn(task("a0")::equals).hasSize(1);
            assertThat(next.journal())
                    .filteredOn(event -> event.id().equals(task("a0")))
                    .hasSize(1);
        }
    }

    @Test
    @DisplayName("of a session that is forgotten nothing waits any more")
    void shouldForgetWhatWaits() throws InvalidAgentException {
        // given
        use(QUIET);
        session("s");
        session("t");
        machine.send(changed("a0", "s", "a.txt"));
        machine.send(changed("b0", "t", "a.txt"));

        // when
        machine.send(event("f", KnownEventType.FORGET_REQUESTED)
                .sessionId("s")
                .payload(Map.of("scope", "session", "sessionId", "s")));
        List<String> waiting = new ArrayList<>();
        try (KeyValueIterator<String, HeldEvents.Row> rows =
                machine.rows(TaskStores.HELD).all()) {
            rows.forEachRemaining(row -> waiting.add(row.value.event().id()));
        }

        // then
        assertThat(waiting).containsExactly("b0");
    }

    @Test
    void shouldHoldSoManyEventsAndNoMore() {
        // given
        HeldEvents held = new HeldEvents(machine.rows(TaskStores.HELD));
        Event event = changed("a0", "s", "a.txt").build();
        for (int i = 0; i < HeldEvents.MAX_HELD; i++) {
            assertThat(held.hold("k" + i, "file", event, 1_000 + i)).isTrue();
        }

        // when // then: one that is there already may be replaced
        assertThat(held.hold("one more", "file", event, 0)).isFalse();
        assertThat(held.hold("k1", "file", event, 9_999_999)).isTrue();
        assertThat(held.due(1_002, 100)).containsExactly("k0", "k2");
        assertThat(new HeldEvents(machine.rows(TaskStores.HELD)).due(1_002, 1)).containsExactly("k0");
    }

    private static Event.Builder changed(String id, String session, String path) {
        return event(id, EventType.of("file.changed")).sessionId(session).payload(Map.of("path", path));
    }

    private final List<Event> journal = new ArrayList<>();

    private List<Event> journalled(KnownEventType... types) {
        journal.addAll(machine.journal());
        return journal.stream()
                .filter(event -> List.of(types).contains(event.type()))
                .filter(event -> event.taskId() == null || !event.taskId().startsWith("m-"))
                .toList();
    }

    private List<Event> requested() {
        return journalled(KnownEventType.TOOL_CALL_REQUESTED);
    }

    private List<Event> ended() {
        return journalled(KnownEventType.TASK_COMPLETED, KnownEventType.TASK_FAILED);
    }

    private static Event.Builder completed(Event request, Object result) {
        return reply(request, KnownEventType.TOOL_CALL_COMPLETED)
                .payload(Map.of("callId", callId(request), "toolName", "t", "result", result, "durationMs", 1));
    }

    private static Event.Builder failed(Event request, String error) {
        return reply(request, KnownEventType.TOOL_CALL_FAILED)
                .payload(Map.of(
                        "callId",
                        callId(request),
                        "toolName",
                        "t",
                        "error",
                        error,
                        "code",
                        "execution_error",
                        "durationMs",
                        1));
    }

    private static String callId(Event request) {
        return String.valueOf(request.fields().get("callId"));
    }

    private static Event.Builder reply(Event request, KnownEventType type) {
        return event(Ids.derived(callId(request), type, 0), type)
                .taskId(request.taskId())
                .sessionId(request.sessionId())
                .correlationId(request.correlationId())
                .parentEventId(request.parentEventId())
                .source("tools.executor");
    }

    @Test
    @DisplayName("F-199: nothing happens to what a disabled rule takes")
    void shouldDoNothingIfDisabled() throws InvalidAgentException {
        // given
        use(
                "rules:\n  off:\n    on: order.placed\n    priority: 5\n    enabled: false\n    agent: {}\n  on:\n    on: '*'\n    agent: {}\n");
        session("s");

        // when
        machine.send(placed("e1", "s"));

        // then
        assertThat(given()).isEmpty();
    }

    @Test
    @DisplayName("X-26, F-248: a rule that does not fit its event stops nothing, and the next event is taken")
    void shouldGoOnAfterABrokenRule() throws InvalidAgentException {
        // given
        use(
                "rules:\n  broken:\n    on: order.placed\n    agent: {prompt: '{{payload.nothing}}'}\n  fine:\n    on: x\n    agent: {}\n");
        session("s");
        machine.outcomes();

        // when
        machine.send(placed("e1", "s"));
        List<String> outcomes = machine.outcomes();
        machine.send(event("e2", EventType.of("x")).sessionId("s"));

        // then
        assertThat(outcomes).containsExactly("rule_failed");
        assertThat(given()).extracting(Event::parentEventId).containsExactly("e2");
        assertThat(machine.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("X-25: a session is given so many events in a minute, and a rule as well")
    void shouldBoundWhatFollows() {
        // given: three of a session, five of a rule
        session("s");
        session("t");
        machine.outcomes();

        // when
        for (int i = 0; i < 4; i++) {
            machine.send(placed("s" + i, "s"));
        }
        for (int i = 0; i < 3; i++) {
            machine.send(placed("t" + i, "t"));
        }
        List<String> outcomes = machine.outcomes();
        machine.driver.advanceWallClockTime(Duration.ofMinutes(1));
        machine.send(placed("s9", "s"));

        // then
        assertThat(outcomes).filteredOn("rule_rate"::equals).hasSize(2);
        assertThat(given()).extracting(Event::parentEventId).containsExactly("s0", "s1", "s2", "t0", "t1", "s9");
    }

    @Test
    @DisplayName("X-25: a rule that triggers itself ends at the depth")
    void shouldEndChains() {
        // given
        int max = MachineLimits.DEFAULT.task().maxCausalDepth();
        session("s");

        // when: each task sends what the next one is given
        machine.send(placed("at", "s").causalDepth(max - 1));
        goOn();
        machine.answer(task("at"));
        machine.send(placed("past", "s").causalDepth(max));
        goOn();

        // then
        assertThat(machine.called()).contains(task("at")).doesNotContain(task("past"));
        assertThat(machine.journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_FAILED)
                .extracting(event -> event.text("code"))
                .containsExactly("causal_depth_limit");
    }

    @Test
    @DisplayName("an event is no answer to a question that is open")
    void shouldNotTakeAnEventForAnAnswer() {
        // given
        machine.send(message("m1").sessionId("s"));
        machine.ask("m1", "Which one?");

        // when
        machine.send(placed("e1", "s"));

        // then: what somebody says is
        assertThat(machine.called()).containsExactly("m1");
        machine.send(message("m2").sessionId("s"));
        assertThat(machine.called()).containsExactly("m1", "m1");
        machine.answer("m1");
        assertThat(machine.called()).containsExactly("m1", "m1", task("e1"));
    }

    @Test
    @DisplayName("an event that is too large to be shown is shown in part")
    void shouldShowAPartOfALargeEvent() {
        // given
        session("s");

        // when
        machine.send(placed("e1", "s").payload(Map.of("text", "x".repeat(EnvironmentEvents.MAX_SHOWN))));
        goOn();

        // then
        assertThat(machine.transcript(task("e1")).get(2))
                .isInstanceOfSatisfying(
                        TranscriptEntry.ToolResult.class,
                        result -> assertThat(result.content())
                                .contains("\"truncated\"")
                                .hasSizeLessThan(2 * EnvironmentEvents.MAX_SHOWN));
    }

    /** A session of which there is something. */
    private void session(String id) {
        machine.send(message("m-" + id).sessionId(id));
        machine.answer("m-" + id);
        machine.journal();
    }

    private void use(String file) throws InvalidAgentException {
        machine.rules.use(new RuleSet(RuleFile.read(file)));
    }

    /** The id of the task that an event leads to. */
    private static String task(String eventId) {
        return Ids.derived(eventId, KnownEventType.MESSAGE_RECEIVED, 0);
    }

    private final List<Event> all = new ArrayList<>();

    /** All messages so far that agents are given events by. */
    private List<Event> given() {
        var lane = machine.driver.createOutputTopic(
                TestMachine.TOPICS.lane(Segment.EXTERNAL), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        for (TestRecord<byte[], byte[]> one : lane.readRecordsToList()) {
            try {
                Event event = EventCodec.fromRecord(one.headers(), one.value(), START);
                if (event.type() == KnownEventType.MESSAGE_RECEIVED) {
                    all.add(event);
                }
            } catch (MalformedEventException e) {
                throw new AssertionError(e);
            }
        }
        return all;
    }

    /** The driver takes what the machine puts on its lanes by itself. */
    private void goOn() {
        machine.driver.advanceWallClockTime(Duration.ofMillis(1));
    }

    private static Event.Builder placed(String id, @Nullable String session) {
        return event(id, PLACED).source("/shop").sessionId(session).payload(Map.of("order", 7, "who", "Ada"));
    }

    private static Map<String, @Nullable Object> object(String json) {
        try {
            return Json.readObject(json.getBytes(StandardCharsets.UTF_8));
        } catch (MalformedEventException e) {
            throw new AssertionError(e);
        }
    }
}
