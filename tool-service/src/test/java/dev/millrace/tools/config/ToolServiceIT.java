package dev.millrace.tools.config;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.BrokerResource;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@RequiresBroker
@QuarkusTest
@QuarkusTestResource(BrokerResource.class)
class ToolServiceIT {

    private static final Duration SOON = Duration.ofSeconds(30);

    /** F-150 without the memory tools, which another service runs; and read_result. */
    private static final List<String> BUILT_IN = List.of(
            "current_time",
            "get_env",
            "set_env",
            "web_search",
            "task_list",
            "task_replay",
            "get_event_info",
            "sleep",
            "read_file",
            "write_file",
            "list_files",
            "delete_file",
            "move_file",
            "get_file_info",
            "edit_file",
            "grep_files",
            "http_get",
            "http_post",
            "http_request",
            "json_parse",
            "json_stringify",
            "base64_encode",
            "base64_decode",
            "notify",
            "reply",
            "session_archive_read",
            "read_result");

    private final TestBroker broker = TestBroker.shared();
    private final Topics topics;
    private final int managementPort;

    ToolServiceIT(
            @ConfigProperty(name = "millrace.topics.prefix") String prefix,
            @ConfigProperty(name = "quarkus.management.test-port") int managementPort) {
        this.topics = new Topics(prefix);
        this.managementPort = managementPort;
    }

    @Test
    @DisplayName("F-089: a request on the topic becomes a reply on the lane, in the same chain")
    void shouldDoWhatIsAsked() {
        // given
        Event request = request("call-time", "current_time", Map.of("timezone", "Europe/Vienna"));
        // when
        Event reply = ask(request);
        // then
        assertThat(reply.type()).isEqualTo(KnownEventType.TOOL_CALL_COMPLETED);
        assertThat(reply.source()).isEqualTo("tools.executor");
        assertThat(reply.taskId()).isEqualTo("task-1");
        assertThat(reply.parentEventId()).isEqualTo("parent-1");
        assertThat(reply.correlationId()).isEqualTo("root-1");
        assertThat(reply.text("toolName")).isEqualTo("current_time");
        assertThat(reply.fields().get("result"))
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.MAP)
                .containsEntry("timezone", "Europe/Vienna");
    }

    @Test
    @DisplayName("F-090, F-301: what goes wrong is a reply as well")
    void shouldAnswerForWhatGoesWrong() {
        // when
        Event unknown = ask(request("call-unknown", "read_fil", Map.of()));
        Event invalid = ask(request("call-invalid", "read_file", Map.of()));
        Event outside = ask(request("call-outside", "read_file", Map.of("path", "../secret")));
        Event refused = ask(request("call-refused", "http_get", Map.of("url", "http://127.0.0.1:1/")));
        // then
        assertThat(List.of(unknown, invalid, outside, refused))
                .extracting(Event::type)
                .containsOnly(KnownEventType.TOOL_CALL_FAILED);
        assertThat(unknown.text("error")).isEqualTo("Tool \"read_fil\" not found. Did you mean \"read_file\"?");
        assertThat(invalid.text("code")).isEqualTo("invalid_arguments");
        assertThat(outside.text("code")).isEqualTo("path_outside_workspace");
        assertThat(refused.text("code")).isEqualTo("address_refused");
    }

    @Test
    void shouldPublishItsToolsOnce() throws MalformedEventException {
        // given
        ask(request("call-published", "current_time", Map.of()));
        // when
        List<ConsumerRecord<String, byte[]>> definitions;
        try (TopicReader reader = broker.read(topics.definitions())) {
            definitions = reader.untilCount(BUILT_IN.size(), SOON);
        }
        // then
        assertThat(definitions)
                .extracting(definition -> definition.key().substring("tool/".length()))
                .containsExactlyInAnyOrderElementsOf(BUILT_IN);
        for (ConsumerRecord<String, byte[]> definition : definitions) {
            assertThat(ToolDefinition.fromJson(definition.value()).toolset()).isEqualTo(Topics.BUILT_IN_TOOLSET);
        }
    }

    @Test
    @DisplayName("a webhook that cannot be delivered becomes a dead letter")
    void shouldPutAsideWhatCannotBeDelivered() {
        // given
        Event notice = Event.root("notice-1", KnownEventType.NOTIFICATION_REQUESTED, Instant.now())
                .taskId("task-1")
                .payload(Map.of(
                        "callbackUrl",
                        "http://127.0.0.1:1/hook",
                        "type",
                        "completed",
                        "taskId",
                        "task-1",
                        "eventId",
                        "event-1",
                        "timestamp",
                        1_800_000_000_000L))
                .build();
        // when
        broker.produce(topics.webhookRequests(), notice);
        // then
        try (TopicReader dead = broker.read(topics.deadLetters())) {
            ConsumerRecord<String, byte[]> letter = dead.untilCount(1, SOON).getFirst();
            assertThat(new String(letter.headers().lastHeader("millrace-reason").value(), StandardCharsets.UTF_8))
                    .isEqualTo("webhook_failed");
            assertThat(new String(letter.headers().lastHeader("ce_id").value(), StandardCharsets.UTF_8))
                    .isEqualTo("notice-1");
        }
    }

    @Test
    void shouldTellOfItsHealthAndCount() {
        // given
        ask(request("call-counted", "notify", Map.of("message", "hello")));
        // when
        int ready = given().port(managementPort).get("/q/health/ready").statusCode();
        String metrics = given().port(managementPort).get("/q/metrics").body().asString();
        // then
        assertThat(ready).isEqualTo(200);
        assertThat(metrics).contains("millrace_tools_calls_seconds_count").contains("toolName=\"notify\"");
    }

    private Event ask(Event request) {
        broker.produce(topics.requests(Topics.BUILT_IN_TOOLSET), request);
        String callId = String.valueOf(request.text("callId"));
        try (TopicReader replies = broker.read(topics.lane(Segment.TOOL))) {
            return replies.event(event -> callId.equals(event.text("callId")), SOON);
        }
    }

    private static Event request(String callId, String toolName, Map<String, Object> params) {
        return Event.root("request-" + callId, KnownEventType.TOOL_CALL_REQUESTED, Instant.now())
                .taskId("task-1")
                .parentEventId("parent-1")
                .correlationId("root-1")
                .payload(Map.of(
                        "callId",
                        callId,
                        "toolCallId",
                        "tc-1",
                        "toolName",
                        toolName,
                        "params",
                        params,
                        "taskType",
                        "general",
                        "stepIndex",
                        0,
                        "timeoutMs",
                        30_000))
                .build();
    }
}
