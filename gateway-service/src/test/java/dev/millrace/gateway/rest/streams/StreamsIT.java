package dev.millrace.gateway.rest.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.gateway.rest.SseClient;
import dev.millrace.gateway.rest.SseClient.SseEvent;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.StreamType;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class StreamsIT {
    private final GatewayClient gateway = new GatewayClient();

    @AfterEach
    void mendAgent() throws Exception {
        gateway.agentIs("up");
    }

    @Test
    void shouldReplayThePastGoOnLiveAndEndWithTheTask() throws Exception {
        // given
        String id = Ids.random();
        List<Event> written = past(id, 7);

        // when
        try (SseClient stream = gateway.stream("/v1/tasks/" + id + "/stream", null)) {
            List<SseEvent> got = new ArrayList<>();
            for (int i = 0; i < 7; i++) {
                got.add(Objects.requireNonNull(stream.next()));
            }
            written.add(gateway.journal(written.getFirst(), KnownEventType.TASK_NOTIFY, 100, Map.of("message", "x")));
            gateway.journal(gateway.journalRoot(Ids.random(), null), KnownEventType.TASK_NOTIFY, 1, Map.of());
            written.add(gateway.journal(written.getFirst(), KnownEventType.TASK_COMPLETED, 101, Map.of()));
            got.addAll(stream.rest());

            // then
            assertThat(stream.response().statusCode()).isEqualTo(200);
            assertThat(stream.response().headers().firstValue("content-type"))
                    .hasValueSatisfying(type -> assertThat(type).startsWith("text/event-stream"));
            assertThat(stream.response().headers().firstValue("cache-control")).hasValue("no-store");
            assertThat(got).extracting(event -> event.json().get("id")).isEqualTo(idsOf(written));
            assertThat(got).allSatisfy(event -> {
                assertThat(event.name()).isEqualTo(event.json().get("type"));
                assertThat(event.id()).isEqualTo(event.json().get("cursor")).matches("\\d+:\\d+");
            });
        }
    }

    @Test
    void shouldReplayAnEndedTaskAndEnd() throws Exception {
        // given
        String id = Ids.random();
        List<Event> written = past(id, 4);
        written.add(gateway.journal(written.getFirst(), KnownEventType.TASK_FAILED, 100, Map.of()));
        written.add(gateway.journal(written.getFirst(), KnownEventType.REFLECTION_COMPLETE, 101, Map.of()));
        awaitKnown(id, 6);

        // when
        try (SseClient stream = gateway.stream("/v1/tasks/" + id + "/stream", null)) {

            // then
            assertThat(stream.rest())
                    .extracting(event -> event.json().get("id"))
                    .isEqualTo(idsOf(written));
        }
    }

    @Test
    void shouldTellAClientThatHasSeenTheEndNotToComeBack() throws Exception {
        // given
        String id = Ids.random();
        List<Event> written = past(id, 4);
        gateway.journal(written.getFirst(), KnownEventType.TASK_CANCELLED, 100, Map.of());
        awaitKnown(id, 5);
        String last;
        try (SseClient stream = gateway.stream("/v1/tasks/" + id + "/stream", null)) {
            last = Objects.requireNonNull(stream.rest().getLast().id());
        }

        // when
        Answer again = gateway.send(gateway.request("/v1/tasks/" + id + "/stream")
                .header("Last-Event-ID", last)
                .GET());

        // then
        assertThat(again.status()).isEqualTo(204);
    }

    @Test
    @DisplayName(
            "a client that comes back with the end, to an instance of agent-service that lags, is told that it has it")
    void shouldHaveNobodyWaitForAnEndThatItHasHeardWhenAgentServiceHasNot() throws Exception {
        // given
        String id = Ids.random();
        List<Event> written = past(id, 3);
        awaitKnown(id, 3);
        gateway.agentIs("deaf");
        String last;
        try (SseClient stream = gateway.stream("/v1/tasks/" + id + "/stream", null)) {
            gateway.journal(written.getFirst(), KnownEventType.TASK_COMPLETED, 100, Map.of());
            last = Objects.requireNonNull(stream.rest().getLast().id());
        }

        // when
        HttpRequest.Builder again = gateway.request("/v1/tasks/" + id + "/stream")
                .header("Last-Event-ID", last)
                .GET();
        CompletableFuture<Answer> answer = CompletableFuture.supplyAsync(() -> {
            try {
                return gateway.send(again);
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        await().during(Duration.ofMillis(500)).until(() -> !answer.isDone());
        gateway.agentIs("up");

        // then
        assertThat(answer)
                .succeedsWithin(Duration.ofSeconds(10))
                .satisfies(told -> assertThat(told.status()).isEqualTo(204));
    }

    @Test
    void shouldTellAClientOfSomeTypesNotToComeBackForOthers() throws Exception {
        // given a task of which something is told after its end
        String id = Ids.random();
        List<Event> written = past(id, 4);
        gateway.journal(written.getFirst(), KnownEventType.TASK_CANCELLED, 100, Map.of());
        gateway.journal(written.getFirst(), KnownEventType.REFLECTION_COMPLETE, 101, Map.of());
        awaitKnown(id, 6);
        String ends = "/v1/tasks/" + id + "/stream?types=TASK_COMPLETED,TASK_FAILED,TASK_CANCELLED";
        String last;
        try (SseClient stream = gateway.stream(ends, null)) {
            last = Objects.requireNonNull(stream.rest().getLast().id());
        }

        // when
        Answer again =
                gateway.send(gateway.request(ends).header("Last-Event-ID", last).GET());
        Answer whole = gateway.send(gateway.request("/v1/tasks/" + id + "/stream")
                .header("Last-Event-ID", last)
                .GET());
        Answer none = gateway.send(gateway.request("/v1/tasks/" + id + "/stream?types=TASK_COMPLETED")
                .GET());

        // then
        assertThat(again.status()).isEqualTo(204);
        assertThat(whole.status()).isEqualTo(200);
        assertThat(whole.body()).contains("REFLECTION_COMPLETE");
        assertThat(none.status()).isEqualTo(204);
    }

    @Test
    @DisplayName(
            "F-250, F-251: /events tells exactly its session in flat messages: connected, live text, facts, heartbeats")
    void shouldTellASessionInFlatMessages() throws Exception {
        // given
        String session = "flat-" + Ids.random();
        Event root = gateway.journalRoot(Ids.random(), session);

        // when
        String last;
        try (SseClient stream = gateway.stream("/events?sessionId=" + session, null)) {
            Map<String, @Nullable Object> connected =
                    Objects.requireNonNull(stream.next()).json();
            gateway.tokens(root, StreamType.START, 1, 0, Map.of("callId", "c1", "model", "m"));
            gateway.tokens(root, StreamType.TEXT, 1, 1, Map.of("callId", "c1", "delta", "Hel"));
            gateway.tokens(root, StreamType.TEXT, 1, 2, Map.of("callId", "c1", "delta", "lo"));
            List<Map<String, @Nullable Object>> live = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                live.add(told(stream).json());
            }
            gateway.journal(gateway.journalRoot(Ids.random(), "another"), KnownEventType.TASK_NOTIFY, 1, Map.of());
            gateway.journal(
                    root,
                    KnownEventType.TASK_COMPLETED,
                    1,
                    Map.of(
                            "result",
                            Map.of("taskId", root.id(), "input", "hello", "response", "Hello", "iterations", 1)));
            SseEvent fact = told(stream);
            SseEvent end = told(stream);
            SseEvent beat = Objects.requireNonNull(stream.next());
            last = Objects.requireNonNull(end.id());

            // then
            assertThat(connected).containsEntry("type", "server.connected").containsEntry("sessionId", session);
            assertThat(connected.get("timestamp")).isInstanceOf(Number.class);
            assertThat(live)
                    .extracting(message -> message.get("type"))
                    .containsExactly("stream.start", "stream.text", "stream.text");
            assertThat(live.getLast()).containsEntry("delta", "lo");
            assertThat(String.valueOf(live.getLast().get("content"))).isEqualTo("Hello");
            assertThat(fact.json()).containsEntry("type", "TASK_COMPLETED").containsEntry("sessionId", session);
            assertThat(fact.id()).isNull();
            assertThat(fact.name()).isNull();
            assertThat(end.json()).containsEntry("type", "query.completed").containsEntry("response", "Hello");
            assertThat(beat.json()).containsEntry("type", "server.heartbeat").containsEntry("sessionId", session);
        }
        gateway.journal(root, KnownEventType.TASK_NOTIFY, 2, Map.of("message", "x"));
        try (SseClient again = gateway.stream("/events?session=" + session, last)) {
            assertThat(Objects.requireNonNull(again.next()).json()).containsEntry("type", "server.connected");
            assertThat(told(again).json()).containsEntry("type", "TASK_NOTIFY");
        }
        assertThat(gateway.get("/events").status()).isEqualTo(400);
    }

    @Test
    @DisplayName("F-239 existing_emit_unchanged: a stream that does not ask for live text is as if there were none")
    void shouldTellFactsAloneUnlessAskedForMore() throws Exception {
        // given
        String session = "plain-" + Ids.random();
        Event root = gateway.journalRoot(Ids.random(), session);

        // when
        try (SseClient stream = gateway.stream("/v1/sessions/" + session + "/stream?types=TASK_NOTIFY", null)) {
            gateway.tokens(root, StreamType.START, 1, 0, Map.of("callId", "c1", "model", "m"));
            gateway.tokens(root, StreamType.TEXT, 1, 1, Map.of("callId", "c1", "delta", "Hello"));
            Event fact = gateway.journal(root, KnownEventType.TASK_NOTIFY, 1, Map.of("message", "x"));
            gateway.tokens(root, StreamType.COMPLETED, 1, 2, Map.of("callId", "c1"));
            gateway.journal(root, KnownEventType.TASK_NOTIFY, 2, Map.of("message", "y"));
            SseEvent told = Objects.requireNonNull(stream.next());

            // then
            assertThat(told.name()).isEqualTo("TASK_NOTIFY");
            assertThat(told.json())
                    .containsOnlyKeys(
                            "id",
                            "type",
                            "timestamp",
                            "source",
                            "taskId",
                            "sessionId",
                            "namespace",
                            "correlationId",
                            "parentEventId",
                            "effectivePriority",
                            "payload",
                            "cursor")
                    .containsEntry("id", fact.id())
                    .containsEntry("payload", Map.of("message", "x"));
            assertThat(Objects.requireNonNull(stream.next()).json()).containsEntry("payload", Map.of("message", "y"));
        }
    }

    /** The next message but for heartbeats and for what was sent before the stream began. */
    private static SseEvent told(SseClient stream) throws IOException {
        SseEvent next = Objects.requireNonNull(stream.next());
        while (Set.of("server.heartbeat", "MESSAGE_RECEIVED")
                .contains(String.valueOf(next.json().get("type")))) {
            next = Objects.requireNonNull(stream.next());
        }
        return next;
    }

    @Test
    @DisplayName("an id of another partition is refused: with live text it would have waited for ever")
    void shouldRefuseAPlaceInThePartitionOfAnotherTask() throws Exception {
        // given
        String id = Ids.random();
        past(id, 2);
        awaitKnown(id, 2);
        int own = Utils.toPositive(Utils.murmur2(id.getBytes(StandardCharsets.UTF_8))) % TestBroker.DEFAULT_PARTITIONS;
        int other = (own + 1) % TestBroker.DEFAULT_PARTITIONS;

        // when
        Answer answer = gateway.get("/v1/tasks/" + id + "/stream?tokens=stream&after=" + other + "@0~0");

        // then
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text("detail"))
                .contains("after: expected an id of this task's stream (its partition is " + own + ")");
    }

    @Test
    void shouldFollowATaskBeyondItsEndWhenAsked() throws Exception {
        // given
        String id = Ids.random();
        List<Event> written = past(id, 2);
        written.add(gateway.journal(written.getFirst(), KnownEventType.TASK_COMPLETED, 100, Map.of()));
        awaitKnown(id, 3);

        // when
        try (SseClient stream = gateway.stream("/v1/tasks/" + id + "/stream?follow=true", null)) {
            for (int i = 0; i < 3; i++) {
                assertThat(stream.next()).isNotNull();
            }
            Event resumed = gateway.journal(written.getFirst(), KnownEventType.TASK_RESUMED, 101, Map.of());

            // then
            assertThat(Objects.requireNonNull(stream.next()).json()).containsEntry("id", resumed.id());
        }
    }

    @Test
    void shouldStreamATaskThatAgentServiceHasNotHeardOfYet() throws Exception {
        // given
        String id = Ids.random();
        gateway.postJson("/v1/tasks", Map.of("text", "hello", "id", id));

        // when
        try (SseClient stream = gateway.stream("/v1/tasks/" + id + "/stream", null)) {
            Event root = gateway.journalRoot(id, null);
            Event done = gateway.journal(root, KnownEventType.TASK_COMPLETED, 1, Map.of());

            // then
            assertThat(stream.rest())
                    .extracting(event -> event.json().get("id"))
                    .containsExactly(root.id(), done.id());
        }
    }

    @Test
    void shouldSendACommentWhileNothingHappens() throws Exception {
        // given
        String id = Ids.random();
        past(id, 1);

        // when
        try (SseClient stream = gateway.stream("/v1/tasks/" + id + "/stream", null)) {
            assertThat(stream.next()).isNotNull();

            // then
            assertThat(Objects.requireNonNull(stream.nextOrComment()).comment()).isEqualTo(" alive");
        }
    }

    /** Dropped at random and resumed, by header and by parameter, while the task goes on and agent-service lags. */
    @Test
    void shouldGoOnWithoutGapOrDoubleAfterEachOfManyDrops() throws Exception {
        // given
        long seed = 42;
        Random random = new Random(seed);
        String id = Ids.random();
        int count = 150;
        List<Event> written = past(id, 1);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> writing = threads.submit(() -> {
                for (int i = 1; i < count; i++) {
                    written.add(gateway.journal(written.getFirst(), KnownEventType.TASK_NOTIFY, i, Map.of()));
                }
                written.add(gateway.journal(written.getFirst(), KnownEventType.TASK_COMPLETED, count, Map.of()));
            });

            // when
            List<Object> got = new ArrayList<>();
            @Nullable String last = null;
            boolean over = false;
            while (!over) {
                int take = 1 + random.nextInt(6);
                boolean byHeader = last == null || random.nextBoolean();
                String path = "/v1/tasks/" + id + "/stream" + (byHeader ? "" : "?after=" + last);
                try (SseClient stream = gateway.stream(path, byHeader ? last : null)) {
                    SseEvent event = stream.next();
                    for (int i = 0; i < take && event != null; i++) {
                        got.add(Objects.requireNonNull(event.json().get("id")));
                        last = event.id();
                        over = "TASK_COMPLETED".equals(event.name());
                        event = over || i + 1 == take ? event : stream.next();
                    }
                }
            }

            // then
            writing.get();
            assertThat(got).as("seed %d", seed).isEqualTo(idsOf(written));
        }
    }

    @Test
    void shouldTellEverythingOfSomeTypesFromNowOnAndResume() throws Exception {
        // given
        String before = Ids.random();
        gateway.journal(gateway.journalRoot(before, null), KnownEventType.TASK_COMPLETED, 1, Map.of());

        // when
        String path = "/v1/stream?types=TASK_COMPLETED,TASK_FAILED";
        SseEvent first;
        Event one;
        try (SseClient stream = gateway.stream(path, null)) {
            one = gateway.journal(gateway.journalRoot(Ids.random(), null), KnownEventType.TASK_COMPLETED, 1, Map.of());
            first = Objects.requireNonNull(stream.next());
            if (before.equals(first.json().get("taskId"))) {
                // "now" is where this instance has read up to, and that may be a moment ago
                first = Objects.requireNonNull(stream.next());
            }
        }
        List<Event> missed = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            missed.add(
                    gateway.journal(gateway.journalRoot(Ids.random(), null), KnownEventType.TASK_FAILED, 1, Map.of()));
        }
        List<Object> got = new ArrayList<>();
        try (SseClient stream = gateway.stream(path, first.id())) {
            while (got.size() < missed.size()) {
                got.add(Objects.requireNonNull(
                        Objects.requireNonNull(stream.next()).json().get("id")));
            }
        }

        // then
        assertThat(first.json()).containsEntry("id", one.id());
        assertThat(got).containsExactlyInAnyOrderElementsOf(idsOf(missed));
    }

    @Test
    @DisplayName("F-250: a session's stream has the events of exactly that session")
    void shouldTellTheEventsOfOneSessionAndResume() throws Exception {
        // given
        String session = "s " + Ids.random();
        String path = "/v1/sessions/" + session.replace(" ", "%20") + "/stream";
        SseEvent first;
        Event one;
        try (SseClient stream = gateway.stream(path, null)) {
            gateway.journalRoot(Ids.random(), null);
            gateway.journalRoot(Ids.random(), session + "x");
            one = gateway.journalRoot(Ids.random(), session);
            first = Objects.requireNonNull(stream.next());
        }
        List<Event> missed = List.of(
                gateway.journal(one, KnownEventType.TASK_COMPLETED, 1, Map.of()),
                gateway.journalRoot(Ids.random(), session));

        // when
        List<Object> got = new ArrayList<>();
        try (SseClient stream = gateway.stream(path, first.id())) {
            while (got.size() < missed.size()) {
                got.add(Objects.requireNonNull(
                        Objects.requireNonNull(stream.next()).json().get("id")));
            }
        }

        // then
        assertThat(first.json()).containsEntry("id", one.id());
        assertThat(got).isEqualTo(idsOf(missed));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/stream?after=0@999999,1@0,2@0",
                "/v1/stream?tokens=stream&after=0@0~0,1@0~999999,2@0~0",
                "/v1/notifications?after=0@0,1@0,2@999999",
                "/v1/sessions/far/stream?after=%d:999999",
                "/v1/tasks/%s/stream?after=0:999999"
            })
    void shouldRefuseAPlaceThatIsBehindTheEnd(String path) throws Exception {
        // given
        String id = Ids.random();
        past(id, 1);
        int partitions = TestBroker.DEFAULT_PARTITIONS;
        String place = IntStream.range(0, partitions)
                .mapToObj(i -> i + (path.contains("tokens") ? "@0~" : "@") + (i == 0 ? 999_999 : 0))
                .collect(Collectors.joining(","));
        String session =
                String.valueOf(Utils.toPositive(Utils.murmur2("far".getBytes(StandardCharsets.UTF_8))) % partitions);

        // when
        Answer answer = gateway.get(path.replaceFirst("after=\\d.*@.*", "after=" + place)
                .replace("%d", session)
                .replace("%s", id));

        // then
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text("code")).isEqualTo("bad_parameter");
        assertThat(answer.text("detail")).contains("after: expected a place that there is", "999999");
    }

    @Test
    void shouldStopListeningWhenTheClientIsGone() throws Exception {
        // given
        String id = Ids.random();
        past(id, 1);
        SseClient stream = gateway.stream("/v1/tasks/" + id + "/stream", null);
        assertThat(stream.next()).isNotNull();
        await().atMost(GatewayClient.LIMIT).until(() -> listeners() >= 1);

        // when
        stream.close();

        // then
        await().atMost(GatewayClient.LIMIT).until(() -> listeners() == 0);
    }

    @Test
    void shouldCutOffAClientThatReadsNothing() throws Exception {
        // given
        String id = Ids.random();
        List<Event> written = past(id, 1);
        URI uri = gateway.request("/v1/tasks/" + id + "/stream").build().uri();
        try (Socket socket = new Socket()) {
            socket.setReceiveBufferSize(4 * 1024);
            socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort()));
            socket.getOutputStream()
                    .write(("GET " + uri.getPath() + " HTTP/1.1\r\nHost: " + uri.getHost() + "\r\n\r\n")
                            .getBytes(StandardCharsets.UTF_8));
            await().atMost(GatewayClient.LIMIT).until(() -> listeners() == 1);

            // when: more than the sockets and the stream's buffer hold
            String large = "x".repeat(256 * 1024);
            for (int i = 0; i < 60; i++) {
                written.add(gateway.journal(
                        written.getFirst(), KnownEventType.TASK_NOTIFY, i + 1, Map.of("message", large)));
            }

            // then
            await().atMost(GatewayClient.LIMIT).until(() -> listeners() == 0);
            socket.setSoTimeout((int) GatewayClient.LIMIT.toMillis());
            assertThat(untilTheEnd(socket)).isLessThan(60L * large.length());
        }
    }

    /** How much comes until the connection ends, in whichever way. */
    private static long untilTheEnd(Socket socket) throws IOException {
        long bytes = 0;
        byte[] buffer = new byte[64 * 1024];
        try {
            for (int read = socket.getInputStream().read(buffer);
                    read >= 0;
                    read = socket.getInputStream().read(buffer)) {
                bytes += read;
            }
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset");
        }
        return bytes;
    }

    private int listeners() throws Exception {
        return gateway.get("/q/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("millrace_gateway_listeners"))
                .mapToInt(line -> (int) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** A task's first events, known to agent-service. */
    private List<Event> past(String id, int count) {
        List<Event> written = new ArrayList<>(List.of(gateway.journalRoot(id, null)));
        for (int i = 1; i < count; i++) {
            written.add(gateway.journal(written.getFirst(), KnownEventType.TASK_NOTIFY, i, Map.of("message", "m" + i)));
        }
        awaitKnown(id, count);
        return written;
    }

    private void awaitKnown(String id, int count) {
        await().atMost(GatewayClient.LIMIT).until(() -> {
            int known = 0;
            String after = "";
            while (true) {
                Answer page = gateway.get("/v1/tasks/" + id + "/events" + after);
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

    private static List<Object> idsOf(List<Event> events) {
        return events.stream().<Object>map(Event::id).toList();
    }
}
