package dev.millrace.client;

import static dev.millrace.client.ScriptedGateway.event;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TaskFeedTest {

    private static final String DONE = """
        {"type":"TASK_COMPLETED","taskId":"t","payload":{"result":{"response":"hi"},"usage":{"inputTokens":3,"outputTokens":2}}}\
        """;

    private ScriptedGateway gateway;
    private Millrace millrace;

    @BeforeEach
    void start() throws IOException {
        gateway = new ScriptedGateway();
        millrace = Millrace.connect(
                gateway.url(),
                options -> options.patience(Duration.ofSeconds(1)).silence(Duration.ofMillis(400)));
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    @Test
    @DisplayName("a connection that breaks is opened again behind what came, and a 204 ends the feed")
    void shouldComeBackBehindWhatCame() {
        // given
        gateway.stream(ScriptedGateway.End.CUT, event("1:1", text("He")), event("1:2", text("llo"))).stream(
                        ScriptedGateway.End.CLOSE, event("1:3", DONE))
                .nothingMore();

        // when
        List<String> told = new ArrayList<>();
        try (TaskFeed feed = millrace.task("t").events(Watch.all().withText())) {
            for (FeedEvent event : feed) {
                told.add(event.cursor() + ' ' + event.type());
            }
        }

        // then
        assertThat(told).containsExactly("1:1 stream.text", "1:2 stream.text", "1:3 TASK_COMPLETED");
        assertThat(gateway.requests)
                .containsExactly(
                        "GET /v1/tasks/t/stream?namespace=default&tokens=stream",
                        "GET /v1/tasks/t/stream?namespace=default&tokens=stream 1:2",
                        "GET /v1/tasks/t/stream?namespace=default&tokens=stream 1:3");
    }

    @Test
    @DisplayName("a gateway that keeps the connection and says nothing is left for another")
    void shouldLeaveASilentConnection() {
        // given
        gateway.stream(ScriptedGateway.End.HANG, event("1:1", text("He"))).stream(
                        ScriptedGateway.End.CLOSE, event("1:2", DONE))
                .nothingMore();

        // when
        List<String> told = new ArrayList<>();
        try (TaskFeed feed = millrace.task("t").events()) {
            feed.forEach(event -> told.add(event.cursor()));
        }

        // then
        assertThat(told).containsExactly("1:1", "1:2");
    }

    @Test
    void shouldBeginBehindACursor() throws InterruptedException {
        // given
        gateway.stream(ScriptedGateway.End.HANG, event("2:8", DONE));

        // when
        try (TaskFeed feed = millrace.session("a b").events(Watch.after("2:7").only("TASK_COMPLETED"))) {
            FeedEvent event = feed.next(Duration.ofSeconds(10)).orElseThrow();

            // then
            assertThat(event)
                    .isInstanceOfSatisfying(
                            FeedEvent.Completed.class,
                            done -> assertThat(done.text()).isEqualTo("hi"));
            assertThat(feed.next(Duration.ofMillis(1))).isEmpty();
            assertThat(feed.isOver()).isFalse();
        }
        assertThat(gateway.requests.get(0))
                .isEqualTo("GET /v1/sessions/a%20b/stream?namespace=default&types=TASK_COMPLETED 2:7");
    }

    @Test
    @DisplayName("a task that is not known yet is asked for again; one that stays unknown is told")
    void shouldGiveUpOnWhatStaysUnknown() {
        // given
        gateway.json(404, "{\"code\":\"unknown_task\",\"title\":\"Unknown task\",\"detail\":\"There is none.\"}");

        // when, then
        try (TaskFeed feed = millrace.task("t").events()) {
            assertThatThrownBy(() -> feed.forEach(event -> {}))
                    .isInstanceOfSatisfying(RequestRefusedException.class, refused -> {
                        assertThat(refused.code()).isEqualTo("unknown_task");
                        assertThat(refused).hasMessage("There is none.");
                    });
        }
        assertThat(gateway.requests).hasSizeGreaterThan(2);
    }

    @Test
    void shouldTellAtOnceOfWhatWillNotPass() {
        // given
        gateway.json(400, "{\"code\":\"bad_parameter\",\"detail\":\"after: expected an id\"}");

        // when, then
        try (TaskFeed feed = millrace.task("t").events(Watch.after("x"))) {
            assertThatThrownBy(() -> feed.next(Duration.ofSeconds(10))).hasMessage("after: expected an id");
            assertThatThrownBy(() -> feed.next(Duration.ofSeconds(10)))
                    .as("told again, and nobody waits")
                    .isInstanceOf(RequestRefusedException.class);
        }
        assertThat(gateway.requests).hasSize(1);
    }

    @Test
    void shouldTellWhatIsNoStream() {
        // given
        gateway.json(200, "{}");

        // when, then
        try (TaskFeed feed = millrace.task("t").events()) {
            assertThatThrownBy(() -> feed.next(Duration.ofSeconds(10)))
                    .hasMessageContaining("Is that a Millrace gateway?");
        }
        assertThat(gateway.requests).hasSize(1);
    }

    @Test
    void shouldTellThatNobodyIsThere() {
        // given
        gateway.close();

        // when, then
        try (TaskFeed feed = millrace.task("t").events()) {
            assertThatThrownBy(() -> feed.next(Duration.ofSeconds(10))).isInstanceOf(UnreachableException.class);
        }
    }

    @Test
    void shouldEndWhereItIsClosed() {
        // given
        gateway.stream(ScriptedGateway.End.HANG, event("1:1", text("He")));
        TaskFeed feed = millrace.task("t").events();
        List<String> told = new ArrayList<>();

        // when
        for (FeedEvent event : feed) {
            told.add(event.cursor());
            feed.close();
        }

        // then
        assertThat(told).containsExactly("1:1");
        assertThat(feed.isOver()).isTrue();
    }

    @Test
    @DisplayName("what asks something can be answered where it is read; what nobody knows yet is told as it is")
    void shouldReadWhatIsTold() {
        // given
        gateway.stream(
                        ScriptedGateway.End.CLOSE,
                        event("1:1", """
                            {"type":"APPROVAL_REQUESTED","taskId":"t","namespace":"acme","payload":{"callId":"t/1","toolName":"pay","params":{"to":null,"amount":2.50}}}\
                            """),
                        event(
                                "1:2",
                                "{\"type\":\"TASK_SUSPENDED\",\"taskId\":\"t\",\"payload\":{\"question\":\"Which?\"}}"),
                        event("1:3", "{\"type\":\"stream.restart\",\"callId\":\"c\",\"attempt\":2}"),
                        event("1:4", "{\"type\":\"FULL_MOON\",\"payload\":7}"),
                        event("1:5", "{\"type\":\"TASK_FAILED\",\"payload\":{\"code\":\"c\",\"error\":\"e\"}}"))
                .nothingMore();

        // when
        List<FeedEvent> told = new ArrayList<>();
        try (TaskFeed feed = millrace.task("t").events()) {
            feed.forEach(told::add);
        }

        // then
        assertThat(told.get(0)).isInstanceOfSatisfying(FeedEvent.ApprovalRequested.class, approval -> {
            assertThat(approval.params()).containsEntry("to", null).containsKey("amount");
            assertThat(approval.expiresAt()).isNull();
        });
        assertThat(told.get(1))
                .isInstanceOfSatisfying(
                        FeedEvent.Question.class,
                        question -> assertThat(question.question()).isEqualTo("Which?"));
        assertThat(told.get(2))
                .isInstanceOfSatisfying(
                        FeedEvent.Restarted.class,
                        restarted -> assertThat(restarted.attempt()).isEqualTo(2));
        assertThat(told.get(3)).isInstanceOf(FeedEvent.Other.class);
        assertThat(told.get(3).json().path("payload").asInt()).isEqualTo(7);
        assertThat(told.get(4)).isInstanceOf(FeedEvent.Failed.class);
    }

    @Test
    @DisplayName("a decision goes to the namespace of the task that waits for it")
    void shouldDecideWhereItIsRead() throws InterruptedException {
        // given
        gateway.stream(ScriptedGateway.End.HANG, event("1:1", """
            {"type":"APPROVAL_REQUESTED","taskId":"t","namespace":"acme","payload":{"callId":"t/1","toolName":"pay","params":{}}}\
            """))
                .json(202, "{\"taskId\":\"t\",\"eventId\":\"e\",\"status\":\"accepted\"}");

        // when
        try (TaskFeed feed = millrace.task("t").events()) {
            FeedEvent event = feed.next(Duration.ofSeconds(10)).orElseThrow();
            if (event instanceof FeedEvent.ApprovalRequested approval) {
                approval.approve("ada", Map.of("amount", 2));
            }
        }

        // then
        assertThat(gateway.requests)
                .contains("POST /v1/approvals/t%2F1?namespace=acme"
                        + " {\"decision\":\"approve\",\"params\":{\"amount\":2},\"decidedBy\":\"ada\"}");
    }

    @Test
    void shouldWaitForTheEnd() throws InterruptedException {
        // given
        gateway.stream(ScriptedGateway.End.CLOSE, event("1:1", DONE)).nothingMore();

        // when
        TaskResult result = millrace.task("t").await(Duration.ofSeconds(10));

        // then
        assertThat(result).isEqualTo(new TaskResult("t", "hi", 3, 2));
    }

    @Test
    void shouldSayHowATaskEndedThatWasWaitedFor() {
        // given
        gateway.stream(
                        ScriptedGateway.End.CLOSE,
                        event("1:1", "{\"type\":\"TASK_FAILED\",\"payload\":{\"code\":\"budget\",\"error\":\"no\"}}"))
                .nothingMore();

        // when, then
        assertThatThrownBy(() -> millrace.task("t").await(Duration.ofSeconds(10)))
                .isInstanceOfSatisfying(
                        TaskFailedException.class,
                        failed -> assertThat(failed.code()).isEqualTo("budget"));
    }

    @Test
    void shouldNotWaitLongerThanWanted() {
        // given
        gateway.stream(ScriptedGateway.End.HANG, "");

        // when, then
        assertThatThrownBy(() -> millrace.task("t").await(Duration.ofMillis(50)))
                .isInstanceOf(TaskNotDoneException.class);
    }

    private static String text(String delta) {
        return "{\"type\":\"stream.text\",\"callId\":\"c\",\"attempt\":1,\"delta\":\"" + delta + "\"}";
    }
}
