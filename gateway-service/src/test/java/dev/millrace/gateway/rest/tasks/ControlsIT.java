package dev.millrace.gateway.rest.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What people want of running tasks becomes events on the right lane and partition; what makes no sense is refused. */
@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class ControlsIT {
    private final GatewayClient gateway = new GatewayClient();

    @AfterEach
    void mendAgent() throws Exception {
        gateway.agentIs("up");
    }

    @Test
    void shouldSuspendARunningTaskOnTheLaneAndPartitionOfItsSession() throws Exception {
        // given
        String id = gateway.knownTask("s-suspend", "reasoning");

        // when
        Answer answer = gateway.postJson("/v1/tasks/" + id + "/suspend", Map.of("reason", "lunch"));

        // then
        assertThat(answer.status()).as(answer.body()).isEqualTo(202);
        assertThat(answer.json()).containsEntry("taskId", id).containsEntry("status", "accepted");
        Event event = onLane(Segment.TASK, answer.text("eventId"));
        assertThat(event.type()).isEqualTo(KnownEventType.TASK_SUSPENDED);
        assertThat(event.taskId()).isEqualTo(id);
        assertThat(event.sessionKey()).isEqualTo("s-suspend");
        assertThat(event.fields()).isEqualTo(Map.of("reason", "lunch"));
    }

    @Test
    void shouldTakeNoBodyForNoReason() throws Exception {
        // given
        String id = gateway.knownTask(null, "acting");

        // when
        Answer answer =
                gateway.send(gateway.request("/v1/tasks/" + id + "/suspend").POST(BodyPublishers.noBody()));

        // then
        assertThat(answer.status()).as(answer.body()).isEqualTo(202);
        assertThat(onLane(Segment.TASK, answer.text("eventId")).fields()).isEmpty();
    }

    @Test
    void shouldMakeOneEventOfARepeatedRequest() throws Exception {
        // given
        String id = gateway.knownTask(null, "acting");
        String key = Ids.random();

        // when
        Answer once = keyed(key, "/v1/tasks/" + id + "/cancel");
        Answer again = keyed(key, "/v1/tasks/" + id + "/cancel");

        // then
        assertThat(once.status()).isEqualTo(202);
        assertThat(again.text("eventId")).isEqualTo(once.text("eventId"));
    }

    @Test
    @DisplayName(
            "a key that was used for another kind of request, or another task, does not make a request a repeated one")
    void shouldNotTakeAnotherRequestForARepeatedOne() throws Exception {
        // given
        String key = Ids.random();
        gateway.send(gateway.request("/v1/tasks")
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", key)
                .POST(BodyPublishers.ofString("{\"text\":\"hello\"}")));

        // when
        List<String> ids = List.of(
                key,
                keyed(key, "/v1/tasks/" + key + "/cancel").text("eventId"),
                keyed(key, "/v1/tasks/" + gateway.knownTask(null, "acting") + "/cancel")
                        .text("eventId"),
                keyed(key, "/v1/tasks/" + gateway.knownTask(null, "acting") + "/suspend")
                        .text("eventId"),
                keyed(key, "/v1/system/drain").text("eventId"));

        // then
        assertThat(ids).doesNotHaveDuplicates().doesNotContain("null");
    }

    private Answer keyed(String key, String path) throws Exception {
        return gateway.send(gateway.request(path).header("Idempotency-Key", key).POST(BodyPublishers.noBody()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/tasks/x/cancel", "/v1/tasks/x/suspend", "/v1/tasks/x/resume", "/v1/system/drain"})
    @DisplayName("a body has to say that it is JSON; without a body nothing has to be said")
    void shouldTakeJsonOnly(String path) throws Exception {
        for (String type : List.of("text/plain", "application/x-www-form-urlencoded", "application/jsonx")) {
            // when
            Answer answer = gateway.send(
                    gateway.request(path).header("Content-Type", type).POST(BodyPublishers.ofString("{}")));

            // then
            assertProblem(answer, 415, "unsupported_media_type");
            assertThat(answer.text("detail"))
                    .isEqualTo("Content-Type: expected application/json, found \"" + type + "\".");
        }
        assertProblem(
                gateway.send(gateway.request(path).POST(BodyPublishers.ofString("{}"))), 415, "unsupported_media_type");
        assertThat(gateway.send(gateway.request(path)
                                .header("Content-Type", "text/plain")
                                .POST(BodyPublishers.noBody()))
                        .status())
                .isNotEqualTo(415);
    }

    @ParameterizedTest
    @ValueSource(strings = {"idle", "suspended", "completed", "cancelled"})
    @DisplayName("F-134: only a task that reasons or acts can be suspended")
    void shouldSayWhatCannotBeSuspended(String state) throws Exception {
        // given
        String id = gateway.knownTask(null, state);

        // when
        Answer answer = gateway.postJson("/v1/tasks/" + id + "/suspend", Map.of());

        // then
        assertProblem(answer, 409, "not_suspendable");
        assertThat(answer.json()).containsEntry("state", state);
    }

    @ParameterizedTest
    @CsvSource({"suspended, {}", "suspended, {\"newInput\":\"Go on\"}", "completed, {\"newInput\":\"And now?\"}"})
    void shouldResume(String state, String body) throws Exception {
        // given
        String id = gateway.knownTask("s-resume", state);

        // when
        Answer answer = gateway.postText("/v1/tasks/" + id + "/resume", body);

        // then
        assertThat(answer.status()).as(answer.body()).isEqualTo(202);
        Event event = onLane(Segment.TASK, answer.text("eventId"));
        assertThat(event.type()).isEqualTo(KnownEventType.TASK_RESUMED);
        assertThat(event.sessionKey()).isEqualTo("s-resume");
        assertThat(event.fields().containsKey("newInput")).isEqualTo(body.contains("newInput"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"idle", "reasoning", "acting", "failed", "cancelled"})
    @DisplayName("F-117: what cannot be resumed is refused in the specification's words")
    void shouldSayWhatCannotBeResumed(String state) throws Exception {
        // given
        String id = gateway.knownTask(null, state);

        // when
        Answer answer = gateway.postJson("/v1/tasks/" + id + "/resume", Map.of("newInput", "x"));

        // then
        assertProblem(answer, 409, "not_resumable");
        assertThat(answer.text("detail"))
                .startsWith("Task " + id + " is in state " + state.toUpperCase(Locale.ROOT)
                        + ", can only resume COMPLETED tasks");
    }

    @Test
    void shouldNeedInputToResumeACompletedTask() throws Exception {
        assertProblem(
                gateway.postJson("/v1/tasks/" + gateway.knownTask(null, "completed") + "/resume", Map.of()),
                400,
                "missing_input");
    }

    @Test
    void shouldPointToTheDecisionWhenATaskWaitsForAnApproval() throws Exception {
        // given
        String id = gateway.knownTask(null, "suspended");
        requested(id, null, id + "/1/0-ab");
        await().atMost(GatewayClient.LIMIT)
                .until(() -> gateway.get("/v1/tasks/" + id).body().contains("approval"));

        // when
        Answer answer = gateway.postJson("/v1/tasks/" + id + "/resume", Map.of());

        // then
        assertProblem(answer, 409, "approval_open");
        assertThat(answer.text("detail")).contains("/v1/approvals");
    }

    @Test
    void shouldAskForTheAnswerWhenATaskHasAsked() throws Exception {
        // given
        String id = gateway.knownTask(null, "suspended");
        gateway.journal(
                Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.now()).build(),
                KnownEventType.TASK_SUSPENDED,
                2,
                Map.of("question", "Which one?"));
        await().atMost(GatewayClient.LIMIT)
                .until(() -> gateway.get("/v1/tasks/" + id).body().contains("answer"));

        // then
        assertProblem(gateway.postJson("/v1/tasks/" + id + "/resume", Map.of()), 409, "answer_open");
        assertThat(gateway.postJson("/v1/tasks/" + id + "/resume", Map.of("newInput", "this one"))
                        .status())
                .isEqualTo(202);
    }

    @ParameterizedTest
    @ValueSource(strings = {"suspend", "resume"})
    @DisplayName("F-117: an unknown task is not found")
    void shouldNotFindAnUnknownTask(String what) throws Exception {
        Map<String, String> body = what.equals("resume") ? Map.of("newInput", "x") : Map.of();
        assertProblem(gateway.postJson("/v1/tasks/nobody/" + what, body), 404, "unknown_task");
    }

    @Test
    void shouldCancelOnTheSystemLane() throws Exception {
        // given
        String id = gateway.knownTask("s-cancel", "acting");

        // when
        Answer answer = gateway.postJson("/v1/tasks/" + id + "/cancel", Map.of("reason", "enough"));

        // then
        assertThat(answer.status()).isEqualTo(202);
        assertThat(answer.json()).containsEntry("note", null);
        Event event = onLane(Segment.SYSTEM, answer.text("eventId"));
        assertThat(event.type()).isEqualTo(KnownEventType.TASK_CANCEL_REQUESTED);
        assertThat(event.sessionKey()).isEqualTo("s-cancel");
        assertThat(event.fields()).isEqualTo(Map.of("reason", "enough"));
    }

    @Test
    void shouldCancelWhatWasAcceptedAndIsNotKnownYet() throws Exception {
        // given
        String id = gateway.postJson("/v1/tasks", Map.of("text", "hello", "sessionId", "s-early"))
                .text("taskId");

        // when
        Answer answer = gateway.postJson("/v1/tasks/" + id + "/cancel", Map.of());

        // then
        assertThat(answer.status()).isEqualTo(202);
        assertThat(onLane(Segment.SYSTEM, answer.text("eventId")).sessionKey()).isEqualTo("s-early");
    }

    @Test
    void shouldCancelATaskThatNobodyKnowsAndSayThatNobodyDoes() throws Exception {
        // given
        String id = Ids.random();

        // when
        Answer answer = gateway.postJson("/v1/tasks/" + id + "/cancel", Map.of());
        Answer ofSession = gateway.postJson("/v1/tasks/" + id + "/cancel", Map.of("sessionId", "s-9"));

        // then
        assertThat(answer.status()).isEqualTo(202);
        assertThat(answer.text("note")).contains("No task " + id + " is known yet");
        assertThat(onLane(Segment.SYSTEM, answer.text("eventId")).sessionKey()).isEqualTo(id);
        assertThat(ofSession.status()).isEqualTo(202);
        assertThat(onLane(Segment.SYSTEM, ofSession.text("eventId")).sessionKey())
                .isEqualTo("s-9");
    }

    @Test
    void shouldCancelWithoutAskingAnybodyIfTheSessionIsGiven() throws Exception {
        // given
        gateway.agentIs("down");

        // then
        assertThat(gateway.postJson("/v1/tasks/t/cancel", Map.of("sessionId", "s"))
                        .status())
                .isEqualTo(202);
        assertProblem(gateway.postJson("/v1/tasks/t/cancel", Map.of()), 503, "query_unavailable");
    }

    @Test
    void shouldSayThatATaskHasEndedAlready() throws Exception {
        // given
        String id = gateway.knownTask(null, "completed");

        // when
        Answer answer = gateway.postJson("/v1/tasks/" + id + "/cancel?wait=10s", Map.of());

        // then
        assertThat(answer.status()).isEqualTo(202);
        assertThat(answer.text("note")).contains("has ended already, as completed");
    }

    @Test
    void shouldWaitUntilTheTaskIsCancelled() throws Exception {
        // given
        String id = gateway.knownTask(null, "reasoning");
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {

            // when
            Future<Answer> waiting =
                    threads.submit(() -> gateway.postJson("/v1/tasks/" + id + "/cancel?wait=15s", Map.of()));
            Event request = onLane(Segment.SYSTEM, id, KnownEventType.TASK_CANCEL_REQUESTED);
            gateway.journal(request, KnownEventType.TASK_CANCELLED, 1, Map.of("reason", "enough"));

            // then
            Answer answer = waiting.get();
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
            assertThat(answer.json()).containsEntry("state", "cancelled").containsEntry("eventId", request.id());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("the slashes of a call's id may stand in the path as they are, or encoded")
    void shouldDecideOnACallHoweverItsIdIsWritten(boolean encoded) throws Exception {
        // given
        String id = gateway.knownTask("s-approve", "suspended");
        String callId = id + "/1/0-ab";
        requested(id, "s-approve", callId);

        // when
        Answer answer = gateway.postJson(
                "/v1/approvals/" + (encoded ? callId.replace("/", "%2F") : callId),
                Map.of(
                        "decision",
                        "approve",
                        "params",
                        Map.of("path", "b.txt"),
                        "reason",
                        "the other file",
                        "decidedBy",
                        "ada"));

        // then
        assertThat(answer.status()).as(answer.body()).isEqualTo(202);
        Event event = onLane(Segment.TASK, answer.text("eventId"));
        assertThat(event.type()).isEqualTo(KnownEventType.APPROVAL_DECIDED);
        assertThat(event.taskId()).isEqualTo(id);
        assertThat(event.sessionKey()).isEqualTo("s-approve");
        assertThat(event.fields())
                .isEqualTo(Map.of(
                        "callId",
                        callId,
                        "decision",
                        "approve",
                        "params",
                        Map.of("path", "b.txt"),
                        "reason",
                        "the other file",
                        "decidedBy",
                        "ada"));
        assertThat(gateway.get("/v1/approvals/" + (encoded ? callId.replace("/", "%2F") : callId))
                        .json())
                .containsEntry("open", true)
                .containsEntry("callId", callId);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"path\":\"b.txt\",\"size\":\"59.90\"} | /size string found, number expected",
                "{\"size\":1}                          | required property 'path' not found",
                "{}                                    | required property 'path' not found"
            })
    @DisplayName("arguments that the tool cannot take are refused, and nothing is decided")
    void shouldRefuseParamsThatDoNotFit(String params, String problem) throws Exception {
        // given
        String id = gateway.knownTask(null, "suspended");
        String callId = id + "/1/0-ab";
        requested(id, null, callId);

        // when
        Answer answer =
                gateway.postText("/v1/approvals/" + callId, "{\"decision\":\"approve\",\"params\":" + params + "}");
        Answer other = gateway.postJson("/v1/approvals/" + callId, Map.of("decision", "reject"));

        // then
        assertProblem(answer, 422, "invalid_arguments");
        assertThat(answer.text("detail")).startsWith("params: ").contains(problem);
        assertThat(other.status()).as(other.body()).isEqualTo(202);
        assertThat(onLane(Segment.TASK, id, KnownEventType.APPROVAL_DECIDED).text("decision"))
                .isEqualTo("reject");
    }

    @Test
    void shouldTakeTheSameDecisionAgainAndRefuseAnotherOne() throws Exception {
        // given
        String id = gateway.knownTask(null, "suspended");
        String callId = id + "/1/0-ab";
        Event request = requested(id, null, callId);
        gateway.journal(
                request,
                KnownEventType.APPROVAL_DECIDED,
                1,
                Map.of("callId", callId, "decision", "reject", "decidedBy", "ada"));
        await().atMost(GatewayClient.LIMIT)
                .until(() -> gateway.get("/v1/approvals/" + callId).body().contains("\"open\":false"));

        // when
        Answer same = gateway.postJson("/v1/approvals/" + callId, Map.of("decision", "reject"));
        Answer other = gateway.postJson("/v1/approvals/" + callId, Map.of("decision", "approve"));

        // then
        assertThat(same.status()).isEqualTo(202);
        assertThat(same.text("note")).contains("changes nothing");
        assertProblem(other, 409, "already_decided");
        assertThat(other.text("detail")).contains("reject, by ada");
    }

    @Test
    void shouldRefuseADecisionThatNobodyWaitsFor() throws Exception {
        // given
        String id = gateway.knownTask(null, "suspended");
        String callId = id + "/1/0-ab";
        Event request = requested(id, null, callId);
        gateway.journal(request, KnownEventType.TASK_CANCELLED, 1, Map.of());
        await().atMost(GatewayClient.LIMIT)
                .until(() -> gateway.get("/v1/approvals/" + callId).body().contains("\"open\":false"));

        // then
        assertProblem(gateway.postJson("/v1/approvals/" + callId, Map.of("decision", "approve")), 409, "not_waiting");
        assertProblem(
                gateway.postJson("/v1/approvals/no/such/call", Map.of("decision", "approve")), 404, "unknown_approval");
        assertProblem(gateway.get("/v1/approvals/no/such/call"), 404, "unknown_approval");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "decision  | {}",
                "decision  | {\"decision\":\"maybe\"}",
                "params    | {\"decision\":\"reject\",\"params\":{}}",
                "params    | {\"decision\":\"approve\",\"params\":[]}",
                "reason    | {\"decision\":\"reject\",\"reason\":1}",
                "decidedBy | {\"decision\":\"reject\",\"decidedBy\":\"\"}"
            })
    void shouldNameTheFieldOfADecisionThatCannotBeRead(String field, String body) throws Exception {
        // when
        Answer answer = gateway.postText("/v1/approvals/a/1/0", body);

        // then
        assertProblem(answer, 400, "bad_field");
        assertThat(answer.text("detail")).startsWith(field + ": expected ");
    }

    @Test
    void shouldPassTheFiltersOfApprovalsOn() throws Exception {
        assertThat(gateway.get("/v1/approvals?taskId=t&sessionId=s&toolName=x&namespace=acme&limit=7&cursor=c")
                        .json())
                .containsEntry(
                        "approvals",
                        List.of(Map.of(
                                "query",
                                Map.of(
                                        "taskId",
                                        "t",
                                        "sessionId",
                                        "s",
                                        "toolName",
                                        "x",
                                        "namespace",
                                        "acme",
                                        "limit",
                                        "7",
                                        "after",
                                        "c"))));
    }

    @ParameterizedTest
    @CsvSource({"drain, SYSTEM_SHUTTING_DOWN", "resume, SYSTEM_STARTED"})
    void shouldTellTheFirstPartitionWhichTellsTheOthers(String what, KnownEventType type) throws Exception {
        for (int i = 0; i < 5; i++) {
            // given
            String key = Ids.random();

            // when
            Answer answer = gateway.send(gateway.request("/v1/system/" + what)
                    .header("Idempotency-Key", key)
                    .POST(BodyPublishers.noBody()));
            Answer again = gateway.send(gateway.request("/v1/system/" + what)
                    .header("Idempotency-Key", key)
                    .POST(BodyPublishers.noBody()));

            // then
            assertThat(answer.status()).as(answer.body()).isEqualTo(202);
            assertThat(again.text("eventId")).isEqualTo(answer.text("eventId"));
            try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(Segment.SYSTEM))) {
                assertThat(lane
                                .until(
                                        records -> !ofId(records, answer.text("eventId"))
                                                .isEmpty(),
                                        GatewayClient.LIMIT)
                                .stream()
                                .filter(record -> !ofId(List.of(record), answer.text("eventId"))
                                        .isEmpty()))
                        .allSatisfy(record -> {
                            assertThat(record.partition()).isZero();
                            assertThat(TopicReader.events(List.of(record))
                                            .getFirst()
                                            .type())
                                    .isEqualTo(type);
                        });
            }
        }
    }

    @Test
    void shouldSayWhichMethodsThereAreForACall() throws Exception {
        // when
        Answer answer = gateway.send(gateway.request("/v1/approvals/a/1/0").method("DELETE", BodyPublishers.noBody()));

        // then
        assertThat(answer.status()).isEqualTo(405);
        assertThat(answer.header("Allow")).isEqualTo("GET, POST");
    }

    private static List<Event> ofId(List<ConsumerRecord<String, byte[]>> records, String id) {
        return TopicReader.events(records).stream()
                .filter(event -> event.id().equals(id))
                .toList();
    }

    /** A task that agent-service knows in this state. */
    private Event requested(String taskId, @Nullable String sessionId, String callId) {
        Event root = Event.root(taskId, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                .taskId(taskId)
                .sessionId(sessionId)
                .build();
        return gateway.journal(
                root,
                KnownEventType.APPROVAL_REQUESTED,
                1,
                Map.of(
                        "callId",
                        callId,
                        "toolCallId",
                        "call_1",
                        "toolName",
                        "write_file",
                        "params",
                        Map.of("path", "a.txt")));
    }

    private Event onLane(Segment segment, String eventId) {
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(segment))) {
            return lane.event(event -> event.id().equals(eventId), GatewayClient.LIMIT);
        }
    }

    private Event onLane(Segment segment, String taskId, KnownEventType type) {
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(segment))) {
            return lane.event(event -> event.type() == type && taskId.equals(event.taskId()), GatewayClient.LIMIT);
        }
    }

    private static void assertProblem(Answer answer, int status, String code) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(status);
        assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
        assertThat(answer.json()).containsEntry("code", code).containsKeys("title", "detail", "instance");
    }
}
