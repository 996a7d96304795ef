package dev.millrace.gateway.rest.streams;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.gateway.rest.SseClient;
import dev.millrace.gateway.rest.SseClient.SseEvent;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.testing.RequiresBroker;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class NotificationsIT {
    private final GatewayClient gateway = new GatewayClient();

    @Test
    @DisplayName("F-114, F-115: what the owner of a task should hear of, and nothing else")
    void shouldTellWhatTheOwnerShouldHearOf() throws Exception {
        // given
        String id = Ids.random();
        try (SseClient stream = gateway.stream("/v1/notifications?taskId=" + id, null)) {
            Event root = gateway.journalRoot(id, "s");
            gateway.journal(gateway.journalRoot(Ids.random(), "s"), KnownEventType.TASK_NOTIFY, 1, said("message"));

            // when
            gateway.journal(root, KnownEventType.TASK_NOTIFY, 1, Map.of("message", "half way"));
            gateway.journal(root, KnownEventType.TASK_SUSPENDED, 1, Map.of("reason", "by hand"));
            gateway.journal(root, KnownEventType.TASK_SUSPENDED, 2, Map.of("question", "Which one?"));
            gateway.journal(root, KnownEventType.APPROVAL_REQUESTED, 1, Map.of("callId", "c", "toolName", "t"));
            gateway.journal(root, KnownEventType.TASK_COMPLETED, 1, Map.of("result", Map.of("response", "Hi!")));

            // then
            assertThat(next(stream)).containsEntry("type", "notify").containsEntry("message", "half way");
            assertThat(next(stream)).containsEntry("type", "question").containsEntry("question", "Which one?");
            assertThat(next(stream))
                    .containsEntry("type", "approval_needed")
                    .containsEntry("approval", Map.of("callId", "c", "toolName", "t"));
            assertThat(next(stream))
                    .containsEntry("type", "completed")
                    .containsEntry("taskId", id)
                    .containsEntry("sessionId", "s")
                    .containsEntry("result", Map.of("response", "Hi!"));
        }
    }

    @Test
    void shouldGoOnWhereAStreamWasCutOff() throws Exception {
        // given
        String session = Ids.random();
        String path = "/v1/notifications?types=completed,failed&sessionId=" + session;
        SseEvent first;
        try (SseClient stream = gateway.stream(path, null)) {
            gateway.journal(gateway.journalRoot(Ids.random(), session), KnownEventType.TASK_FAILED, 1, said("error"));
            first = Objects.requireNonNull(stream.next());
        }

        // when
        List<Event> missed = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Event root = gateway.journalRoot(Ids.random(), session);
            gateway.journal(root, KnownEventType.TASK_NOTIFY, 1, said("message"));
            missed.add(gateway.journal(root, KnownEventType.TASK_COMPLETED, 1, new HashMap<>()));
        }
        List<Object> got = new ArrayList<>();
        try (SseClient stream = gateway.stream(path, first.id())) {
            while (got.size() < missed.size()) {
                got.add(next(stream).get("eventId"));
            }
        }

        // then
        assertThat(first.name()).isEqualTo("failed");
        assertThat(first.json()).containsEntry("error", "x");
        assertThat(got)
                .containsExactlyElementsOf(
                        missed.stream().<Object>map(Event::id).toList());
    }

    @Test
    void shouldKeepTenantsApart() throws Exception {
        // given
        String namespace = Ids.random();
        try (SseClient stream = gateway.stream("/v1/notifications?namespace=" + namespace, null)) {
            Event other = gateway.journalRoot(Ids.random(), null);
            gateway.journal(other, KnownEventType.TASK_NOTIFY, 1, said("message"));

            // when
            Event mine = other.toBuilder().namespace(namespace).build();
            Event said = gateway.journal(mine, KnownEventType.TASK_NOTIFY, 2, said("message"));

            // then
            assertThat(next(stream)).containsEntry("eventId", said.id()).containsEntry("namespace", namespace);
        }
    }

    @Test
    void shouldNameTheTypesThatThereAre() throws Exception {
        // when
        Answer answer = gateway.get("/v1/notifications?types=completed,finished");

        // then
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text("detail")).contains("approval_needed").contains("found \"finished\"");
        assertThat(gateway.get("/v1/notifications?after=1:2").status()).isEqualTo(400);
    }

    private static Map<String, @Nullable Object> next(SseClient stream) throws Exception {
        return Objects.requireNonNull(stream.next()).json();
    }

    private static Map<String, @Nullable Object> said(String field) {
        return Map.of(field, "x");
    }
}
