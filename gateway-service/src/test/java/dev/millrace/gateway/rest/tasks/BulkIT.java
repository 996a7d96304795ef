package dev.millrace.gateway.rest.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.millrace.api.TaskBulk;
import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is done with many tasks at once: each has an outcome of its own, and no one is passed over in silence. */
@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class BulkIT {
    private final GatewayClient gateway = new GatewayClient();

    @Test
    @DisplayName("each of the named tasks has an outcome; what its state does not allow is refused, and the rest sent")
    void shouldTellWhatBecameOfEach() throws Exception {
        // given
        String running = gateway.knownTask("s-bulk", "reasoning");
        String waiting = gateway.knownTask(null, "suspended");
        String ended = gateway.knownTask(null, "completed");

        // when
        TaskBulk.Outcome outcome = bulk(
                202,
                Map.of(
                        "action",
                        "suspend",
                        "ids",
                        List.of(running, "nobody", waiting, ended, running),
                        "reason",
                        "lunch"));

        // then
        assertThat(outcome.items())
                .extracting(TaskBulk.Item::taskId, TaskBulk.Item::status, TaskBulk.Item::code)
                .containsExactly(
                        tuple(running, "accepted", null),
                        tuple("nobody", "refused", "unknown_task"),
                        tuple(waiting, "refused", "not_suspendable"),
                        tuple(ended, "refused", "not_suspendable"));
        assertThat(outcome.next()).isNull();
        assertThat(outcome.matched()).isNull();
        Event event =
                onLane(Segment.TASK, String.valueOf(outcome.items().getFirst().eventId()));
        assertThat(event.type()).isEqualTo(KnownEventType.TASK_SUSPENDED);
        assertThat(event.taskId()).isEqualTo(running);
        assertThat(event.sessionKey()).isEqualTo("s-bulk");
        assertThat(event.fields()).isEqualTo(Map.of("reason", "lunch"));
    }

    @Test
    @DisplayName("a filter is gone through to its end, page by page; a dry run counts, and sends nothing")
    void shouldReachAllThatAFilterMatches() throws Exception {
        // given
        String session = "talk-" + Ids.random();
        List<String> all = IntStream.range(0, 5)
                .mapToObj(number -> gateway.knownTask(session, number == 0 ? "completed" : "acting"))
                .toList();
        Map<String, Object> filter = Map.of("sessionId", session);

        // when
        TaskBulk.Outcome preview = bulk(200, Map.of("action", "cancel", "filter", filter, "limit", 2, "dryRun", true));

        // then
        assertThat(preview.dryRun()).isTrue();
        assertThat(preview.matched()).isNotNull();
        assertThat(preview.items()).extracting(TaskBulk.Item::taskId).containsExactlyElementsOf(all.subList(0, 2));
        assertThat(preview.items()).extracting(TaskBulk.Item::status).containsExactly("refused", "possible");
        assertThat(preview.items()).extracting(TaskBulk.Item::eventId).containsOnlyNulls();

        // when
        List<TaskBulk.Item> items = new ArrayList<>();
        String cursor = null;
        do {
            Map<String, @Nullable Object> request =
                    new HashMap<>(Map.of("action", "cancel", "filter", filter, "limit", 2));
            if (cursor != null) {
                request.put("cursor", cursor);
            }
            TaskBulk.Outcome page = bulk(202, request);
            items.addAll(page.items());
            cursor = page.next();
        } while (cursor != null);

        // then
        assertThat(items).extracting(TaskBulk.Item::taskId).containsExactlyElementsOf(all);
        assertThat(items.getFirst().code()).isEqualTo("task_ended");
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(Segment.SYSTEM))) {
            for (TaskBulk.Item item : items.subList(1, 5)) {
                Event event = lane.event(
                        sent -> session.equals(sent.sessionId())
                                && item.taskId().equals(sent.taskId()),
                        GatewayClient.LIMIT);
                // the only one for this task: the dry run has sent none
                assertThat(event.id()).isEqualTo(item.eventId());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @DisplayName("what is not said clearly is refused as a whole")
    @CsvSource(
            delimiter = '|',
            value = {
                "{}                                                             | bad_field     | action: expected cancel, suspend or resume, found null",
                "{\"action\":\"stop\",\"ids\":[\"a\"]}                          | bad_field     | action: expected cancel, suspend or resume",
                "{\"action\":\"cancel\"}                                        | bad_field     | ids: expected ids, or else a filter",
                "{\"action\":\"cancel\",\"ids\":[]}                             | bad_field     | ids: expected 1 to 200 of them",
                "{\"action\":\"cancel\",\"ids\":[\"\"]}                           | bad_field     | ids: expected ids of 1 to 200 characters",
                "{\"action\":\"cancel\",\"ids\":[\"a\"],\"filter\":{}}            | bad_field     | filter: expected none beside ids",
                "{\"action\":\"cancel\",\"ids\":[\"a\"],\"limit\":1}              | bad_field     | limit: expected none beside ids",
                "{\"action\":\"cancel\",\"filter\":{},\"limit\":201}              | bad_field     | limit: expected 1 to 200",
                "{\"action\":\"resume\",\"filter\":{},\"reason\":\"x\"}           | bad_field     | reason: expected none",
                "{\"action\":\"cancel\",\"filter\":{\"agnet\":\"a\"}}             | unknown_field | did you mean `agent`",
                "{\"action\":\"cancel\",\"filter\":{\"state\":\"done\"}}          | bad_parameter | state: expected one of",
                "{\"action\":\"cancel\",\"filter\":{\"waitingFor\":\"godot\"}}    | bad_parameter | waitingFor: expected one of"
            })
    void shouldRefuseWhatIsUnclear(String body, String code, String detail) throws Exception {
        // when
        Answer answer = gateway.postText("/v1/tasks/bulk", body);

        // then
        assertThat(answer.status()).as(answer.body()).isEqualTo(400);
        assertThat(answer.text("code")).isEqualTo(code);
        assertThat(answer.text("detail")).contains(detail);
    }

    @Test
    @DisplayName("the word bulk is still the id of a task for everything else")
    void shouldLeaveTheIdToTasks() throws Exception {
        assertThat(gateway.get("/v1/tasks/bulk").json()).containsEntry("code", "unknown_task");
    }

    private TaskBulk.Outcome bulk(int status, Map<String, @Nullable Object> request) throws Exception {
        Answer answer = gateway.postJson("/v1/tasks/bulk", request);
        assertThat(answer.status()).as(answer.body()).isEqualTo(status);
        return Json.MAPPER.readValue(answer.body(), TaskBulk.Outcome.class);
    }

    private Event onLane(Segment segment, String eventId) {
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(segment))) {
            return lane.event(event -> event.id().equals(eventId), GatewayClient.LIMIT);
        }
    }
}
