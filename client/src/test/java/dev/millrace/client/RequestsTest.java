package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.api.Task;
import dev.millrace.api.TaskBulk;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RequestsTest {

    private ScriptedGateway gateway;

    @BeforeEach
    void start() throws IOException {
        gateway = new ScriptedGateway();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    @Test
    @DisplayName("a start says its id, the namespace and the token that is good now")
    void shouldStartOnce() {
        // given
        gateway.json(202, "{\"taskId\":\"order-17\",\"eventId\":\"order-17\",\"status\":\"accepted\",\"new\":1}");
        AtomicInteger number = new AtomicInteger();
        Millrace millrace = Millrace.connect(
                gateway.url() + "/", options -> options.namespace("acme").token(() -> "t" + number.incrementAndGet()));

        // when
        TaskHandle task = millrace.agent("clerk")
                .session("chat")
                .start(
                        "pay",
                        start -> start.id("order-17").metadata(Map.of("k", "v")).ttl(Duration.ofSeconds(2)));
        millrace.task("x").cancel("late");

        // then
        assertThat(task.id()).isEqualTo("order-17");
        assertThat(gateway.requests)
                .containsExactly(
                        "POST /v1/tasks"
                                + " {\"text\":\"pay\",\"agent\":\"clerk\",\"sessionId\":\"chat\",\"namespace\":\"acme\","
                                + "\"metadata\":{\"k\":\"v\"},\"ttl\":2000,\"id\":\"order-17\"}",
                        "POST /v1/tasks/x/cancel?namespace=acme {\"reason\":\"late\"}");
        assertThat(gateway.tokens).containsExactly("Bearer t1", "Bearer t2");
    }

    @Test
    @DisplayName("a refusal has the code, the status and when to come again")
    void shouldTellARefusal() {
        // given
        gateway.busy(429, "{\"code\":\"too_many\",\"title\":\"Too many\",\"status\":429}", "7");

        // when, then
        assertThatThrownBy(() -> Millrace.connect(gateway.url()).agents())
                .isInstanceOfSatisfying(RequestRefusedException.class, refused -> {
                    assertThat(refused.status()).isEqualTo(429);
                    assertThat(refused.code()).isEqualTo("too_many");
                    assertThat(refused).hasMessage("Too many");
                    assertThat(refused.retryAfter()).contains(Duration.ofSeconds(7));
                });
    }

    @Test
    void shouldTellARefusalThatIsNoProblemDocument() {
        // given
        gateway.busy(502, "<html>bad gateway</html>", "soon");

        // when, then
        assertThatThrownBy(() -> Millrace.connect(gateway.url()).tools())
                .isInstanceOfSatisfying(RequestRefusedException.class, refused -> {
                    assertThat(refused).hasMessage("HTTP status 502");
                    assertThat(refused.code()).isEmpty();
                    assertThat(refused.retryAfter()).isEmpty();
                });
    }

    @Test
    void shouldTellWhatIsNoGateway() {
        // given
        gateway.json(200, "hello");

        // when, then
        assertThatThrownBy(() -> Millrace.connect(gateway.url()).rules().all())
                .hasMessageContaining("Is that a Millrace gateway?");
    }

    @Test
    void shouldTellWhenNoAnswerComesInTime() {
        // given
        gateway.stream(ScriptedGateway.End.HANG, "");

        // when, then
        Millrace millrace = Millrace.connect(gateway.url(), options -> options.timeout(Duration.ofMillis(200)));
        assertThatThrownBy(millrace::agents).isInstanceOf(UnreachableException.class);
    }

    @Test
    @DisplayName("a list is asked for page by page, as far as it is wanted")
    void shouldReadPages() {
        // given
        gateway.json(200, "{\"tasks\":[{\"taskId\":\"a\"},{\"taskId\":\"b\"}],\"next\":\"n 1\"}")
                .json(200, "{\"tasks\":[{\"taskId\":\"c\"}],\"next\":null}");
        Millrace millrace = Millrace.connect(gateway.url());

        // when
        assertThat(millrace.tasks(TaskSearch.inState("suspended")).limit(2).map(Task::taskId))
                .containsExactly("a", "b");
        assertThat(gateway.requests).containsExactly("GET /v1/tasks?namespace=default&state=suspended");

        // then
        assertThat(millrace.tasks().map(Task::taskId)).containsExactly("c");
    }

    @Test
    void shouldDoOneThingWithMany() {
        // given
        gateway.json(
                202,
                "{\"action\":\"cancel\",\"dryRun\":false,\"matched\":null,\"items\":[{\"taskId\":\"a\",\"state\":"
                        + "\"acting\",\"status\":\"accepted\",\"eventId\":\"e\"}],\"next\":\"n\"}");

        // when
        TaskBulk.Outcome outcome = Millrace.connect(gateway.url())
                .bulk(new TaskBulk.Request(
                        "cancel",
                        null,
                        new TaskBulk.Filter(null, null, null, "clerk", null, null, null, null, null, null),
                        "late",
                        null,
                        null,
                        null));

        // then
        assertThat(outcome.next()).isEqualTo("n");
        assertThat(outcome.items()).extracting(TaskBulk.Item::status).containsExactly("accepted");
        assertThat(gateway.requests)
                .containsExactly("POST /v1/tasks/bulk?namespace=default"
                        + " {\"action\":\"cancel\",\"filter\":{\"agent\":\"clerk\"},\"reason\":\"late\"}");
    }

    @Test
    void shouldReplaceWhatItHasRead() {
        // given
        gateway.json(
                200, "{\"path\":\"facts/a b.md\",\"version\":2,\"etag\":\"\\\"2-x\\\"\",\"summary\":\"\",\"size\":1}");

        // when
        Millrace.connect(gateway.url()).memory().replace("facts/a b.md", "new", "\"1-x\"", "ada");

        // then
        assertThat(gateway.requests).containsExactly("PUT /v1/memory/default/facts/a%20b.md?by=ada new");
    }

    @Test
    @DisplayName("an edit that nobody has judged yet is no success")
    void shouldNotTakeAnOpenEditForDone() {
        // given
        gateway.json(202, "{\"eventId\":\"e\",\"status\":\"accepted\",\"note\":\"ask again\"}");

        // when, then
        assertThatThrownBy(() -> Millrace.connect(gateway.url()).memory().create("a.md", "x", null))
                .hasMessage("ask again");
    }

    @Test
    void shouldSendACloudEvent() {
        // given
        gateway.json(202, "{\"accepted\":[\"e-1\"]}");

        // when
        Millrace.connect(gateway.url())
                .events()
                .publish(OutsideEvent.of("order.placed", "https://shop.example", Map.of("n", 1))
                        .withId("e-1")
                        .inSession("shop"));

        // then
        assertThat(gateway.requests)
                .containsExactly(
                        "POST /v1/events"
                                + " [{\"specversion\":\"1.0\",\"id\":\"e-1\",\"type\":\"order.placed\",\"source\":"
                                + "\"https://shop.example\",\"sessionid\":\"shop\",\"namespace\":\"default\",\"data\":{\"n\":1}}]");
    }

    @Test
    void shouldRefuseWhatIsNoUrl() {
        assertThatThrownBy(() -> Millrace.connect("localhost:8080"))
                .hasMessage("url: expected something like http://localhost:8080, found localhost:8080");
        assertThatThrownBy(() -> Millrace.connect(gateway.url(), options -> options.timeout(Duration.ZERO)))
                .hasMessageContaining("expected 1 ms or more");
    }
}
