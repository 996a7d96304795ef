package dev.millrace.gateway.rest.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Segment;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The routes of sessions, plain and in the form of the API. */
@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class SessionsIT {

    private final GatewayClient gateway = new GatewayClient();

    @Test
    @DisplayName("F-238 prompt_route_creates_event, prompt_route_includes_payload, prompt_route_includes_metadata,"
            + " prompt_route_returns_success: F-221 to F-223: a prompt is an event, and is answered when it is stored")
    void shouldSendAPrompt() throws Exception {
        // given
        String session = knownSession();

        // when
        Answer answer = gateway.postJson("/sessions/" + session + "/prompt", Map.of("content", "What time is it?"));

        // then
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body())
                .isEqualTo("{\"success\":true,\"sessionId\":\"" + session + "\",\"message\":\"Processing started\"}");
        Event event = onLane(Segment.EXTERNAL, sent -> session.equals(sent.sessionId()));
        assertThat(event.id()).matches("[0-9a-f-]{36}");
        assertThat(event.type()).isEqualTo(KnownEventType.MESSAGE_RECEIVED);
        assertThat(event.source()).isEqualTo("user");
        assertThat(event.taskId()).isNull();
        assertThat(event.text("content")).isEqualTo("What time is it?");
        assertThat(event.fields().get("metadata")).isEqualTo(Map.of("trigger_session_id", session, "source", "user"));
    }

    @Test
    @DisplayName("F-238 prompt_route_missing_content: F-224: without content 400")
    void shouldWantContent() throws Exception {
        String path = "/sessions/" + knownSession() + "/prompt";

        for (Map<String, ?> body : List.<Map<String, ?>>of(Map.of(), Map.of("content", " "), Map.of("content", 7))) {
            Answer answer = gateway.postJson(path, body);
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.body()).isEqualTo("{\"error\":\"Content is required\"}");
        }
        assertThat(gateway.postJson(path, Map.of("content", "x".repeat(100_001)))
                        .text("error"))
                .isEqualTo("content: expected at most 100000 characters, found 100001");
        assertThat(gateway.postJson(path, Map.of("content", "x".repeat(100_000)))
                        .status())
                .isEqualTo(200);
    }

    @Test
    @DisplayName("F-221 to F-224 in the form of /v1: a prompt is an event and is answered when it is stored; without"
            + " content 400")
    void shouldSendAPromptInOurForm() throws Exception {
        // given
        String session = knownSession();
        String path = "/v1/sessions/" + session + "/prompt";

        // when
        Answer answer = gateway.postJson(path, Map.of("content", "What time is it?"));

        // then
        assertThat(answer.status()).isEqualTo(200);
        Event event = onLane(Segment.EXTERNAL, sent -> session.equals(sent.sessionId()));
        assertThat(answer.json())
                .isEqualTo(Map.of(
                        "success", true, "sessionId", session, "message", "Processing started", "eventId", event.id()));
        assertThat(event.text("content")).isEqualTo("What time is it?");
        assertThat(event.fields().get("metadata")).isEqualTo(Map.of("trigger_session_id", session, "source", "user"));
        for (Map<String, ?> body : List.<Map<String, ?>>of(Map.of(), Map.of("content", " "))) {
            Answer refused = gateway.postJson(path, body);
            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.text("code")).isEqualTo("missing_content");
            assertThat(refused.text("error")).isEqualTo("Content is required");
        }
        assertThat(gateway.postJson(path, Map.of("content", "x".repeat(100_001)))
                        .text("code"))
                .isEqualTo("bad_field");
        assertThat(gateway.postJson(path, Map.of("content", "x", "text", "y")).text("code"))
                .isEqualTo("unknown_field");
        assertThat(gateway.postJson("/v1/sessions/" + Ids.random() + "/prompt", Map.of("content", "x"))
                        .text("code"))
                .isEqualTo("unknown_session");
    }

    @Test
    @DisplayName("X-30, F-249: what asks for an unknown session is a 404")
    void shouldSayThatThereIsNoSuchSession() throws Exception {
        String unknown = Ids.random();
        String plain = "/sessions/" + unknown;
        String ours = "/v1/sessions/" + unknown;

        for (Answer answer : List.of(
                gateway.postJson(plain + "/prompt", Map.of("content", "hello")),
                gateway.get(plain),
                gateway.get(plain + "/messages"),
                gateway.postJson(plain + "/interrupt", Map.of()),
                gateway.send(gateway.request(plain).DELETE()))) {
            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.body()).isEqualTo("{\"error\":\"Session not found\"}");
        }
        for (Answer answer : List.of(
                gateway.get(ours),
                gateway.get(ours + "/messages"),
                gateway.postJson(ours + "/interrupt", Map.of()),
                gateway.send(gateway.request(ours).DELETE()))) {
            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.text("code")).isEqualTo("unknown_session");
        }
    }

    @Test
    @DisplayName("F-249: a session is made with a title or without; an id that there is already is a 409")
    void shouldMakeASession() throws Exception {
        // given
        String known = knownSession();
        String wanted = Ids.random();

        // when
        Answer plain = gateway.postJson("/sessions", Map.of("title", "Ada's"));
        Answer ours = gateway.postJson("/v1/sessions", Map.of("sessionId", wanted, "title", "Engines"));
        Answer again = gateway.postJson("/v1/sessions", Map.of("sessionId", known));
        Answer tooLong = gateway.postJson("/v1/sessions", Map.of("title", "x".repeat(201)));

        // then
        assertThat(plain.status()).isEqualTo(201);
        assertThat(plain.json().keySet()).isEqualTo(Set.of("id", "title", "createdAt", "updatedAt"));
        assertThat(plain.text("title")).isEqualTo("Ada's");
        assertThat(ours.status()).isEqualTo(201);
        assertThat(ours.header("Location")).endsWith("/v1/sessions/" + wanted);
        assertThat(again.status()).isEqualTo(409);
        assertThat(again.text("code")).isEqualTo("session_exists");
        assertThat(tooLong.status()).isEqualTo(400);
        Event made = onLane(Segment.EXTERNAL, sent -> wanted.equals(sent.sessionId()));
        assertThat(made.type().wireName()).isEqualTo("session.created");
        assertThat(made.text("title")).isEqualTo("Engines");
    }

    @Test
    @DisplayName("F-249: sessions are read and listed, their messages by number and time")
    void shouldReadSessions() throws Exception {
        String session = knownSession();

        assertThat(gateway.get("/sessions/" + session).json())
                .containsEntry("id", session)
                .containsEntry("createdAt", 1)
                .containsEntry("updatedAt", 2);
        assertThat(gateway.get("/v1/sessions/" + session).text("sessionId")).isEqualTo(session);
        assertThat(gateway.get("/sessions").body()).startsWith("[{\"id\":").contains(session);
        assertThat(gateway.get("/v1/sessions?limit=200").body()).contains(session);
        String span = "?limit=7&startTime=1970-01-01T00:00:01Z&endTime=2000";
        assertThat(gateway.get("/sessions/" + session + "/messages" + span).body())
                .contains("\"content\":\"1000-2000/7\",\"timestamp\":3}]");
        assertThat(gateway.get("/v1/sessions/" + session + "/messages" + span).body())
                .contains("1000-2000/7");
        assertThat(gateway.get("/v1/sessions/" + session + "/messages?startTime=soon")
                        .text("code"))
                .isEqualTo("bad_parameter");
        assertThat(gateway.get("/v1/sessions?limit=201").text("code")).isEqualTo("bad_parameter");
    }

    @Test
    @DisplayName("F-249: deleting a session has it forgotten")
    void shouldForgetADeletedSession() throws Exception {
        String plain = knownSession();
        String ours = knownSession();

        Answer first = gateway.send(gateway.request("/sessions/" + plain).DELETE());
        Answer second = gateway.send(gateway.request("/v1/sessions/" + ours).DELETE());

        assertThat(first.body()).isEqualTo("{\"success\":true}");
        assertThat(second.status()).isEqualTo(202);
        for (String session : List.of(plain, ours)) {
            Event request = onLane(
                    Segment.SYSTEM,
                    sent -> sent.type() == KnownEventType.FORGET_REQUESTED && session.equals(sent.sessionId()));
            assertThat(request.text("scope")).isEqualTo("session");
        }
    }

    @Test
    @DisplayName("F-249: an interruption cancels what is at work in the session, and nothing if nothing is")
    void shouldInterrupt() throws Exception {
        // given: one that works, one that has ended; and a session in which all have
        Event working = talk();
        String session = String.valueOf(working.sessionId());
        Event ended = gateway.journalRoot(Ids.random(), session);
        gateway.journal(ended, KnownEventType.TASK_CANCELLED, 0, Map.of());
        awaitEvents(session, 3);
        Event over = talk();
        gateway.journal(over, KnownEventType.TASK_CANCELLED, 0, Map.of());
        awaitEvents(String.valueOf(over.sessionId()), 2);

        // when
        Answer stopped = gateway.postJson("/v1/sessions/" + session + "/interrupt", Map.of());
        Answer plain = gateway.postJson("/sessions/" + session + "/interrupt", Map.of());
        Answer nothing = gateway.postJson("/sessions/" + over.sessionId() + "/interrupt", Map.of());

        // then
        assertThat(stopped.status()).isEqualTo(202);
        assertThat(stopped.json()).containsEntry("interrupted", true).containsEntry("taskIds", List.of(working.id()));
        Event cancel = onLane(Segment.SYSTEM, sent -> working.id().equals(sent.taskId()));
        assertThat(cancel.payload())
                .as("F-257: the session is to know")
                .isEqualTo(new Payload.TaskCancelRequested("Session interrupted by user", true));
        assertThat(cancel.sessionId()).isEqualTo(session);
        assertThat(plain.body()).isEqualTo("{\"success\":true,\"interrupted\":true}");
        assertThat(nothing.body()).isEqualTo("{\"success\":true,\"interrupted\":false}");
    }

    @Test
    @DisplayName("an interruption finds what is at work in the session however much else there is in it")
    void shouldInterruptBehindManyOthers() throws Exception {
        // given: more tasks that wait for their turn than any page has
        String session = "talk-" + Ids.random();
        for (int i = 0; i < 201; i++) {
            Event waiting = gateway.journalRoot(Ids.random(), session);
            gateway.journal(waiting, KnownEventType.TASK_STATE_CHANGED, 1, Map.of("toState", "idle"));
        }
        Event working = gateway.journalRoot(Ids.random(), session);
        gateway.journal(
                working,
                KnownEventType.TASK_STATE_CHANGED,
                1,
                Map.of(
                        "toState",
                        "suspended",
                        "waitingFor",
                        Map.of("kind", "children", "callIds", List.of("c1", "c2"))));
        awaitEvents(session, 2 * 202);

        // when
        Answer stopped = gateway.postJson("/v1/sessions/" + session + "/interrupt", Map.of());
        Answer plain = gateway.postJson("/sessions/" + session + "/interrupt", Map.of());

        // then
        assertThat(stopped.status()).isEqualTo(202);
        assertThat(stopped.json()).containsEntry("interrupted", true).containsEntry("taskIds", List.of(working.id()));
        assertThat(plain.json()).containsEntry("interrupted", true).containsEntry("stoppedBackgroundTasks", 2);
    }

    private String knownSession() throws Exception {
        return String.valueOf(talk().sessionId());
    }

    /** The task with which a session begins that the stub of agent-service knows. */
    private Event talk() throws Exception {
        Event root = gateway.journalRoot(Ids.random(), "talk-" + Ids.random());
        awaitEvents(String.valueOf(root.sessionId()), 1);
        return root;
    }

    private void awaitEvents(String session, int count) {
        await().atMost(GatewayClient.LIMIT)
                .until(() ->
                        gateway.get("/sessions/" + session + "/messages").body().split("\"role\"", -1).length
                                == count + 1);
    }

    private Event onLane(Segment segment, Predicate<Event> wanted) {
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(segment))) {
            return lane.event(wanted, GatewayClient.LIMIT);
        }
    }
}
