package dev.millrace.agent.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.SessionOrigin;
import dev.millrace.api.Session;
import dev.millrace.schemas.CustomEventType;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the projection knows of sessions. */
@Tag("slow")
class SessionProjectionTest {

    private static final Topics TOPICS = new Topics("test.");
    private static final Duration RETENTION = Duration.ofDays(30);
    private static final Instant NOW = Instant.parse("2026-02-01T00:00:00Z");
    private static final String NS = Event.DEFAULT_NAMESPACE;

    private TopologyTestDriver driver;
    private TestInputTopic<byte[], byte[]> journal;

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void openDriver(@TempDir Path stateDir) {
        Properties config = new Properties();
        config.putAll(Map.of(
                "application.id", "sessions-test", "bootstrap.servers", "none:9", "state.dir", stateDir.toString()));
        driver = new TopologyTestDriver(ProjectionTopology.build(TOPICS, new AppliedOffsets(), RETENTION), config, NOW);
        journal = driver.createInputTopic(TOPICS.journal(), new ByteArraySerializer(), new ByteArraySerializer());
    }

    @AfterEach
    void closeDriver() {
        driver.close();
    }

    @Test
    @DisplayName("F-300: words that are given on to another participant are in the conversation once")
    void shouldTellOnceWhatIsGivenOn() {
        Payload.MessageReceived said =
                new Payload.MessageReceived("hello", null, List.of(), List.of(), null, null, null, null, null);
        List<String> two = List.of("user", "critic");

        assertThat(SessionReader.said(said)).isEqualTo("hello");
        assertThat(SessionReader.said(said.to("critic", null, new Payload.Conversation(two, null))))
                .isEqualTo("hello");
        assertThat(SessionReader.said(said.to("critic", null, new Payload.Conversation(two, "t"))))
                .isNull();
    }

    @Test
    @DisplayName(
            "F-249: sessions are listed, the one in which something happened last first, and thousands of them page")
    void shouldPageThroughSessions() {
        // given
        for (int i = 0; i < 2_500; i++) {
            chat("m" + i, "s" + i, i);
        }
        chat("late", "s7", 5_000);

        // when
        List<String> ids = new ArrayList<>();
        int pages = 0;
        String next = null;
        do {
            Session.Page page = reader().sessions(NS, 200, next);
            page.sessions().forEach(session -> ids.add(session.sessionId()));
            next = page.next();
            pages++;
        } while (next != null);

        // then
        assertThat(pages).isEqualTo(13);
        assertThat(ids).hasSize(2_500).doesNotHaveDuplicates();
        assertThat(ids.subList(0, 3)).containsExactly("s7", "s2499", "s2498");
        assertThat(reader().sessions("acme", 10, null).sessions()).isEmpty();
    }

    @Test
    @DisplayName("the namespaces in which there are tasks or sessions are found without reading all of either")
    void shouldKnowTheNamespaces() {
        // given
        for (int i = 0; i < 50; i++) {
            chat("m" + i, "s" + i, i);
        }
        write(Event.root("a1", KnownEventType.TASK_COMPLETED, at(60))
                .namespace("acme")
                .taskId("alone")
                .payload(Histories.whole(
                        KnownEventType.TASK_COMPLETED, Map.of("result", Map.of("response", "no session"))))
                .build());
        write(Event.root("b1", new CustomEventType("session.created"), at(61))
                .namespace("brand-new")
                .sessionId("empty")
                .payload(of("title", "no task"))
                .build());

        // then
        assertThat(reader().namespaces(10)).containsExactly("acme", "brand-new", NS);
        assertThat(reader().namespaces(1)).hasSizeBetween(1, 2);
    }

    @Test
    @DisplayName("F-249: a session has a title, a beginning and a last change; one that was made needs no task")
    void shouldKnowASession() {
        // when
        write(event("c1", new CustomEventType("session.created"), "ada", 1, Map.of("title", "Ada's")));
        chat("m1", "ada", 10);
        write(event("c2", new CustomEventType("session.updated"), "ada", 12, Map.of("title", "Engines")));

        // then
        assertThat(reader().session(NS, "ada"))
                .contains(new Session("ada", NS, "Engines", at(1).toEpochMilli(), at(12).toEpochMilli(), List.of(), 1));
        assertThat(reader().session(NS, "eve")).isEmpty();
    }

    @Test
    @DisplayName("F-254: the newest session of a client or of a chat, as messages and events name them")
    void shouldKnowTheNewestSessionOfAnOrigin() {
        // when
        write(event("m1", KnownEventType.MESSAGE_RECEIVED, "one", 1, of("clientId", "web-7")));
        write(event("m2", KnownEventType.MESSAGE_RECEIVED, "two", 3, of("clientId", "web-7")));
        write(event("m3", KnownEventType.MESSAGE_RECEIVED, "one", 2, of("chat_id", "room")));
        write(event("m4", KnownEventType.MESSAGE_RECEIVED, "long", 5, of("clientId", "x".repeat(201))));

        // then
        assertThat(reader().newest(NS, SessionOrigin.CLIENT, "web-7")).contains("two");
        assertThat(reader().newest(NS, SessionOrigin.CHAT, "room")).contains("one");
        assertThat(reader().newest(NS, SessionOrigin.CHAT, "web-7")).isEmpty();
        assertThat(reader().newest("acme", SessionOrigin.CLIENT, "web-7")).isEmpty();
        assertThat(reader().newest(NS, SessionOrigin.CLIENT, "x".repeat(201))).isEmpty();

        // and: it is used from elsewhere by now, so it is the other one's no more
        write(event("m5", KnownEventType.MESSAGE_RECEIVED, "two", 6, of("clientId", "phone")));
        assertThat(reader().newest(NS, SessionOrigin.CLIENT, "web-7")).isEmpty();
        assertThat(reader().newest(NS, SessionOrigin.CLIENT, "phone")).contains("two");
    }

    private static Map<String, Object> of(String field, String name) {
        return Map.of("text", "hello", "metadata", Map.of(field, name));
    }

    @Test
    @DisplayName(
            "F-257: an interruption is told as what the agent had said and what the user did, which are not parted")
    void shouldTellAnInterruption() {
        // given
        write(event("m1", KnownEventType.MESSAGE_RECEIVED, "ada", 0, Map.of("text", "do m1")).toBuilder()
                .taskId("m1")
                .build());
        write(event(
                        "e1",
                        KnownEventType.TASK_CANCELLED,
                        "ada",
                        1,
                        Map.of("response", "So far\n\n(interrupted)", "notice", "[Session interrupted by user]"))
                .toBuilder()
                .taskId("m1")
                .build());

        // when
        Session.Messages all = messages(10, Long.MIN_VALUE, Long.MAX_VALUE, null);
        Session.Messages both = messages(2, Long.MIN_VALUE, Long.MAX_VALUE, null);
        Session.Messages rest = messages(
                2,
                Long.MIN_VALUE,
                Long.MAX_VALUE,
                JournalCursor.parse(String.valueOf(both.next())).orElseThrow());

        // then
        assertThat(texts(all))
                .containsExactly(
                        "user: do m1", "assistant: So far\n\n(interrupted)", "user: [Session interrupted by user]");
        assertThat(all.messages().stream().map(Session.Message::id)).doesNotHaveDuplicates();
        assertThat(texts(both))
                .containsExactly("assistant: So far\n\n(interrupted)", "user: [Session interrupted by user]");
        assertThat(texts(rest)).containsExactly("user: do m1");
        assertThat(texts(messages(1, Long.MIN_VALUE, Long.MAX_VALUE, null)))
                .containsExactly("assistant: So far\n\n(interrupted)");
    }

    @Test
    @DisplayName("F-249: the messages of a session: the newest of those that are wanted, by time and by page")
    void shouldTellMessages() {
        // given
        chat("m1", "ada", 0);
        chat("m2", "ada", 100);
        chat("m3", "ada", 200);
        chat("m4", "bob", 300);

        // when
        Session.Messages all = messages(100, Long.MIN_VALUE, Long.MAX_VALUE, null);
        Session.Messages newest = messages(4, Long.MIN_VALUE, Long.MAX_VALUE, null);
        Session.Messages older = messages(
                4,
                Long.MIN_VALUE,
                Long.MAX_VALUE,
                JournalCursor.parse(String.valueOf(newest.next())).orElseThrow());
        Session.Messages between = messages(100, at(100).toEpochMilli(), at(199).toEpochMilli(), null);

        // then
        assertThat(texts(all))
                .containsExactly(
                        "user: do m1",
                        "assistant: done m1",
                        "user: do m2",
                        "assistant: done m2",
                        "user: do m3",
                        "assistant: done m3");
        assertThat(all.next()).isNull();
        assertThat(texts(newest))
                .containsExactly("user: do m2", "assistant: done m2", "user: do m3", "assistant: done m3");
        assertThat(texts(older)).containsExactly("user: do m1", "assistant: done m1");
        assertThat(older.next()).isNull();
        assertThat(texts(between)).containsExactly("user: do m2", "assistant: done m2");
        assertThat(reader().messages(new SessionReader.MessageQuery(NS, "eve", 1, 0, 1, null)))
                .isEmpty();
    }

    @Test
    @DisplayName("nothing is told of a session that is forgotten, and of a task of it only the rest")
    void shouldForget() {
        // given
        chat("m1", "ada", 0);
        chat("m2", "ada", 100);
        chat("m3", "bob", 100);

        // when
        write(forgotten("f1", "task", "m1", null));

        // then
        assertThat(texts(messages(100, Long.MIN_VALUE, Long.MAX_VALUE, null)))
                .containsExactly("user: do m2", "assistant: done m2");

        // when
        write(forgotten("f2", "session", null, "ada"));
        chat("m5", "bob", 700);

        // then
        assertThat(reader().session(NS, "ada")).isEmpty();
        assertThat(reader().sessions(NS, 10, null).sessions())
                .extracting(Session::sessionId)
                .containsExactly("bob");
    }

    @Test
    @DisplayName("a session is known as long as the journal is kept after its last event")
    void shouldKeepASessionUntilTheRetentionIsOver() {
        // given
        chat("m1", "ada", 0);
        driver.advanceWallClockTime(RETENTION.minusDays(1));
        chat("m2", "bob", 0);

        // when
        driver.advanceWallClockTime(Duration.ofDays(2));
        chat("m3", "eve", 0);
        chat("m4", "eve", 0);

        // then
        assertThat(reader().session(NS, "ada")).isEmpty();
        assertThat(reader().session(NS, "bob")).isPresent();
    }

    private void chat(String id, String session, int seconds) {
        write(event(id, KnownEventType.MESSAGE_RECEIVED, session, seconds, Map.of("text", "do " + id)).toBuilder()
                .taskId(id)
                .build());
        write(event(
                        "done-" + id,
                        KnownEventType.TASK_COMPLETED,
                        session,
                        seconds + 1,
                        Histories.whole(
                                KnownEventType.TASK_COMPLETED, Map.of("result", Map.of("response", "done " + id))))
                .toBuilder()
                .taskId(id)
                .build());
    }

    private static Event forgotten(String id, String scope, @Nullable String taskId, @Nullable String sessionId) {
        Map<String, @Nullable Object> payload = new HashMap<>(Map.of(
                "scope", scope,
                "forgetId", id,
                "requestedAt", at(600).toEpochMilli(),
                "partition", 0,
                "partitions", 1,
                "tasks", 1,
                "cancelled", 0,
                "children", 0));
        payload.put("taskId", taskId);
        payload.put("sessionId", sessionId);
        return Event.root(id + "-0", KnownEventType.TASKS_FORGOTTEN, at(601))
                .taskId(id)
                .payload(payload)
                .build();
    }

    private static Event event(
            String id, EventType type, String session, int seconds, Map<String, ? extends @Nullable Object> payload) {
        return Event.root(id, type, at(seconds))
                .source("user")
                .sessionId(session)
                .payload(new HashMap<String, @Nullable Object>(payload))
                .build();
    }

    private static Instant at(int seconds) {
        return Histories.START.plusSeconds(seconds);
    }

    private Session.Messages messages(int limit, long from, long to, @Nullable JournalCursor before) {
        return reader().messages(new SessionReader.MessageQuery(NS, "ada", limit, from, to, before))
                .orElseThrow();
    }

    private static List<String> texts(Session.Messages messages) {
        return messages.messages().stream()
                .map(message -> message.role() + ": " + message.content())
                .toList();
    }

    private SessionReader reader() {
        return new SessionReader(driver.getKeyValueStore(ProjectionTopology.STORE));
    }

    private void write(Event event) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(TOPICS.journal(), event);
        journal.pipeInput(new TestRecord<>(
                encoded.key().getBytes(StandardCharsets.UTF_8), encoded.value(), encoded.headers(), event.timestamp()));
    }
}
