package dev.millrace.gateway.rest.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.awaitility.Awaitility.await;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.gateway.rest.SseClient;
import dev.millrace.gateway.rest.SseClient.SseEvent;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.StreamType;
import dev.millrace.testing.RequiresBroker;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class LiveTextIT {
    private final GatewayClient gateway = new GatewayClient();

    @Test
    @DisplayName(
            "F-227: a stream that begins in the middle of a reply tells it from its start, then what comes, then the"
                    + " reply; it resumes, and ends with the task")
    void shouldTellTheReplyOfATaskWhileItIsMade() throws Exception {
        // given: a call that is over, and one that runs
        String id = Ids.random();
        Event root = gateway.journalRoot(id, "s " + id);
        asked(root, "c1", 1);
        said(root, "c1", 1, "old");
        gateway.journal(root, KnownEventType.REASON_DONE, 2, Map.of("callId", "c1", "response", "old"));
        asked(root, "c2", 3);
        gateway.tokens(root, StreamType.START, 1, 0, Map.of("callId", "c2", "agentName", "general"));
        said(root, "c2", 1, "Hel");
        awaitKnown(id, 4);

        // when
        List<SseEvent> got = new ArrayList<>();
        try (SseClient stream = gateway.stream("/v1/tasks/" + id + "/stream?tokens=stream", null)) {
            take(stream, 6, got);
        }
        said(root, "c2", 2, "lo");
        gateway.tokens(root, StreamType.COMPLETED, 1, 3, Map.of("callId", "c2"));
        gateway.journal(root, KnownEventType.REASON_DONE, 4, Map.of("callId", "c2", "response", "Hello"));
        gateway.journal(root, KnownEventType.TASK_COMPLETED, 5, Map.of());
        try (SseClient stream = gateway.stream(
                "/v1/tasks/" + id + "/stream?tokens=true", got.getLast().id())) {
            got.addAll(stream.rest());
        }

        // then
        assertThat(got)
                .extracting(SseEvent::name)
                .containsExactly(
                        "MESSAGE_RECEIVED",
                        "MODEL_CALL_REQUESTED",
                        "REASON_DONE",
                        "MODEL_CALL_REQUESTED",
                        "stream.start",
                        "stream.text",
                        "stream.text",
                        "stream.completed",
                        "REASON_DONE",
                        "TASK_COMPLETED");
        assertThat(got.get(5).id()).matches("\\d+@\\d+~\\d+");
        assertThat(got.get(5).json())
                .containsEntry("type", "stream.text")
                .containsEntry("taskId", id)
                .containsEntry("sessionId", "s " + id)
                .containsEntry("callId", "c2")
                .containsEntry("attempt", 1)
                .containsEntry("seq", 1)
                .containsEntry("delta", "Hel");
        awaitKnown(id, 6);
        assertThat(gateway.send(gateway.request("/v1/tasks/" + id + "/stream?tokens=stream")
                                .header(
                                        "Last-Event-ID",
                                        Objects.requireNonNull(got.getLast().id()))
                                .GET())
                        .status())
                .isEqualTo(204);
        assertThat(gateway.get("/v1/tasks/" + id + "/events?after=" + got.get(7).id())
                        .json()
                        .get("events"))
                .asInstanceOf(LIST)
                .hasSize(2);
    }

    @Test
    @DisplayName("F-292: TOKEN {token, isComplete, threadId, agentName}; isComplete is true on the last")
    void shouldTellTheTextAloneToWhoeverWantsItSoAndOnlySomeTypes() throws Exception {
        // given
        String id = Ids.random();
        String session = "s" + id;
        try (SseClient plain =
                        gateway.stream("/v1/sessions/" + session + "/stream?tokens=plain&types=TASK_FAILED", null);
                SseClient some = gateway.stream("/v1/stream?tokens=stream&types=stream.error,TASK_FAILED", null)) {

            // when
            Event root = gateway.journalRoot(id, session);
            gateway.tokens(root, StreamType.START, 1, 0, Map.of("callId", "c1", "agentName", "general"));
            said(root, "c1", 1, "Hel");
            gateway.tokens(root, StreamType.REASONING, 1, 2, Map.of("callId", "c1", "delta", "hm"));
            gateway.tokens(root, StreamType.COMPLETED, 1, 3, Map.of("callId", "c1"));
            gateway.tokens(root, StreamType.ERROR, 1, 3, Map.of("callId", "c2", "code", "timeout", "error", "late"));
            List<SseEvent> got = new ArrayList<>();
            take(plain, 3, got);
            List<SseEvent> others = new ArrayList<>();
            take(some, 1, others);
            gateway.journal(root, KnownEventType.TASK_FAILED, 1, Map.of("error", "e", "code", "timeout"));

            // then
            assertThat(got).extracting(SseEvent::name).containsExactly("TOKEN", "TOKEN", "stream.error");
            assertThat(got.getFirst().json())
                    .containsEntry("token", "Hel")
                    .containsEntry("isComplete", false)
                    .containsEntry("threadId", session)
                    .containsEntry("agentName", "general");
            assertThat(got.get(1).json()).containsEntry("token", "").containsEntry("isComplete", true);
            take(some, 1, others);
            assertThat(others).extracting(SseEvent::name).containsExactly("stream.error", "TASK_FAILED");
            assertThat(Objects.requireNonNull(plain.next()).name()).isEqualTo("TASK_FAILED");
            assertThat(Objects.requireNonNull(plain.nextOrComment()).comment()).isEqualTo(" alive");
        }
    }

    @Test
    void shouldRefuseAFormThatThereIsNot() throws Exception {
        assertThat(gateway.get("/v1/stream?tokens=loud").status()).isEqualTo(400);
        assertThat(gateway.get("/v1/stream?tokens=stream&after=7").status()).isEqualTo(400);
    }

    private void asked(Event root, String call, int ordinal) {
        gateway.journal(root, KnownEventType.MODEL_CALL_REQUESTED, ordinal, Map.of("callId", call));
    }

    private void said(Event root, String call, int seq, String delta) {
        gateway.tokens(root, StreamType.TEXT, 1, seq, Map.of("callId", call, "delta", delta));
    }

    private void awaitKnown(String id, int count) {
        await().atMost(GatewayClient.LIMIT).until(() -> {
            int known = 0;
            String after = "";
            while (true) {
                GatewayClient.Answer page = gateway.get("/v1/tasks/" + id + "/events" + after);
                if (page.status() != 200) {
                    return false;
                }
                known += ((List<?>) Objects.requireNonNull(page.field("events"))).size();
                if (page.field("next") == null) {
                    return known == count;
                }
                after = "?after=" + page.text("next");
            }
        });
    }

    private static void take(SseClient stream, int count, List<SseEvent> into) throws IOException {
        for (int i = 0; i < count; i++) {
            into.add(Objects.requireNonNull(stream.next()));
        }
    }
}
