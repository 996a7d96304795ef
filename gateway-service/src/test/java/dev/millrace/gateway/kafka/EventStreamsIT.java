package dev.millrace.gateway.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.kafka.FactListener.Heard;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicEnds;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.StreamType;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@RequiresBroker
class EventStreamsIT {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String TASK = "mine";

    private @Nullable TestBroker broker;
    private Topics topics = new Topics("");

    @Test
    @DisplayName(
            "a client that drops 50 times at random and comes back to the other instance each time puts the same text"
                    + " together, byte by byte, also where a call was repeated meanwhile")
    void shouldTellTheSameTextWhateverTheClientMissed(TestBroker shared) throws Exception {
        // given
        begin(shared);
        long seed = 20_261_122L;
        Random random = new Random(seed);
        try (Instance one = new Instance();
                Instance other = new Instance();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Map<String, String>> writing = threads.submit(() -> write(new Random(seed)));

            // when
            Reader reader = new Reader();
            Places from = Places.of(0, 0, 0);
            int connects = 0;
            while (!reader.over) {
                Instance instance = connects++ % 2 == 0 ? one : other;
                int take = connects > 50 ? Integer.MAX_VALUE : 1 + random.nextInt(10);
                try (FactListener listener = instance.streams.listen(from, JournalFilter.task("default", TASK))) {
                    for (int i = 0; i < take && !reader.over; i++) {
                        Heard heard = listener.next(LIMIT);
                        assertThat(heard).as("seed %d", seed).isNotNull();
                        reader.take(Objects.requireNonNull(heard));
                        from = Places.parse(heard.next().toString()).orElseThrow();
                    }
                }
            }

            // then
            Map<String, String> replies = writing.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(connects).as("seed %d", seed).isEqualTo(51);
            assertThat(reader.replies).as("seed %d", seed).isEqualTo(replies);
            assertThat(reader.textAtReply).as("seed %d", seed).isEqualTo(replies);
            assertThat(reader.seen).as("seed %d", seed).doesNotHaveDuplicates();
        }
    }

    @Test
    void shouldTellAReplyOnlyAfterItsLiveTextAndNothingOfTheCallAfterIt(TestBroker shared) throws Exception {
        // given: live text that is later than the reply by its time, without an end, and some that comes too late
        begin(shared);
        try (Instance instance = new Instance();
                FactListener listener =
                        instance.streams.listen(Places.of(0, 0, 0), JournalFilter.task("default", TASK))) {
            Instant late = Instant.now().plusMillis(50);
            piece("c1", StreamType.START, 1, 0, Map.of(), late);
            piece("c1", StreamType.TEXT, 1, 1, Map.of("delta", "a"), late);
            piece("c1", StreamType.TEXT, 1, 2, Map.of("delta", "b"), late);
            fact(KnownEventType.REASON_DONE, Map.of("callId", "c1"));

            // when
            List<String> heard = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                heard.add(name(listener.next(LIMIT)));
            }
            piece("c1", StreamType.TEXT, 1, 3, Map.of("delta", "late"), late);
            fact(KnownEventType.MODEL_CALL_FAILED, Map.of("callId", "c2"));
            heard.add(name(listener.next(LIMIT)));

            // then
            assertThat(heard)
                    .containsExactly("stream.start", "stream.text", "stream.text", "REASON_DONE", "MODEL_CALL_FAILED");
            assertThat(listener.next(Duration.ofMillis(200))).isNull();
        }
    }

    @Test
    void shouldLeaveOutAnAttemptThatIsNoLongerTheNewest(TestBroker shared) throws Exception {
        // given
        begin(shared);
        try (Instance instance = new Instance();
                FactListener listener =
                        instance.streams.listen(Places.of(0, 0, 0), JournalFilter.task("default", TASK))) {
            Instant now = Instant.now();

            // when
            piece("c1", StreamType.START, 1, 0, Map.of(), now);
            piece("c1", StreamType.RESTART, 101, 0, Map.of("reason", "takeover"), now);
            piece("c1", StreamType.TEXT, 1, 1, Map.of("delta", "from beyond the grave"), now);
            piece("c1", StreamType.TEXT, 101, 1, Map.of("text", "of a stranger, who does not know the schema"), now);
            piece("c1", StreamType.TEXT, 101, 1, Map.of("delta", "alive"), now);

            // then
            assertThat(name(listener.next(LIMIT))).isEqualTo("stream.start");
            assertThat(name(listener.next(LIMIT))).isEqualTo("stream.restart");
            assertThat(Objects.requireNonNull(listener.next(LIMIT)).event().text("delta"))
                    .isEqualTo("alive");
        }
    }

    @Test
    void shouldTellWhatComesOfAnEventThatIsSentAfterwards(TestBroker shared) throws Exception {
        // given
        begin(shared);
        try (Instance instance = new Instance()) {
            Event start = Event.root(TASK, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                    .payload(Map.of("text", "hello"))
                    .build();

            // when
            try (FactListener listener = instance.streams.listen(start, LIMIT)) {
                shared.produce(topics.journal(), start.withTaskId(TASK));
                piece("c1", StreamType.START, 1, 0, Map.of(), Instant.now());

                // then
                assertThat(List.of(name(listener.next(LIMIT)), name(listener.next(LIMIT))))
                        .containsExactlyInAnyOrder("MESSAGE_RECEIVED", "stream.start");
            }
        }
    }

    /** Three calls: the first repeated in the middle, the second plain, the third with a character of two halves all over. */
    private Map<String, String> write(Random random) {
        Map<String, String> replies = new LinkedHashMap<>();
        for (String call : List.of("c1", "c2", "c3")) {
            fact(KnownEventType.MODEL_CALL_REQUESTED, Map.of("callId", call));
            int attempt = 1;
            pieces(random, call, attempt, StreamType.START, call.equals("c1") ? 40 : 0);
            if (call.equals("c1")) {
                attempt = 101;
                piece(call, StreamType.RESTART, attempt, 0, Map.of("reason", "takeover"), Instant.now());
                piece(call, StreamType.TEXT, 1, 99, Map.of("delta", "of a dead attempt"), Instant.now());
            }
            String text = pieces(random, call, attempt, null, 100);
            piece(call, StreamType.COMPLETED, attempt, 101, Map.of(), Instant.now());
            replies.put(call, text);
            fact(KnownEventType.REASON_DONE, Map.of("callId", call, "response", text));
        }
        fact(KnownEventType.TASK_COMPLETED, Map.of());
        return replies;
    }

    private String pieces(Random random, String call, int attempt, @Nullable StreamType first, int count) {
        if (first != null) {
            piece(call, first, attempt, 0, Map.of(), Instant.now());
        }
        StringBuilder text = new StringBuilder();
        for (int i = 1; i <= count; i++) {
            String delta = call + "/" + attempt + "/" + i + (random.nextBoolean() ? " ✓😀\n" : " ");
            text.append(delta);
            piece(call, StreamType.TEXT, attempt, i, Map.of("delta", delta), Instant.now());
        }
        return text.toString();
    }

    /** Puts replies together as docs/events.md says. */
    private static final class Reader {
        private final Map<String, Integer> attempts = new HashMap<>();
        private final Map<String, StringBuilder> texts = new HashMap<>();
        private final Map<String, String> textAtReply = new LinkedHashMap<>();
        private final Map<String, String> replies = new LinkedHashMap<>();
        private final List<String> seen = new ArrayList<>();
        private boolean over;

        void take(Heard heard) {
            Event event = heard.event();
            seen.add(event.id());
            String call = String.valueOf(event.text("callId"));
            if (event.type() instanceof StreamType type) {
                int attempt = ((Number) Objects.requireNonNull(event.fields().get("attempt"))).intValue();
                if (attempt < attempts.getOrDefault(call, 0)) {
                    return;
                }
                attempts.put(call, attempt);
                StringBuilder text = texts.computeIfAbsent(call, name -> new StringBuilder());
                if (type == StreamType.START || type == StreamType.RESTART) {
                    text.setLength(0);
                } else if (type == StreamType.TEXT) {
                    text.append(event.text("delta"));
                }
            } else if (event.type() == KnownEventType.REASON_DONE) {
                replies.put(call, String.valueOf(event.text("response")));
                textAtReply.put(call, String.valueOf(texts.get(call)));
            }
            over = event.type() == KnownEventType.TASK_COMPLETED;
        }
    }

    private void begin(TestBroker shared) {
        broker = shared;
        topics = shared.createTopics(1);
    }

    private void fact(EventType type, Map<String, @Nullable Object> payload) {
        Objects.requireNonNull(broker)
                .produce(
                        topics.journal(),
                        Event.root(Ids.random(), type, Instant.now())
                                .taskId(TASK)
                                .payload(payload)
                                .build());
    }

    private void piece(
            String call, StreamType type, int attempt, int seq, Map<String, @Nullable Object> fields, Instant at) {
        Map<String, @Nullable Object> payload = new HashMap<>(fields);
        payload.put("callId", call);
        payload.put("attempt", attempt);
        payload.put("seq", seq);
        Objects.requireNonNull(broker)
                .produce(
                        topics.tokens(),
                        Event.root(Ids.random(), type, at)
                                .taskId(TASK)
                                .payload(payload)
                                .build());
    }

    private static String name(@Nullable Heard heard) {
        return heard == null ? "nothing" : heard.event().type().wireName();
    }

    /** What one gateway has. */
    private final class Instance implements AutoCloseable {
        private final JournalTail.Shared shared;
        private final JournalTail journal;
        private final EventStreams streams;

        Instance() {
            ClientSettings kafka =
                    ClientSettings.at(Objects.requireNonNull(broker).bootstrapServers());
            TailSettings settings = new TailSettings(1, 4 * 1024 * 1024, LIMIT, Duration.ofSeconds(1), 4);
            shared = new JournalTail.Shared(
                    new MailboxBudget(64 * 1024 * 1024),
                    new ForgottenTopic(new Cluster(kafka, topics)),
                    new TopicEnds(kafka, "ends"));
            journal = new JournalTail(new Cluster(kafka, topics), settings, shared);
            streams = new EventStreams(journal, JournalTail.ofTokens(new Cluster(kafka, topics), settings, shared));
        }

        @Override
        public void close() {
            streams.close();
            journal.close();
            shared.forgotten().close();
            shared.ends().close();
        }
    }
}
