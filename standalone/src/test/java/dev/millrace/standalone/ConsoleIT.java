package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import dev.millrace.schemas.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** The console in a real browser, screen by screen; the last of the tests kills the process behind it. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ConsoleIT extends ConsoleStage {

    @Test
    @Order(1)
    @DisplayName("a new user begins at /, chats, sees the model think and call, approves an edited call in place")
    void shouldChatAndApproveInPlace() {
        // given
        page.navigate("http://localhost:" + PORT + "/");
        heading("New chat");

        // when
        page.getByLabel("Agent").selectOption("careful");
        page.getByLabel("What is to be done").fill("write the note, please");
        page.keyboard().press("Enter");

        // then
        Locator ask = page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName("Approval"));
        PlaywrightAssertions.assertThat(ask).containsText("write_file wants to run");
        assertThat(page.url()).contains("/console/sessions/chat-");
        picture("chat");
        assertAccessible("the chat with an approval");

        // when
        ask.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Edit the arguments"))
                .click();
        ask.getByLabel("content").fill("grease the gate");
        ask.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Approve as edited"))
                .click();

        // then
        Locator turn = page.locator("article.turn");
        PlaywrightAssertions.assertThat(turn).containsText("completed");
        PlaywrightAssertions.assertThat(turn.locator(".prose strong")).hasText("is written");
        PlaywrightAssertions.assertThat(turn.locator(".prose a")).hasText("a link (https://example.org/)");
        PlaywrightAssertions.assertThat(turn).containsText("approved");
        assertThat(temp.resolve("workspace/note.txt")).hasContent("grease the gate");
        assertAccessible("the chat with its answer");
        assertFits("the chat");

        // and when: more is said in the same conversation
        page.getByLabel("What is to be done").fill("hello again");
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Send"))
                .click();

        // then
        PlaywrightAssertions.assertThat(turn.last()).containsText("You said hello again");
        PlaywrightAssertions.assertThat(turn).hasCount(2);
    }

    @Test
    @Order(2)
    @DisplayName("what a sub-task asks is decided in the chat of the task that started it")
    void shouldApproveForASubTask() {
        // given
        page.navigate(BASE + "/chat?agent=boss");
        PlaywrightAssertions.assertThat(page.getByLabel("Agent")).hasValue("boss");
        page.getByLabel("What is to be done").fill("delegate it");
        page.keyboard().press("Enter");

        // when
        Locator ask = page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName("A sub-task asks"));
        PlaywrightAssertions.assertThat(ask).containsText("wants to run write_file");
        ask.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Reject"))
                .click();

        // then
        PlaywrightAssertions.assertThat(page.locator("article.turn")).containsText("My helper says");
        PlaywrightAssertions.assertThat(ask).hasCount(0);

        // and: the task page has both directions
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("open as task"))
                .click();
        Locator children = page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName("Sub-tasks"));
        PlaywrightAssertions.assertThat(children).containsText("write the note for me");
        children.getByRole(AriaRole.LINK).first().click();
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("part of");
    }

    @Test
    @Order(3)
    @DisplayName("a task tells what it did and why: timeline, causes, machine, raw event; a failed one its error first")
    void shouldExplainATask() {
        // given
        String taskId = API.submit("read all of it");
        API.awaitEnd(taskId, LIMIT);

        // when
        page.navigate(BASE + "/tasks/" + taskId);

        // then
        Locator bars = page.locator("table.timeline tbody tr");
        PlaywrightAssertions.assertThat(page.locator("h1")).containsText("completed");
        PlaywrightAssertions.assertThat(page.locator("table.timeline")).containsText("list_files");
        PlaywrightAssertions.assertThat(page.locator("table.timeline")).containsText("not_found");
        assertThat(bars.count()).isGreaterThanOrEqualTo(6);
        PlaywrightAssertions.assertThat(page.getByLabel("Budget")).containsText("Model calls");
        assertAccessible("the timeline");
        assertFits("the task");

        // when
        page.locator("button.span", new Page.LocatorOptions().setHasText("read_file"))
                .click();
        // then
        PlaywrightAssertions.assertThat(page.getByRole(
                        AriaRole.REGION,
                        new Page.GetByRoleOptions().setName("Event").setExact(true)))
                .containsText("\"toolName\": \"read_file\"");
        assertThat(page.url()).contains("event=");

        // when
        page.getByRole(AriaRole.TAB, new Page.GetByRoleOptions().setName("Causes"))
                .click();
        // then
        int events = API.events(taskId).size();
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.TREEITEM)).hasCount(events);
        assertAccessible("the causes");

        // when
        page.getByRole(AriaRole.TAB, new Page.GetByRoleOptions().setName("Machine"))
                .click();
        // then
        PlaywrightAssertions.assertThat(page.locator(".machine .node.now")).containsText("completed");
        List<String> walked = new ArrayList<>();
        API.get("/v1/tasks/" + taskId + "/history").json().path("history").forEach(move -> {
            String edge = move.path("fromState").asText() + " → "
                    + move.path("toState").asText();
            if (!walked.contains(edge)) {
                walked.add(edge);
            }
        });
        assertThat(page.locator(".machine .edge.on title").allTextContents().stream()
                        .map(title -> title.substring(0, title.indexOf(':'))))
                .containsExactlyInAnyOrderElementsOf(walked);
        picture("machine", List.of(WIDE)); // on a telephone it is moved about in its frame
        assertAccessible("the machine");
        page.goBack();
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.TREE)).isVisible();

        // and: a failed task begins with why
        String failed = API.submit("refuse it");
        API.awaitEnd(failed, LIMIT);
        page.navigate(BASE + "/tasks/" + failed);
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.ALERT)).containsText("auth_failed");
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.ALERT)).containsText("the key is wrong");
    }

    @Test
    @Order(3)
    @DisplayName("a task that ends while its page is being loaded is shown as ended, though nothing follows any more")
    void shouldShowAnEndThatComesWhileItLoads() {
        // given
        String taskId = API.submit("which wheel turns");
        await().atMost(LIMIT).until(() -> waitsFor(taskId).equals("answer"));
        page.route("**/v1/tasks/" + taskId + "/events*", route -> {
            // the page has asked for the task before it asks for its events
            if (waitsFor(taskId).equals("answer")) {
                API.post(
                        "/v1/tasks/" + taskId + "/resume",
                        Map.of("Content-Type", "application/json"),
                        Json.write(Map.of("newInput", "the small one")));
                API.awaitEnd(taskId, LIMIT);
            }
            route.resume();
        });

        // when
        page.navigate(BASE + "/tasks/" + taskId);

        // then
        PlaywrightAssertions.assertThat(page.locator(".answer-box")).containsText("So it is the small one.");
        PlaywrightAssertions.assertThat(page.locator("h1")).containsText("completed");
    }

    @Test
    @Order(4)
    @DisplayName(
            "tasks: filters are the address, what is new waits for a click, many are cancelled with an outcome each")
    void shouldListFilterAndCancel() {
        // given
        List<String> waiting = IntStream.range(0, 3)
                .mapToObj(number -> API.submit("which wheel, number " + number))
                .toList();
        waiting.forEach(
                taskId -> await().atMost(LIMIT).until(() -> waitsFor(taskId).equals("answer")));
        page.navigate(BASE + "/tasks");
        Locator rows = page.locator("table.tasks tbody tr");
        PlaywrightAssertions.assertThat(rows.first()).containsText("which wheel");
        picture("tasks");
        assertAccessible("the tasks");
        assertFits("the tasks");

        // when: somebody else begins one
        String other = API.submit("read all of it, too");
        // then: it does not push away what is being read
        Locator pill = page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("1 new"));
        PlaywrightAssertions.assertThat(pill).isVisible();
        PlaywrightAssertions.assertThat(rows.first()).containsText("which wheel, number 2");
        pill.click();
        PlaywrightAssertions.assertThat(rows.first()).containsText("read all of it, too");
        API.awaitEnd(other, LIMIT);
        PlaywrightAssertions.assertThat(rows.first()).containsText("completed");

        // when
        page.getByLabel("Text", new Page.GetByLabelOptions().setExact(true)).fill("WHEEL, number");
        page.getByLabel("Waits for").selectOption("answer");
        // then
        PlaywrightAssertions.assertThat(rows).hasCount(3);
        PlaywrightAssertions.assertThat(page)
                .hasURL(Pattern.compile(".*(text=WHEEL.*waitingFor=answer|waitingFor=answer.*text=WHEEL).*"));
        page.reload();
        PlaywrightAssertions.assertThat(rows).hasCount(3);
        PlaywrightAssertions.assertThat(page.getByLabel("State", new Page.GetByLabelOptions().setExact(true)))
                .containsText("suspended 3");

        // when
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Cancel…"))
                .click();
        Locator question = page.getByRole(AriaRole.DIALOG);
        PlaywrightAssertions.assertThat(question).containsText("Cancel 3 tasks?");
        question.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Yes, do it"))
                .click();

        // then
        PlaywrightAssertions.assertThat(
                        page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName("What became of it")))
                .containsText("3 cancelled");
        waiting.forEach(taskId -> assertThat(
                        API.get("/v1/tasks/" + taskId).json().path("state").asText())
                .isEqualTo("cancelled"));
    }

    @Test
    @Order(5)
    @DisplayName("the inbox by keyboard alone: from another screen to three decisions, the oldest first")
    void shouldDecideByKeyboardAlone() {
        // given
        leaveNobodyWaiting();
        String first = submitTo("careful", "write the note, first");
        await().atMost(LIMIT).until(() -> waitsFor(first).equals("approval"));
        String second = API.submit("which wheel is it");
        await().atMost(LIMIT).until(() -> waitsFor(second).equals("answer"));
        String third = submitTo("careful", "write the note, third");
        await().atMost(LIMIT).until(() -> waitsFor(third).equals("approval"));
        page.navigate(BASE + "/tasks");
        heading("Tasks");
        PlaywrightAssertions.assertThat(page.locator("nav .badge")).hasText("3");

        // when
        page.keyboard().press("g");
        page.keyboard().press("i");

        // then
        heading("Inbox");
        Locator items = page.locator("button.item");
        PlaywrightAssertions.assertThat(items).hasCount(3);
        PlaywrightAssertions.assertThat(items.first()).containsText("write_file");
        PlaywrightAssertions.assertThat(items.nth(1)).containsText("Which wheel do you mean?");
        PlaywrightAssertions.assertThat(page.getByLabel("What is asked")).containsText("write the note, first");
        picture("inbox");
        assertAccessible("the inbox");
        assertFits("the inbox");

        // when
        page.keyboard().press("a");
        // then: the question opens itself
        PlaywrightAssertions.assertThat(page.getByLabel("What is asked")).containsText("A question");
        assertThat(API.awaitEnd(first, LIMIT).path("state").asText()).isEqualTo("completed");

        // when
        tabTo("textarea");
        page.keyboard().type("the great one");
        page.keyboard().press("Enter");
        // then
        assertThat(API.awaitEnd(second, LIMIT).path("response").asText()).isEqualTo("So it is the great one.");
        PlaywrightAssertions.assertThat(page.getByLabel("What is asked")).containsText("write the note, third");

        // when: a key in a field is a letter, and no command
        tabTo("input.reason");
        page.keyboard().type("are not now");
        page.keyboard().press("Escape");
        page.keyboard().press("r");
        // then
        assertThat(API.awaitEnd(third, LIMIT).path("state").asText()).isEqualTo("completed");
        assertThat(API.events(third).toString()).contains("are not now");
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("Nobody waits for you");

        // when
        page.keyboard().press("?");
        // then
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.DIALOG)).containsText("Keys");
        assertAccessible("the settings");
        page.keyboard().press("Escape");
    }

    @Test
    @Order(6)
    @DisplayName("hostile texts are shown as text, wherever they stand")
    void shouldShowHostileTextsAsText() {
        // given
        String task = submitTo("general", "say it back " + HOSTILE, "hostile");
        API.awaitEnd(task, LIMIT);
        String giant = submitTo("general", "giant", "hostile");
        assertThat(API.awaitEnd(giant, Duration.ofSeconds(90)).path("response").asText())
                .hasSize(GIANT);

        for (String screen : List.of(
                "/sessions/hostile", "/tasks/" + task, "/tasks/" + task + "?tab=causes", "/tasks?sessionId=hostile")) {
            // when
            page.navigate(BASE + screen);

            // then
            PlaywrightAssertions.assertThat(page.locator("main")).containsText("<img src=x onerror=alert(1)>");
            assertThat(page.locator("main img, main script, main style").count())
                    .as(screen)
                    .isZero();
            assertThat(page.locator("main a[href^=javascript]").count()).isZero();
            assertThat(page.locator("main").textContent())
                    .doesNotContain("\u202E")
                    .contains("‹202E›");
            assertFits(screen);
        }
        for (String screen : List.of("/tasks/" + giant, "/sessions/hostile")) {
            page.navigate(BASE + screen);
            PlaywrightAssertions.assertThat(page.locator("pre.long")).isVisible();
            assertThat(page.locator("pre.long").textContent()).hasSize(GIANT);
            assertFits("a line of a megabyte at " + screen);
        }
    }

    @Test
    @Order(8)
    @DisplayName("what events come to: live text is void once it is told anew, and the journal has the last word")
    void shouldMakeTheSameOfTheSameEvents() {
        // given
        page.navigate(BASE + "/tasks");

        // when
        Object found = page.evaluate("""
                async () => {
                  const { Turn, spans, scale, causes, withSubTasks } = await import('/console/-/story.js')
                  const { diff, excerpt } = await import('/console/-/diff.js')
                  const turn = new Turn('t')
                  const text = () => turn.blocks.filter(block => block.kind === 'call').map(block => block.text).join('|')
                  const said = []
                  turn.hear('stream.start', { callId: 'c', attempt: 1 })
                  turn.hear('stream.text', { callId: 'c', attempt: 1, delta: 'half' })
                  said.push(text())
                  turn.hear('stream.restart', { callId: 'c', attempt: 3 })
                  turn.hear('stream.text', { callId: 'c', attempt: 1, delta: ' a ghost' })
                  turn.hear('stream.text', { callId: 'c', attempt: 3, delta: 'who' })
                  said.push(text())
                  const reply = { id: 'e', type: 'REASON_DONE', timestamp: 9, payload: { callId: 'c', response: 'whole' } }
                  turn.add(reply)
                  turn.hear('stream.text', { callId: 'c', attempt: 9, delta: ' late' })
                  said.push(text(), String(turn.add(reply)), String(turn.usage.calls))
                  const event = (id, type, timestamp, payload, parentEventId) => ({ id, type, timestamp, payload, parentEventId })
                  const night = [
                    event('1', 'MODEL_CALL_REQUESTED', 0, { callId: 'm', iteration: 1 }),
                    event('2', 'REASON_DONE', 1000, { callId: 'm' }, '1'),
                    event('3', 'APPROVAL_REQUESTED', 1000, { callId: 'a', toolName: 'pay' }, '2'),
                    event('4', 'APPROVAL_DECIDED', 30000000, { callId: 'a', decision: 'approve' }),
                    event('5', 'TOOL_CALL_REQUESTED', 30000000, { callId: 'p', toolName: 'pay' }, '4'),
                    event('6', 'TOOL_CALL_COMPLETED', 30001000, { callId: 'p', toolName: 'pay' }, '5'),
                  ]
                  const list = spans(night)
                  const { x, breaks } = scale(list, 30001000)
                  said.push(list.map(span => span.kind).join(), String(breaks.length), String(x(1000) > 0.4 && x(30000000) < 0.6))
                  said.push(causes(night).map(row => row.event.id + row.depth).join())
                  const parts = withSubTasks(spans([
                    event('1', 'TOOL_CALL_COMPLETED', 5000, { callId: 's1', toolName: 'spawn_task', result: { task_id: 'k1' } }),
                    event('2', 'TOOL_CALL_FAILED', 9000, { callId: 's2', toolName: 'spawn_task', error: 'it failed', code: 'c' }),
                    event('3', 'TOOL_CALL_FAILED', 20000, { callId: 's3', toolName: 'spawn_task', error: 'there is none', code: 'unknown_agent' }),
                  ]), [
                    { taskId: 'k1', state: 'completed', inputText: 'one', createdAt: 1000, updatedAt: 4900 },
                    { taskId: 'k2', state: 'failed', inputText: 'two', createdAt: 1000, updatedAt: 8900, errorCode: 'c' },
                    { taskId: 'k3', state: 'reasoning', inputText: 'three', createdAt: 6000, updatedAt: 7000 },
                  ])
                  said.push(parts.map(span => [span.kind, span.name, span.start, span.end ?? '', span.ok ?? ''].join(' ')).join())
                  said.push(String(scale(parts, 30000).breaks.length))
                  said.push(excerpt(diff('a\\nb\\nc', 'a\\nx\\nc')).map(row => row.mark + row.text).join())
                  return said
                }""");

        // then
        assertThat(found)
                .isEqualTo(List.of(
                        "half",
                        "who",
                        "whole",
                        "false",
                        "1",
                        "model,wait,tool",
                        "1",
                        "true",
                        "10,20,30,40,50,60",
                        "task one 1000 4900 true,task two 1000 8900 false,task three 6000  ,"
                                + "tool spawn_task 20000 20000 false",
                        "0",
                        " a,-b,+x, c"));
    }

    @Test
    @Order(9)
    @DisplayName(
            "a memory is corrected: its difference is seen first, and what somebody else wrote meanwhile is not lost")
    void shouldCorrectAMemory() {
        // given
        String document = "/v1/memory/default/facts/wheels.md";
        assertThat(put(document, "If-None-Match", "*", "> Summary: wheels\n\nThe great wheel is oak.\n\nIt turns.\n"))
                .isEqualTo(201);
        page.navigate(BASE + "/memory");
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("facts/wheels.md"))
                .click();
        button("Edit").click();
        Locator text = page.getByLabel("Text, in Markdown");
        text.fill(text.inputValue().replace("oak", "elm"));
        button("See what changes").click();
        PlaywrightAssertions.assertThat(page.locator(".diff .removed")).hasText("- The great wheel is oak.");
        PlaywrightAssertions.assertThat(page.locator(".diff .added")).hasText("+ The great wheel is elm.");
        assertAccessible("a difference");

        // when: somebody else is quicker
        assertThat(put(document, "If-Match", "*", "> Summary: wheels\n\nThe great wheel is oak.\n\nIt stands.\n"))
                .isEqualTo(200);
        button("Save").click();

        // then
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.ALERT)).containsText("Somebody else wrote meanwhile");
        // three texts: what both began with, what they made of it, and what is being written
        PlaywrightAssertions.assertThat(page.getByLabel("Their change").locator(".added"))
                .hasText("+ It stands.");
        PlaywrightAssertions.assertThat(page.getByLabel("Your change so far").locator(".added"))
                .hasText("+ The great wheel is elm.");
        assertAccessible("two changes of one document");
        PlaywrightAssertions.assertThat(text).hasValue("> Summary: wheels\n\nThe great wheel is elm.\n\nIt turns.\n");

        // when
        text.fill(text.inputValue().replace("It turns", "It stands"));
        button("See what changes").click();
        button("Save").click();

        // then
        PlaywrightAssertions.assertThat(page.locator(".prose")).containsText("The great wheel is elm.");
        assertThat(API.get(document).body()).contains("elm", "It stands");
        assertAccessible("a document");
        assertFits("a document");
    }

    @Test
    @Order(10)
    @DisplayName(
            "agents and tools, an event with causes and effects, dead letters by reason, use with what has no price")
    void shouldShowTheRest() {
        // given
        String taskId = API.submit("read once more");
        API.awaitEnd(taskId, LIMIT);
        String reply = API.events(taskId).stream()
                .filter(event -> event.path("type").asText().equals("REASON_DONE"))
                .map(event -> event.path("id").asText())
                .findFirst()
                .orElseThrow();
        API.post(
                "/v1/events",
                Map.of("Content-Type", "application/cloudevents+json"),
                Json.write(Map.of(
                        "specversion", "1.0",
                        "id", "lost-1",
                        "type", "TASK_RESUMED",
                        "source", "https://x.example",
                        "subject", "no-such-task",
                        "data", Map.of("newInput", HOSTILE))));

        // when
        page.navigate(BASE + "/agents");
        page.getByRole(
                        AriaRole.LINK,
                        new Page.GetByRoleOptions().setName("careful").setExact(true))
                .click();
        // then
        heading("careful");
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("write_file: always");
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("You are the careful.");
        assertAccessible("an agent");
        assertFits("an agent");

        // when
        page.navigate(BASE + "/events/" + reply);
        // then
        heading("REASON_DONE");
        PlaywrightAssertions.assertThat(page.locator("ol").first()).containsText("TASK_CREATED");
        PlaywrightAssertions.assertThat(page.locator("ol").last()).containsText("reasoning → acting");
        assertAccessible("an event");
        assertFits("an event");

        // when
        page.navigate(BASE + "/usage?by=agent");
        // then
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("calls without a price");
        PlaywrightAssertions.assertThat(page.locator("table")).containsText("careful");
        assertAccessible("the usage");
        assertFits("the usage");

        // when
        await().atMost(LIMIT)
                .until(() ->
                        API.get("/v1/dead-letters?taskId=no-such-task").body().contains("lost-1"));
        page.navigate(BASE + "/dead-letters?reason=unknown_task");
        page.locator("li.row summary").first().click();
        // then
        PlaywrightAssertions.assertThat(page.locator("li.row pre").first()).containsText("<script>alert(2)</script>");
        PlaywrightAssertions.assertThat(page.locator("li.row").first()).containsText("found no task no-such-task");
        assertAccessible("the dead letters");
        assertFits("the dead letters");

        // when: it is sent again while what it is about is still not there
        button("Send again").click();
        // then
        PlaywrightAssertions.assertThat(page.locator(".outcome-line")).hasText("refused again: unknown_task");

        // when: with another payload
        button("Edit first").click();
        page.getByLabel("Payload as JSON").fill("{\"newInput\": \"hello\"}");
        button("Send as edited").click();
        // then
        PlaywrightAssertions.assertThat(page.locator(".outcome-line")).containsText("unknown_task");

        // when
        page.navigate(BASE + "/no-such-screen");
        // then
        heading("Not found");
    }

    @Test
    @Order(11)
    @DisplayName("conversations are found, begun and forgotten; a schedule is made, fired, paused and removed")
    void shouldKeepSessionsAndSchedules() {
        // given
        API.awaitEnd(submitTo("careful", "hello", "talk-of-wheels"), LIMIT);
        await().atMost(LIMIT)
                .until(() -> API.get("/v1/usage?sessionId=talk-of-wheels")
                                .json()
                                .at("/total/calls")
                                .asInt()
                        == 1);

        // when
        page.navigate(BASE + "/sessions");
        // then
        Locator talk = page.locator("tr.row")
                .filter(new Locator.FilterOptions()
                        .setHas(page.getByText("talk-of-wheels", new Page.GetByTextOptions().setExact(true))));
        PlaywrightAssertions.assertThat(talk.first()).containsText("1 calls");
        assertAccessible("the sessions");
        assertFits("the sessions");

        // when
        talk.first()
                .getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Forget"))
                .click();
        button("Yes, do it").click();
        // then
        PlaywrightAssertions.assertThat(talk.first()).containsText("being forgotten");
        await().atMost(LIMIT).until(() -> API.status("/v1/sessions/talk-of-wheels") == 404);

        // when
        page.getByLabel("A new one, called").fill("Of mills");
        button("Begin").click();
        // then
        PlaywrightAssertions.assertThat(page.getByLabel("What is to be done")).isVisible();
        assertThat(page.url()).contains("/console/sessions/");

        // when
        page.navigate(BASE + "/schedules");
        button("A new one").click();
        page.getByLabel("Name", new Page.GetByLabelOptions().setExact(true)).fill("report");
        page.getByLabel("Again and again, as cron has it").fill("61 9 * * *");
        page.getByLabel("What the agent is told").fill("say what happened");
        button("Save").click();
        // then: what is wrong with it, in the words of the server, and nothing typed is lost
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.ALERT)).containsText("invalid_schedule");
        page.getByLabel("Again and again, as cron has it").fill("0 9 * * *");
        button("Save").click();
        Locator card = page.locator("section.card");
        PlaywrightAssertions.assertThat(card).containsText("09:00:00");
        assertAccessible("the schedules");
        assertFits("the schedules");

        // when
        card.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Start now"))
                .click();
        // then
        PlaywrightAssertions.assertThat(card.locator(".outcome-line")).containsText("Started: task");
        card.locator(".outcome-line a").click();
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("You said say what happened");

        // when
        page.navigate(BASE + "/schedules");
        card.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Pause"))
                .click();
        // then
        PlaywrightAssertions.assertThat(card.locator("dl")).containsText("paused");
        card.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Remove"))
                .click();
        button("Yes, do it").click();
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("Nothing starts by the clock.");
    }

    @Test
    @Order(12)
    @DisplayName(
            "a rule that comes along is disabled and given back; one of one's own is refused with words, then defined")
    void shouldChangeRules() {
        // given
        page.navigate(BASE + "/rules");
        Locator fallback = page.locator("tr.row").filter(new Locator.FilterOptions().setHasText("fallback"));
        PlaywrightAssertions.assertThat(fallback).containsText("comes with Millrace");
        assertAccessible("the rules");
        assertFits("the rules");

        // when
        fallback.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Disable"))
                .click();
        // then
        PlaywrightAssertions.assertThat(fallback).containsText("disabled: nothing");
        assertThat(API.get("/v1/rules/fallback").json().path("enabled").asBoolean())
                .isFalse();

        // when
        fallback.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Take back"))
                .click();
        button("Yes, do it").click();
        // then
        PlaywrightAssertions.assertThat(fallback).containsText("comes with Millrace");

        // when
        button("A new one").click();
        page.getByLabel("Id", new Page.GetByLabelOptions().setExact(true)).fill("wheels");
        Locator text = page.locator("form.rule textarea");
        text.fill("{\"on\": \"wheel.*\", \"priority\": \"high\", \"log\": {}}");
        button("Save for all instances").click();
        // then
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.ALERT)).containsText("invalid_rule");
        text.fill("{\"on\": \"wheel.*\", \"priority\": 60, \"log\": {}}");
        button("Save for all instances").click();
        PlaywrightAssertions.assertThat(page.locator("tr.row").filter(new Locator.FilterOptions().setHasText("wheels")))
                .containsText("it is noted");
    }

    @Test
    @Order(13)
    @DisplayName("the installation at a glance: lanes, toolsets, readiness; no task is admitted, and then again")
    void shouldDrainTheSystem() {
        // given
        page.navigate(BASE + "/system");
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("Tasks are admitted.");
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("millrace.events.external");
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("✓ ready");
        API.awaitEnd(API.submit("read while somebody looks"), LIMIT);
        PlaywrightAssertions.assertThat(page.locator(".spark rect").nth(7)).isAttached();
        assertAccessible("the system");
        assertFits("the system");
        picture("system");

        // when
        page.getByLabel("Reason, for the record").fill("a test");
        button("Admit no more…").click();
        button("Yes, do it").click();

        // then
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("No task is admitted.");
        PlaywrightAssertions.assertThat(page.locator("main q")).hasText("a test");
        String taskId = API.submit("hello while nobody is admitted");
        await().atMost(LIMIT).until(() -> "admission".equals(waitsFor(taskId)));

        // when
        button("Admit tasks again").click();

        // then
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("Tasks are admitted.");
        assertThat(API.awaitEnd(taskId, LIMIT).path("state").asText()).isEqualTo("completed");
    }

    @Test
    @Order(14)
    @DisplayName("where callers have to log in the page asks for a key once, and calls and listens with it")
    void shouldAskForAKey() {
        // given: a server that knows one key
        String key = "mk-the-key";
        List<String> streams = new CopyOnWriteArrayList<>();
        page.route("**/v1/**", route -> {
            if (("Bearer " + key).equals(route.request().headers().get("authorization"))) {
                if (route.request().url().contains("/v1/stream")) {
                    streams.add(route.request().url());
                }
                route.resume();
            } else {
                route.fulfill(new Route.FulfillOptions()
                        .setStatus(401)
                        .setContentType("application/problem+json")
                        .setBody("{\"status\":401,\"code\":\"unauthenticated\",\"title\":\"Who calls is not known\"}"));
            }
        });
        String taskId = API.submit("read it with a key");
        API.awaitEnd(taskId, LIMIT);

        // when
        page.navigate(BASE + "/tasks");
        Locator dialog = page.getByRole(AriaRole.DIALOG);
        PlaywrightAssertions.assertThat(dialog).containsText("Who is there?");
        assertAccessible("the login");
        dialog.getByLabel("API key, or token").fill(key);
        page.keyboard().press("Enter");

        // then
        PlaywrightAssertions.assertThat(page.locator("table.tasks")).containsText("read it with a key");
        PlaywrightAssertions.assertThat(dialog).hasCount(0);
        await().atMost(LIMIT).until(() -> !streams.isEmpty());
        page.reload();
        PlaywrightAssertions.assertThat(page.locator("table.tasks")).containsText("read it with a key");
    }

    @Test
    @Order(15)
    @DisplayName("a task is played again step by step, and goes on from an event in another way; both are side by side")
    void shouldReplayForkAndCompare() {
        // given: a task that failed
        String taskId = API.submit("refuse it");
        API.awaitEnd(taskId, LIMIT);

        // when
        page.navigate(BASE + "/tasks/" + taskId + "?tab=replay");

        // then
        Locator replay = page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName("Replay"));
        PlaywrightAssertions.assertThat(replay).containsText("the machine decides today what the log says");
        PlaywrightAssertions.assertThat(replay.locator("h2")).containsText("MESSAGE_RECEIVED");
        replay.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Next step"))
                .click();
        PlaywrightAssertions.assertThat(replay.locator("h2")).containsText("Its turn has come");
        page.keyboard().press("End");
        PlaywrightAssertions.assertThat(replay).containsText("failed");
        assertAccessible("the replay");
        assertFits("the replay");

        // when
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Fork…"))
                .click();
        page.locator("mill-fork textarea[name=text]").fill("say something else");
        assertAccessible("the fork");
        page.getByRole(
                        AriaRole.BUTTON,
                        new Page.GetByRoleOptions().setName("Fork").setExact(true))
                .click();

        // then
        heading("A task and its fork");
        assertThat(page.url()).contains("/compare/" + taskId + "/");
        Locator sides = page.locator(".compare section");
        PlaywrightAssertions.assertThat(sides.first()).containsText("auth_failed");
        PlaywrightAssertions.assertThat(sides.last()).containsText("You said say something else");
        PlaywrightAssertions.assertThat(page.locator("table")).containsText("Model calls");
        assertAccessible("the comparison");
        assertFits("the comparison");
        picture("compare");
        sides.last().getByRole(AriaRole.LINK).first().click();
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("forked from");
        page.navigate(BASE + "/tasks/" + taskId);
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName("Forks")))
                .containsText("say something else");
    }

    @Test
    @Order(20)
    @DisplayName("a process that is killed in the middle of a text: the page comes back by itself, to the same text")
    void shouldComeBackAfterAKill() {
        // given
        page.navigate(BASE + "/chat");
        page.getByLabel("What is to be done").fill("slow tale");
        page.keyboard().press("Enter");
        Locator turn = page.locator("article.turn");
        PlaywrightAssertions.assertThat(turn).containsText("The wheel turned 3 times.");

        // when
        up.kill();
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("not live now");
        up = up();

        // then
        PlaywrightAssertions.assertThat(turn.locator("footer")).containsText("completed");
        assertThat(turn.locator(".agent .prose").textContent().strip()).isEqualTo(TALE);
        PlaywrightAssertions.assertThat(turn).hasCount(1);
        PlaywrightAssertions.assertThat(page.locator("main")).not().containsText("not live now");
    }
}
