package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Request;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import dev.millrace.schemas.Json;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** The console from one screen to the next: what a new user does, and what holds for all screens alike. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ConsoleWalkIT extends ConsoleStage {

    private static final String THIRTY_IN_ONE = "thirty";
    private static final int CROWD = 10_000;
    private static final int PAGE = 50;
    private static final int MOST_TABS = 500;

    /** Addresses of all screens, each with something on it that somebody else has written. */
    private static final Map<String, String> SCREENS = new LinkedHashMap<>();

    @BeforeAll
    static void write() {
        leaveNobodyWaiting();
        // a conversation of thirty turns, in which each text is said and said back
        TRAPS.forEach(trap -> API.awaitEnd(submitTo("general", trap, THIRTY_IN_ONE), LIMIT));
        String opened = submitTo("general", "open the trap " + THIRTY);
        String broken = submitTo("general", "break the trap");
        API.awaitEnd(opened, LIMIT);
        API.awaitEnd(broken, LIMIT);
        String set = submitTo("careful", "set the trap", "trap-set");
        String asked = submitTo("general", "ask the trap");
        await().atMost(LIMIT).until(() -> waitsFor(set).equals("approval"));
        await().atMost(LIMIT).until(() -> waitsFor(asked).equals("answer"));
        API.post("/v1/sessions", Map.of("sessionId", "titled", "title", TRAPS.get(0)));
        put("/v1/memory/default/facts/thirty.md", "If-None-Match", "*", "> Summary: " + TRAPS.get(1) + "\n\n" + THIRTY);
        API.put(
                "/v1/schedules/trap",
                "application/json",
                Json.write(Map.of("cron", "0 9 * * *", "text", THIRTY, "paused", true)));
        API.post(
                "/v1/events",
                Map.of("Content-Type", "application/cloudevents+json"),
                Json.write(Map.of(
                        "specversion", "1.0",
                        "id", "thirty-lost",
                        "type", "TASK_RESUMED",
                        "source", "https://x.example",
                        "subject", "no-such-task-of-thirty",
                        "data", Map.of("newInput", THIRTY))));
        await().atMost(LIMIT)
                .until(() -> API.get("/v1/dead-letters?taskId=no-such-task-of-thirty")
                        .body()
                        .contains("thirty-lost"));
        String reply = API.events(opened).stream()
                .filter(event -> event.path("type").asText().equals("REASON_DONE"))
                .map(event -> event.path("id").asText())
                .reduce((first, last) -> last)
                .orElseThrow();
        SCREENS.put("the chat", "/sessions/" + THIRTY_IN_ONE);
        SCREENS.put("a chat with an approval", "/sessions/trap-set");
        SCREENS.put("the sessions", "/sessions");
        SCREENS.put("the tasks", "/tasks?sessionId=" + THIRTY_IN_ONE);
        SCREENS.put("a task", "/tasks/" + opened);
        SCREENS.put("its causes", "/tasks/" + opened + "?tab=causes");
        SCREENS.put("its replay", "/tasks/" + opened + "?tab=replay");
        SCREENS.put("its machine", "/tasks/" + opened + "?tab=machine");
        SCREENS.put("a failed task", "/tasks/" + broken);
        SCREENS.put("two tasks", "/compare/" + opened + "/" + broken);
        SCREENS.put("an event", "/events/" + reply);
        SCREENS.put("the inbox", "/inbox");
        SCREENS.put("the agents", "/agents");
        SCREENS.put("an agent", "/agents/trap");
        SCREENS.put("the memory", "/memory");
        SCREENS.put("a document", "/memory/facts%2Fthirty.md");
        SCREENS.put("the usage", "/usage?by=sessionId");
        SCREENS.put("the dead letters", "/dead-letters?taskId=no-such-task-of-thirty");
        SCREENS.put("the rules", "/rules");
        SCREENS.put("the schedules", "/schedules");
        SCREENS.put("the system", "/system");
    }

    @Test
    @Order(1)
    @DisplayName("thirty hostile texts are text on every screen that shows what others wrote")
    void shouldShowThirtyHostileTextsAsText() {
        // of these screens nothing that others wrote is to be seen, or only beginnings of it
        Set<String> without = Set.of("its machine", "the usage", "the rules", "the system", "the agents");
        SCREENS.forEach((what, path) -> {
            // when
            show(path);
            if (what.equals("the dead letters")) {
                page.locator("li.row summary").first().click();
            }

            // then
            if (!without.contains(what)) {
                PlaywrightAssertions.assertThat(page.locator("main")).containsText(Pattern.compile("n\\d\\d "));
            }
            assertText(what);
            assertFits(what);
        });

        // and: each of them whole, as it was written, but for what turns or hides text
        page.navigate(BASE + "/sessions/" + THIRTY_IN_ONE);
        Locator turns = page.locator("article.turn");
        PlaywrightAssertions.assertThat(turns.last()).containsText("n30");
        while (turns.count() < TRAPS.size()) {
            int before = turns.count();
            button("Earlier turns").click();
            PlaywrightAssertions.assertThat(turns).not().hasCount(before);
        }
        for (String trap : TRAPS) {
            String visible = trap.codePoints()
                    .mapToObj(c -> isShownByCode(c) ? "‹%04X›".formatted(c) : Character.toString(c))
                    .reduce("", String::concat);
            PlaywrightAssertions.assertThat(page.locator(".person")
                            .filter(new Locator.FilterOptions().setHasText(visible.substring(0, 4))))
                    .containsText(visible.split("\n", -1)[0]);
        }
        assertText("thirty turns");
    }

    private static boolean isShownByCode(int c) {
        return (c >= 0x200B && c <= 0x200F && c != 0x200D && c != 0x200C)
                || (c >= 0x202A && c <= 0x202E)
                || (c >= 0x2060 && c <= 0x2069);
    }

    /** Nothing that somebody else wrote is anything but text. */
    private void assertText(String what) {
        Object found = page.evaluate("""
                () => [...document.querySelectorAll(`main img, main script, main style, main iframe, main object, main embed,
                    main link, main meta, main base, main math, main video, main template, main form[action], main [srcdoc],
                    main a[href^="javascript" i], main a[href^="data" i], main [onerror], main [onload], main [onfocus],
                    main [onmouseover]`)].map(one => one.outerHTML.slice(0, 200))""");
        assertThat(found).as(what).isEqualTo(List.of());
        assertThat(page.evaluate("String(window.pwned)")).as(what).isEqualTo("undefined");
        assertThat(page.locator("main").textContent()).as(what).doesNotContain("\u202E", "\u2066", "\u200B");
    }

    private void show(String path) {
        page.navigate(BASE + path);
        PlaywrightAssertions.assertThat(page.locator("main h1").first()).isVisible();
        PlaywrightAssertions.assertThat(page.getByText("Loading…")).hasCount(0);
    }

    @Test
    @Order(2)
    @DisplayName(
            "every screen in light and dark without a violation, and by the key Tab alone, with the focus in sight")
    void shouldServeEverybodyOnEveryScreen() {
        List<String> missed = new ArrayList<>();
        SCREENS.forEach((what, path) -> {
            show(path);
            assertAccessible(what);
            Object left = withTabAlone();
            if (!left.equals(List.of())) {
                missed.add(what + ": " + left);
            }
        });
        assertThat(missed).isEmpty();
    }

    /** What was not reached, or was reached without being seen to be. */
    private Object withTabAlone() {
        Object many = page.evaluate("""
                () => {
                  document.activeElement.blur()
                  const focusable = 'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex="0"]'
                  window.left = new Set([...document.querySelectorAll(focusable)].filter(one =>
                    one.tabIndex >= 0 && one.checkVisibility() && !one.closest('dialog:not([open])') && !one.closest('details:not([open]) > :not(summary)')))
                  window.unseen = []
                  return window.left.size
                }""");
        int presses = Math.min(MOST_TABS, ((Number) many).intValue() + 40);
        for (int press = 0; press < presses; press++) {
            page.keyboard().press("Tab");
            Object done = page.evaluate("""
                    () => {
                      const now = document.activeElement
                      const style = getComputedStyle(now)
                      if (now !== document.body && style.outlineStyle === 'none' && style.boxShadow === 'none') window.unseen.push(now.outerHTML.slice(0, 160))
                      window.left.delete(now)
                      for (const one of window.left) if (!one.isConnected) window.left.delete(one)
                      return window.left.size === 0
                    }""");
            if (Boolean.TRUE.equals(done)) {
                break;
            }
        }
        return page.evaluate("() => [...window.left].map(one => one.outerHTML.slice(0, 160)).concat(window.unseen)");
    }

    @Test
    @Order(3)
    @DisplayName("ten thousand tasks are scrolled through, and only those are asked for that come into sight")
    void shouldScrollThroughTenThousandTasks() {
        // given
        String taskId = API.submit("read for a crowd");
        API.awaitEnd(taskId, LIMIT);
        JsonNode task = API.get("/v1/tasks/" + taskId).json();
        List<Integer> asked = new CopyOnWriteArrayList<>();
        page.route(
                url -> url.contains("/v1/task-counts"),
                route -> route.fulfill(json("{\"states\":{\"completed\":" + CROWD + "},\"complete\":true}")));
        page.route(url -> url.contains("/v1/tasks?") && !url.contains("waitingFor"), route -> {
            String cursor = parameter(route.request().url(), "cursor");
            int from = cursor.isEmpty() ? 0 : Integer.parseInt(cursor);
            asked.add(from);
            List<JsonNode> tasks = IntStream.range(from, Math.min(CROWD, from + PAGE))
                    .mapToObj(number -> (JsonNode) ((ObjectNode) task.deepCopy())
                            .put("taskId", "crowd-" + number)
                            .put("inputText", "task number " + number))
                    .toList();
            Map<String, Object> page = new LinkedHashMap<>();
            page.put("tasks", tasks);
            if (from + PAGE < CROWD) {
                page.put("next", Integer.toString(from + PAGE));
            }
            route.fulfill(json(Json.writeText(page)));
        });

        // when
        page.navigate(BASE + "/tasks");
        Locator rows = page.locator("table.tasks tbody tr");
        PlaywrightAssertions.assertThat(rows.first()).containsText("task number 0");
        PlaywrightAssertions.assertThat(page.getByLabel("State", new Page.GetByLabelOptions().setExact(true)))
                .containsText("10 000");

        // then
        page.waitForTimeout(1_500);
        assertThat(asked).as("pages before anybody scrolls").isEqualTo(List.of(0));

        // when
        for (int screen = 1; screen <= 10; screen++) {
            int before = rows.count();
            page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
            PlaywrightAssertions.assertThat(rows.nth(before)).isAttached();
        }

        // then
        assertThat(rows.count()).isBetween(11 * PAGE, 30 * PAGE);
        assertThat(asked).hasSize(rows.count() / PAGE).doesNotHaveDuplicates();
        PlaywrightAssertions.assertThat(rows.nth(520)).containsText("task number 520");
    }

    private static Route.FulfillOptions json(String body) {
        return new Route.FulfillOptions().setContentType("application/json").setBody(body);
    }

    private static String parameter(String url, String name) {
        for (String pair : url.substring(url.indexOf('?') + 1).split("&", -1)) {
            if (pair.startsWith(name + "=")) {
                return URLDecoder.decode(pair.substring(name.length() + 1), StandardCharsets.UTF_8);
            }
        }
        return "";
    }

    @Test
    @Order(4)
    @DisplayName("a tab that is seen has one stream at most, on every screen, and one that is hidden none")
    void shouldHaveOneStreamPerVisibleTab() {
        // given
        Set<Request> open = ConcurrentHashMap.newKeySet();
        List<String> tooMany = new CopyOnWriteArrayList<>();
        page.onRequest(request -> {
            if ("text/event-stream".equals(request.headers().get("accept"))) {
                open.add(request);
                if (open.size() > 1) {
                    tooMany.add(
                            page.url() + " " + open.stream().map(Request::url).toList());
                }
            }
        });
        allowed.add("about:");
        page.onRequestFailed(open::remove);
        page.onRequestFinished(open::remove);
        page.navigate(BASE + "/tasks");

        // when: from screen to screen within one page, as links do
        for (String path : SCREENS.values()) {
            page.evaluate(
                    "path => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')) }",
                    "/console" + path);
            page.waitForTimeout(400);
        }

        // then
        assertThat(tooMany).isEmpty();

        // when: what a page that is left had asked for need not be told as ended
        page.navigate("about:blank");
        open.clear();
        page.navigate(BASE + "/tasks");
        await().atMost(LIMIT).until(() -> pumped(open).size() == 1);
        hide(true);
        // then
        await().atMost(LIMIT).until(() -> pumped(open).isEmpty());

        // when
        hide(false);
        // then
        await().atMost(LIMIT).until(() -> pumped(open).size() == 1);
    }

    /** Events of the browser are told while something is asked of it. */
    private Set<Request> pumped(Set<Request> open) {
        page.waitForTimeout(50);
        return open;
    }

    private void hide(boolean hidden) {
        page.evaluate("""
                hidden => {
                  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
                  document.dispatchEvent(new Event('visibilitychange'))
                }""", hidden);
    }

    @Test
    @Order(5)
    @DisplayName("a new user, with the console alone: begins, approves an edit, finds why, forks, compares, redrives,"
            + " corrects, and sees the cost of the day")
    void shouldWalkAsANewUser() {
        // given: something went wrong before they came, and an agent has learned something that is not so
        String failed = submitTo("general", "refuse the wheel");
        API.awaitEnd(failed, LIMIT);
        String late = "late-wheel-" + System.nanoTime();
        API.post(
                "/v1/events",
                Map.of("Content-Type", "application/cloudevents+json"),
                Json.write(Map.of(
                        "specversion",
                        "1.0",
                        "id",
                        late + "-answer",
                        "type",
                        "TASK_RESUMED",
                        "source",
                        "https://x.example",
                        "subject",
                        late,
                        "data",
                        Map.of("newInput", "the smal one"))));
        await().atMost(LIMIT)
                .until(() -> API.get("/v1/dead-letters?taskId=" + late).body().contains(late));
        API.post(
                "/v1/tasks",
                Map.of("Content-Type", "application/json", "Idempotency-Key", late),
                Json.write(Map.of("text", "which wheel shall turn")));
        await().atMost(LIMIT).until(() -> waitsFor(late).equals("answer"));
        put("/v1/memory/default/facts/mill.md", "If-None-Match", "*", "> Summary: the mill\n\nThe mill is red.\n");

        // when: a task is begun, and its call approved as edited
        page.navigate("http://localhost:" + PORT + "/");
        page.getByLabel("Agent").selectOption("dear");
        page.getByLabel("What is to be done").fill("write the note, please");
        page.keyboard().press("Enter");
        Locator ask = page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName("Approval"));
        ask.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Edit the arguments"))
                .click();
        ask.getByLabel("content").fill("wax the gate");
        ask.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Approve as edited"))
                .click();
        // then
        PlaywrightAssertions.assertThat(page.locator("article.turn")).containsText("completed");
        assertThat(temp.resolve("workspace/note.txt")).hasContent("wax the gate");

        // when: why did another one fail?
        link("Tasks").click();
        page.getByLabel("Text", new Page.GetByLabelOptions().setExact(true)).fill("refuse the wheel");
        page.locator("table.tasks a.main", new Page.LocatorOptions().setHasText("refuse the wheel"))
                .first()
                .click();
        // then
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.ALERT)).containsText("the key is wrong");

        // when: it goes on with other words
        page.getByRole(AriaRole.TAB, new Page.GetByRoleOptions().setName("Replay"))
                .click();
        button("Fork…").click();
        page.locator("mill-fork textarea[name=text]").fill("grease the wheel");
        button("Fork").click();
        // then: both results are side by side
        heading("A task and its fork");
        PlaywrightAssertions.assertThat(page.locator(".compare section").first())
                .containsText("auth_failed");
        PlaywrightAssertions.assertThat(page.locator(".compare section").last())
                .containsText("You said grease the wheel");

        // when: a dead letter is mended and sent again
        link("Dead letters").click();
        Locator letter = page.locator("li.row").filter(new Locator.FilterOptions().setHasText(late));
        letter.locator("summary").click();
        letter.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Edit first"))
                .click();
        letter.getByLabel("Payload as JSON").fill("{\n  \"newInput\": \"the small one\"\n}");
        PlaywrightAssertions.assertThat(letter.locator(".diff .removed")).containsText("the smal one");
        PlaywrightAssertions.assertThat(letter.locator(".diff .added")).containsText("the small one");
        assertAccessible("an edited dead letter");
        assertFits("an edited dead letter");
        letter.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Send as edited"))
                .click();
        // then
        PlaywrightAssertions.assertThat(letter.locator(".outcome-line")).containsText("not refused within 3 s");
        assertThat(API.awaitEnd(late, LIMIT).path("response").asText()).isEqualTo("So it is the small one.");

        // when: what is left of it is put away
        letter.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Leave it as it was"))
                .click();
        letter.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Discard…"))
                .click();
        button("Yes, do it").click();
        // then
        PlaywrightAssertions.assertThat(letter).hasCount(0);
        assertThat(API.get("/v1/dead-letters?taskId=" + late).body()).doesNotContain(late);

        // when: a memory is corrected
        link("Memory").click();
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("facts/mill.md"))
                .click();
        button("Edit").click();
        Locator text = page.getByLabel("Text, in Markdown");
        text.fill(text.inputValue().replace("red", "white"));
        button("See what changes").click();
        button("Save").click();
        // then
        PlaywrightAssertions.assertThat(page.locator(".prose")).containsText("The mill is white.");

        // when
        link("Usage").click();
        // then
        PlaywrightAssertions.assertThat(page.locator(".sums"))
                .containsText(Pattern.compile("\\$[0-9]*[1-9]|\\$0\\.\\d*[1-9]"));
    }

    private Locator link(String screen) {
        return page.getByRole(AriaRole.NAVIGATION, new Page.GetByRoleOptions().setName("Screens"))
                .getByRole(
                        AriaRole.LINK,
                        new Locator.GetByRoleOptions().setName(Pattern.compile("^" + screen + "( \\d+ waiting)?$")));
    }

    @Test
    @Order(6)
    @DisplayName(
            "all dead letters of a reason are sent again, or discarded after a preview, and a namespace is offered by its name")
    void shouldDiscardAllOfAReason() {
        // given
        for (int number = 0; number < 3; number++) {
            String id = "stray-" + number + "-" + System.nanoTime();
            API.post(
                    "/v1/events",
                    Map.of("Content-Type", "application/cloudevents+json"),
                    Json.write(Map.of(
                            "specversion", "1.0",
                            "id", id,
                            "type", "TASK_RESUMED",
                            "source", "https://x.example",
                            "subject", "stray-task",
                            "data", Map.of("newInput", "nobody"))));
        }
        await().atMost(LIMIT)
                .until(() -> API.get("/v1/dead-letters?taskId=stray-task")
                                .json()
                                .path("deadLetters")
                                .size()
                        == 3);

        // when: all are sent again, while what they are about is still not there
        page.navigate(BASE + "/dead-letters?reason=unknown_task&taskId=stray-task");
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.GROUP, new Page.GetByRoleOptions().setName("Reason")))
                .containsText("unknown_task 3");
        button("Send all of this reason again…").click();
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.DIALOG))
                .containsText("Send 3 records again, all with the reason unknown_task?");
        button("Yes, do it").click();
        // then: each is judged anew
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("3 sent again;");
        await().atMost(LIMIT)
                .until(() -> API.get("/v1/dead-letters?taskId=stray-task")
                                .json()
                                .path("deadLetters")
                                .size()
                        == 6);

        // when
        page.navigate(BASE + "/dead-letters?reason=unknown_task&taskId=stray-task");
        PlaywrightAssertions.assertThat(page.locator("li.row")).hasCount(6);
        button("Discard all of this reason…").click();
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.DIALOG))
                .containsText("Discard 6 dead letters, all with the reason unknown_task?");
        assertAccessible("the question before all are discarded");
        button("Yes, do it").click();

        // then
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("6 discarded.");
        PlaywrightAssertions.assertThat(page.locator("main")).containsText("Everything that came was taken.");

        // and given
        API.post("/v1/tasks", Map.of("text", "hello", "namespace", "acme-mills"));
        await().atMost(LIMIT).until(() -> API.get("/v1/namespaces").body().contains("acme-mills"));
        // when
        page.navigate(BASE + "/tasks");
        page.locator("button[aria-label='Keys and settings']").click();
        // then
        PlaywrightAssertions.assertThat(page.locator("#tenants option[value=acme-mills]"))
                .isAttached();
        page.getByLabel("Namespace").fill("acme-mills");
        page.keyboard().press("Enter");
        PlaywrightAssertions.assertThat(page).hasURL(Pattern.compile(".*namespace=acme-mills"));
    }

    @Test
    @Order(7)
    @DisplayName("kill -9 of a gateway alone in the middle of a text: the page comes back by itself, to the same text")
    void shouldOutliveTheKillOfAGatewayAlone() {
        // given
        int port = FreePort.find();
        allowed.add("http://localhost:" + port + "/");
        try (ServiceProcess first = gateway(port)) {
            page.navigate("http://localhost:" + port + "/console/chat");
            page.getByLabel("What is to be done").fill("slow tale");
            page.keyboard().press("Enter");
            Locator turn = page.locator("article.turn");
            PlaywrightAssertions.assertThat(turn).containsText("The wheel turned 3 times.");

            // when
            first.kill();
            PlaywrightAssertions.assertThat(page.locator("main")).containsText("not live now");
            try (ServiceProcess second = gateway(port)) {
                assertThat(second.isAlive()).isTrue();

                // then
                PlaywrightAssertions.assertThat(turn.locator("footer")).containsText("completed");
                assertThat(turn.locator(".agent .prose").textContent().strip()).isEqualTo(TALE);
                PlaywrightAssertions.assertThat(turn).hasCount(1);
                PlaywrightAssertions.assertThat(page.locator("main")).not().containsText("not live now");
                assertThat(up.isAlive()).as("all else").isTrue();
            }
        }
    }
}
