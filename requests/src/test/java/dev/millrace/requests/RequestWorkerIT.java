package dev.millrace.requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@RequiresBroker
class RequestWorkerIT {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final RequestHandler ECHO = request -> new Reply.Completed(request.params(), 0);

    private final TestBroker broker;
    private final Map<RequestWorker, MeterRegistry> workers = new LinkedHashMap<>();
    private final List<TopicReader> readers = new ArrayList<>();
    private Topics topics;

    RequestWorkerIT(TestBroker broker) {
        this.broker = broker;
        this.topics = broker.createTopics();
    }

    @BeforeEach
    void freshTopics() {
        topics = broker.createTopics();
    }

    @AfterEach
    void closeAll() {
        workers.keySet().forEach(RequestWorker::close);
        readers.forEach(TopicReader::close);
    }

    @Test
    @DisplayName("F-089, F-054: the reply is on the tool lane, under the session's key, with the chain in its headers")
    void shouldAnswerOnTheLane() {
        // given
        start(4, ECHO);
        Event request = Requests.request("call-1", "echo", Map.of("a", "b"))
                .sessionId("session-1")
                .traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
                .build();
        // when
        send(request);
        ConsumerRecord<String, byte[]> reply = replies().untilCount(1, SOON).getFirst();
        // then
        assertThat(reply.topic()).isEqualTo(topics.lane(Segment.TOOL));
        assertThat(reply.key()).isEqualTo("session-1");
        assertThat(headers(reply))
                .containsEntry("ce_specversion", "1.0")
                .containsEntry("ce_type", "TOOL_CALL_COMPLETED")
                .containsEntry("ce_source", "tools.executor")
                .containsEntry("ce_subject", "task-call-1")
                .containsEntry("ce_sessionid", "session-1")
                .containsEntry("ce_causationid", "parent-call-1")
                .containsEntry("ce_correlationid", "root")
                .containsEntry("content-type", "application/json")
                .containsEntry("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
                .containsEntry(
                        "ce_id",
                        ReplyEvents.toEvent(
                                        new Request(request, "call-1", "echo", JsonObject.empty(), null, 1),
                                        new Reply.Completed(null, 0),
                                        request.timestamp())
                                .id());
        assertThat(new String(reply.value(), StandardCharsets.UTF_8))
                .isEqualTo("{\"callId\":\"call-1\",\"toolName\":\"echo\",\"result\":{\"a\":\"b\"},\"durationMs\":0}");
    }

    @Test
    void shouldTakeWhatWasAskedBeforeTheFirstWorkerCame() {
        // given
        send(Requests.request("early", "echo", Map.of()).build());
        // when
        start(4, ECHO);
        List<Event> replies = replies().events(events -> !events.isEmpty(), SOON);
        // then
        assertThat(replies).extracting(event -> event.text("callId")).containsExactly("early");
    }

    @Test
    void shouldAnswerEachOfManyOnce() {
        // given
        int count = 2_000;
        RequestWorker first = start(16, ECHO);
        RequestWorker second = start(16, ECHO);
        // when
        IntStream.range(0, count)
                .forEach(i ->
                        send(Requests.request("call-" + i, "echo", Map.of()).build()));
        List<Event> replies = replies().events(events -> events.size() >= count, Duration.ofSeconds(60));
        // then
        assertThat(replies).extracting(Event::id).doesNotHaveDuplicates().hasSize(count);
        assertThat(begun(first) + begun(second)).isEqualTo(count);
        assertThat(begun(first)).isPositive();
        assertThat(begun(second)).isPositive();
    }

    @Test
    void shouldNotLetASlowJobHoldUpOthers() throws InterruptedException {
        // given
        CountDownLatch slowMayEnd = new CountDownLatch(1);
        start(4, request -> {
            if (request.toolName().equals("slow")) {
                slowMayEnd.await();
            }
            return new Reply.Completed(null, 0);
        });
        send(Requests.request("warm", "echo", Map.of()).build());
        TopicReader replies = replies();
        replies.untilCount(1, SOON);
        // when
        send(Requests.request("slow-1", "slow", Map.of()).build());
        send(Requests.request("slow-2", "slow", Map.of()).build());
        IntStream.range(0, 20)
                .forEach(i ->
                        send(Requests.request("fast-" + i, "echo", Map.of()).build()));
        List<Event> before = replies.events(events -> events.size() >= 21, SOON);
        long consumers = consumers();
        slowMayEnd.countDown();
        List<Event> after = replies.events(events -> events.size() >= 23, SOON);
        // then
        assertThat(before).extracting(event -> event.text("toolName")).doesNotContain("slow");
        assertThat(after).hasSize(23);
        assertThat(consumers).isGreaterThan(1);
    }

    @Test
    void shouldNotLetASlowJobHoldUpOthersWhenTheTopicHasManyPartitions() {
        // given
        CountDownLatch slowMayEnd = new CountDownLatch(1);
        topics = new Topics("many." + topics.prefix());
        createTopics(topics, 6);
        start(4, request -> {
            if (request.toolName().equals("slow")) {
                slowMayEnd.await();
            }
            return new Reply.Completed(null, 0);
        });
        send(Requests.request("warm", "echo", Map.of()).build());
        TopicReader replies = replies();
        replies.untilCount(1, SOON);
        // when
        send(Requests.request("slow-1", "slow", Map.of()).build());
        send(Requests.request("slow-2", "slow", Map.of()).build());
        IntStream.range(0, 40)
                .forEach(i ->
                        send(Requests.request("fast-" + i, "echo", Map.of()).build()));
        List<Event> before = replies.events(events -> events.size() >= 41, SOON);
        slowMayEnd.countDown();
        List<Event> after = replies.events(events -> events.size() >= 43, SOON);
        // then
        assertThat(before).extracting(event -> event.text("toolName")).doesNotContain("slow");
        assertThat(after).extracting(Event::id).doesNotHaveDuplicates().hasSize(43);
    }

    @Test
    void shouldRunNoMoreAtATimeThanAllowed() {
        // given
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch threeRun = new CountDownLatch(3);
        start(3, request -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            threeRun.countDown();
            boolean overlapping = threeRun.await(10, TimeUnit.SECONDS);
            running.decrementAndGet();
            return new Reply.Completed(overlapping, 0);
        });
        // when
        IntStream.range(0, 30)
                .forEach(i ->
                        send(Requests.request("call-" + i, "echo", Map.of()).build()));
        List<Event> replies = replies().events(events -> events.size() >= 30, SOON);
        // then
        assertThat(replies).allMatch(event -> Boolean.TRUE.equals(event.fields().get("result")));
        assertThat(most).hasValue(3);
    }

    @Test
    @DisplayName("F-305: a slow job keeps its lease")
    void shouldKeepASlowJobPastItsLock() throws Exception {
        // given
        BlockingQueue<Integer> deliveries = new LinkedBlockingQueue<>();
        RequestHandler slow = request -> {
            deliveries.add(request.deliveryCount());
            if (new CountDownLatch(1).await(3_500, TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("nobody counts down");
            }
            return new Reply.Completed(null, 3_500);
        };
        start(settings(4).with(Duration.ofSeconds(1), Duration.ZERO), slow);
        start(settings(4).with(Duration.ofSeconds(1), Duration.ZERO), slow);
        // when
        send(Requests.request("slow", "slow", Map.of()).build());
        send(Requests.request("slow-too", "slow", Map.of()).build());
        List<Event> replies = replies().events(events -> events.size() >= 2, SOON);
        // then
        assertThat(replies).hasSize(2);
        assertThat(lockMs()).isEqualTo("1000");
        assertThat(deliveries).containsExactly(1, 1);
    }

    @Test
    @DisplayName("F-291: what a killed worker held is handed over at once")
    void shouldHandOverAtOnceWhatAKilledWorkerHeld() throws IOException, InterruptedException {
        // given
        Process killed = WorkerProcess.start(broker.bootstrapServers(), topics);
        send(Requests.request("call-1", "echo", Map.of()).build());
        WorkerProcess.awaitBegun(killed, "call-1");
        BlockingQueue<Request> taken = new LinkedBlockingQueue<>();
        start(4, request -> {
            taken.add(request);
            return new Reply.Completed(null, 0);
        });
        TopicReader replies = replies();
        send(Requests.request("call-2", "echo", Map.of()).build());
        replies.untilCount(1, SOON);
        // when
        long start = System.nanoTime();
        killed.destroyForcibly().waitFor();
        List<Event> all = replies.events(events -> events.size() >= 2, SOON);
        // then
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
        assertThat(all).extracting(event -> event.text("callId")).containsExactly("call-2", "call-1");
        assertThat(taken).extracting(Request::callId).containsExactly("call-2", "call-1");
        assertThat(taken).extracting(Request::deliveryCount).containsExactly(1, 2);
    }

    @Test
    void shouldGiveBackWhatRunsAtTheEndOfTheGracePeriod() throws InterruptedException {
        // given
        CountDownLatch begun = new CountDownLatch(1);
        RequestWorker stopping = start(settings(4).with(Duration.ofMinutes(1), Duration.ZERO), request -> {
            begun.countDown();
            new CountDownLatch(1).await();
            return new Reply.Completed("never", 0);
        });
        send(Requests.request("call-1", "echo", Map.of()).build());
        begun.await();
        RequestWorker next = start(4, request -> new Reply.Completed(request.deliveryCount(), 0));
        // when
        long stopped = System.nanoTime();
        stopping.close();
        List<Event> replies = replies().events(events -> !events.isEmpty(), SOON);
        // then: at once, although the lock would have lasted a minute
        assertThat(Duration.ofNanos(System.nanoTime() - stopped)).isLessThan(Duration.ofSeconds(20));
        assertThat(replies).extracting(event -> event.fields().get("result")).containsExactly(2);
        assertThat(ended(stopping, "returned")).isEqualTo(1);
        assertThat(meters(next).get("millrace.requests.redeliveries").counter().count())
                .isEqualTo(1);
    }

    @Test
    void shouldFinishWhatRunsWithinTheGracePeriod() throws InterruptedException {
        // given
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        RequestWorker stopping = start(4, request -> {
            begun.countDown();
            mayEnd.await();
            return new Reply.Completed("done", 0);
        });
        send(Requests.request("call-1", "echo", Map.of()).build());
        begun.await();
        // when
        Thread closing = Thread.ofVirtual().start(stopping::close);
        mayEnd.countDown();
        closing.join();
        List<Event> replies = replies().events(events -> !events.isEmpty(), SOON);
        // then
        assertThat(replies).extracting(event -> event.fields().get("result")).containsExactly("done");
        assertThat(ended(stopping, "returned")).isZero();
        assertThat(ended(stopping, "replied")).isEqualTo(1);
    }

    @Test
    void shouldMeasureItsWorkAsItHappens() {
        // given
        CountDownLatch mayEnd = new CountDownLatch(1);
        send(Requests.request("call-1", "echo", Map.of()).build());
        send(Requests.request("call-2", "echo", Map.of()).build());
        send(Requests.request("call-3", "echo", Map.of()).build());
        RequestWorker first = start(settings(1).with(Duration.ofMinutes(1), Duration.ZERO), request -> {
            mayEnd.await();
            return new Reply.Completed(null, 0);
        });
        assertThat(backlog(first)).isNaN();
        // when: one runs, two wait
        await().atMost(Duration.ofSeconds(30)).until(() -> backlog(first) == 3);
        assertThat(begun(first)).isEqualTo(1);
        first.close();
        mayEnd.countDown();
        RequestWorker second = start(1, ECHO);
        List<Event> replies = replies().events(events -> events.size() >= 3, SOON);
        // then
        assertThat(replies).hasSize(3);
        await().atMost(SOON).until(() -> ended(second, "replied") == 3);
        assertThat(ended(first, "returned")).isEqualTo(1);
        assertThat(ended(first, "replied")).isZero();
        assertThat(begun(second)).isEqualTo(3);
        assertThat(meters(first).get("millrace.requests.redeliveries").counter().count())
                .isZero();
        assertThat(meters(second)
                        .get("millrace.requests.redeliveries")
                        .counter()
                        .count())
                .isEqualTo(1);
        Timer waits = meters(second).get("millrace.requests.wait").timer();
        assertThat(waits.totalTime(TimeUnit.MILLISECONDS)).isPositive();
        assertThat(waits.max(TimeUnit.MINUTES)).isLessThan(1);
    }

    @Test
    @DisplayName("F-305: a request that fails each worker is given up, and told")
    void shouldGiveUpAtTheDeliveryLimit() throws InterruptedException {
        // given
        CountDownLatch begun = new CountDownLatch(1);
        RequestWorker first = start(limited(2), request -> {
            begun.countDown();
            new CountDownLatch(1).await();
            return new Reply.Completed("never", 0);
        });
        send(Requests.request("call-1", "echo", Map.of()).build());
        begun.await();
        first.close();
        AtomicInteger ran = new AtomicInteger();
        // when
        start(limited(2), request -> new Reply.Completed(ran.incrementAndGet(), 0));
        Event reply = replies().event(event -> true, SOON);
        ConsumerRecord<String, byte[]> dead = deadLetters().untilCount(1, SOON).getFirst();
        // then
        assertThat(reply.type()).isEqualTo(KnownEventType.TOOL_CALL_FAILED);
        assertThat(reply.text("code")).isEqualTo("delivery_limit");
        assertThat(headers(dead)).containsEntry(DeadLetters.REASON, "delivery_limit");
        assertThat(headers(dead)).containsEntry("ce_type", "TOOL_CALL_REQUESTED");
        assertThat(ran).hasValue(0);
    }

    @Test
    void shouldPutAsideWhatItCannotReadAndGoOn() {
        // given
        start(4, ECHO);
        String topic = topics.requests("tool");
        // when
        broker.produceRaw(topic, "k", Map.of(), new byte[] {(byte) 0xff, 0, 1});
        broker.produceRaw(topic, null, Map.of("ce_id", "x", "ce_type", "TOOL_CALL_REQUESTED"), null);
        broker.produceRaw(topic, "k", Map.of("ce_id", "x", "ce_type", "TOOL_CALL_REQUESTED"), bytes("{\"callId\""));
        broker.produceRaw(topic, "k", Map.of("ce_id", "x", "ce_type", "TOOL_CALL_REQUESTED"), bytes("{}"));
        broker.produceRaw(topic, "k", Map.of("ce_id", "x", "ce_type", "file.changed"), bytes("{}"));
        send(Requests.request("good", "echo", Map.of()).build());
        List<Event> replies = replies().events(events -> !events.isEmpty(), SOON);
        List<ConsumerRecord<String, byte[]>> dead = deadLetters().untilCount(5, SOON);
        // then
        assertThat(replies).extracting(event -> event.text("callId")).containsExactly("good");
        assertThat(dead)
                .extracting(letter -> headers(letter).get(DeadLetters.REASON))
                .containsExactlyInAnyOrder("not_a_cloud_event", "no_value", "bad_json", "bad_field", "unexpected_type");
        assertThat(dead).allMatch(letter -> topic.equals(headers(letter).get(DeadLetters.ORIGIN_TOPIC)));
    }

    @Test
    void shouldAnswerForAHandlerThatDoesNotBehave() {
        // given
        start(4, request -> switch (request.toolName()) {
            case "throws" -> throw new IllegalStateException("a bug");
            case "no-json" -> new Reply.Completed(new Object(), 0);
            case "large" -> new Reply.Completed("x".repeat(Topics.MAX_EVENT_BYTES), 0);
            case "deep" -> new Reply.Completed(nested(EventSchemas.MAX_DEPTH), 0);
            case "number" -> new Reply.Completed(new BigDecimal("1e1000000000"), 0);
            case "code" -> new Reply.Failed("No Code", "x", 0);
            case "error" -> new Reply.Failed("x", "𝄞".repeat(ReplyEvents.MAX_ERROR), 0);
            default -> throw new StackOverflowError("the first time");
        });
        // when
        List.of("throws", "no-json", "large", "deep", "number", "code", "error")
                .forEach(name -> send(Requests.request(name, name, Map.of()).build()));
        List<Event> replies = replies().events(events -> events.size() >= 7, SOON);
        // then
        assertThat(replies)
                .extracting(event -> event.text("toolName") + " " + event.text("code"))
                .containsExactlyInAnyOrder(
                        "throws internal_error",
                        "no-json internal_error",
                        "large result_too_large",
                        "deep internal_error",
                        "number internal_error",
                        "code internal_error",
                        "error x");
        assertThat(replies)
                .allSatisfy(event -> assertThat(EventSchemas.problems(event)).isEmpty());
        assertThat(replies)
                .noneMatch(event -> String.valueOf(event.text("error")).contains("a bug"));
    }

    private static Object nested(int levels) {
        Object nested = 1;
        for (int i = 0; i < levels; i++) {
            nested = List.of(nested);
        }
        return nested;
    }

    @Test
    void shouldTakeCommittedRequestsOnlyAndAtOnce() {
        // given
        Map<String, Long> began = new ConcurrentHashMap<>();
        // one at a time: then each fetch after a request brings nothing but the end of its transaction
        start(1, request -> {
            began.put(request.callId(), System.nanoTime());
            return new Reply.Completed(null, 0);
        });
        TopicReader replies = replies();
        send(Requests.request("warm", "echo", Map.of()).build());
        replies.untilCount(1, SOON);
        List<Long> waits = new ArrayList<>();
        // when
        try (KafkaProducer<String, byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers(), "transactional.id", topics.prefix()),
                new StringSerializer(),
                new ByteArraySerializer())) {
            producer.initTransactions();
            for (int i = 0; i < 20; i++) {
                producer.beginTransaction();
                Future<?> aborted = producer.send(record(
                        Requests.request("aborted-" + i, "echo", Map.of()).build()));
                producer.abortTransaction();
                String callId = "committed-" + i;
                producer.beginTransaction();
                Future<?> sent = producer.send(
                        record(Requests.request(callId, "echo", Map.of()).build()));
                producer.commitTransaction();
                assertThat(sent).isDone();
                assertThat(aborted).isDone();
                long committed = System.nanoTime();
                replies.until(records -> began.containsKey(callId), SOON);
                waits.add((began.getOrDefault(callId, 0L) - committed) / 1_000_000);
            }
        }
        List<Event> all = replies.events(events -> events.size() >= 21, SOON);
        // then
        assertThat(all).noneMatch(event -> String.valueOf(event.text("callId")).startsWith("aborted"));
        assertThat(waits.stream().sorted().toList().get(10)).isLessThan(500L);
    }

    @Test
    void shouldBecomeReadyAndSayWhenItStops() {
        // given
        RequestWorker worker = start(2, ECHO);
        TopicReader replies = replies();
        // when
        send(Requests.request("call-1", "echo", Map.of()).build());
        replies.untilCount(1, SOON);
        boolean ready = worker.isReady();
        worker.close();
        // then
        assertThat(ready).isTrue();
        assertThat(worker.isReady()).isFalse();
    }

    @Test
    void shouldWaitForABrokerThatIsAway() {
        // given
        WorkerSettings nobodyThere = WorkerSettings.of(ClientSettings.at("127.0.0.1:1"), topics, "tool", 2);
        // when
        RequestWorker worker = start(nobodyThere, ECHO);
        boolean ready = worker.isReady();
        long start = System.nanoTime();
        worker.close();
        // then
        assertThat(ready).isFalse();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    }

    @Test
    @DisplayName(
            "a notice that meets an outage is tried again in place until that is over, and does not become a dead letter")
    void shouldWaitOutAnOutage() {
        // given
        AtomicInteger calls = new AtomicInteger();
        RequestWorker worker = startNotices(
                settings(4).with(Duration.ofSeconds(1), Duration.ZERO), event -> switch (calls.incrementAndGet()) {
                    case 1 -> throw new KafkaException("no broker answers");
                    case 2 -> throw new UncheckedIOException(new IOException("no space left"));
                    default -> new NoticeHandler.Outcome.Done();
                });
        // when
        send(Requests.request("call-1", "echo", Map.of()).build());
        await().atMost(SOON).until(() -> ended(worker, "replied") + ended(worker, "dead_lettered") > 0);
        // then: once, although it took longer than the lock lasts
        assertThat(ended(worker, "replied")).isEqualTo(1);
        assertThat(calls).hasValue(3);
        assertThat(begun(worker)).isEqualTo(1);
    }

    @Test
    @DisplayName("a notice that no waiting can help becomes a dead letter at its first delivery")
    void shouldGiveUpAtOnceWhatNoWaitingMends() {
        // given
        Map<String, RuntimeException> failures = Map.of(
                "large", new KafkaException("aborted", new RecordTooLargeException("too large")),
                "batch", new KafkaException("aborted", new RecordBatchTooLargeException("too large")),
                "bytes", new SerializationException("no bytes of it"),
                "bug", new IllegalStateException("a bug"));
        RequestWorker worker = startNotices(settings(4), event -> {
            throw Objects.requireNonNull(failures.get(String.valueOf(event.text("toolName"))));
        });
        // when
        failures.keySet()
                .forEach(name -> send(Requests.request(name, name, Map.of()).build()));
        List<ConsumerRecord<String, byte[]>> dead = deadLetters().untilCount(4, SOON);
        // then
        assertThat(dead)
                .extracting(letter -> headers(letter).get(DeadLetters.REASON))
                .containsOnly("internal_error");
        assertThat(begun(worker)).isEqualTo(4);
    }

    @Test
    @DisplayName("a notice that waits for the end of an outage goes back to its topic when the worker stops")
    void shouldGiveBackWhatWaitsForTheEndOfAnOutage() throws InterruptedException {
        // given
        CountDownLatch tried = new CountDownLatch(2);
        RequestWorker stopping = startNotices(settings(4).with(Duration.ofMinutes(1), Duration.ZERO), event -> {
            tried.countDown();
            throw new KafkaException("no broker answers");
        });
        send(Requests.request("call-1", "echo", Map.of()).build());
        assertThat(tried.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        // when
        stopping.close();
        AtomicInteger calls = new AtomicInteger();
        RequestWorker next = startNotices(settings(4), event -> {
            if (calls.incrementAndGet() == 1) {
                throw new InterruptException("interrupted while it asked a broker");
            }
            return new NoticeHandler.Outcome.Done();
        });
        await().atMost(SOON).until(() -> ended(next, "replied") + ended(next, "dead_lettered") > 0);
        // then
        assertThat(ended(stopping, "returned")).isEqualTo(1);
        assertThat(ended(next, "returned")).isEqualTo(1);
        assertThat(ended(next, "replied")).isEqualTo(1);
        assertThat(calls).hasValue(2);
    }

    private RequestWorker start(int maxConcurrent, RequestHandler handler) {
        return start(settings(maxConcurrent), handler);
    }

    private RequestWorker start(WorkerSettings settings, RequestHandler handler) {
        MeterRegistry meters = new SimpleMeterRegistry();
        RequestWorker worker = RequestWorker.start(settings, handler, meters);
        workers.put(worker, meters);
        return worker;
    }

    private RequestWorker startNotices(WorkerSettings settings, NoticeHandler handler) {
        MeterRegistry meters = new SimpleMeterRegistry();
        RequestWorker worker = RequestWorker.startNotices(settings, handler, meters);
        workers.put(worker, meters);
        return worker;
    }

    private MeterRegistry meters(RequestWorker worker) {
        return Objects.requireNonNull(workers.get(worker));
    }

    private long begun(RequestWorker worker) {
        return meters(worker).get("millrace.requests.wait").timer().count();
    }

    private long ended(RequestWorker worker, String outcome) {
        return meters(worker)
                .get("millrace.requests.run")
                .tag("outcome", outcome)
                .timer()
                .count();
    }

    private double backlog(RequestWorker worker) {
        return meters(worker).get("millrace.requests.backlog").gauge().value();
    }

    /** Each has a thread, and the group is of this test alone. */
    private long consumers() {
        String name = settings(1).group() + "-taker";
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .count();
    }

    private String lockMs() throws Exception {
        ConfigResource group =
                new ConfigResource(ConfigResource.Type.GROUP, settings(1).group());
        return Objects.requireNonNull(broker.admin()
                        .describeConfigs(List.of(group))
                        .all()
                        .get()
                        .get(group))
                .get("share.record.lock.duration.ms")
                .value();
    }

    private WorkerSettings settings(int maxConcurrent) {
        return WorkerSettings.of(ClientSettings.at(broker.bootstrapServers()), topics, "tool", maxConcurrent);
    }

    private WorkerSettings limited(int maxDeliveries) {
        WorkerSettings settings = settings(4);
        return new WorkerSettings(
                settings.kafka(),
                topics,
                "tool",
                settings.group(),
                4,
                maxDeliveries,
                Duration.ofMinutes(1),
                Duration.ZERO);
    }

    private void createTopics(Topics wanted, int requestPartitions) {
        var newTopics = wanted.all().stream()
                .map(topic -> new org.apache.kafka.clients.admin.NewTopic(
                        topic.name(), topic.name().equals(wanted.requests("tool")) ? requestPartitions : 2, (short) 1))
                .toList();
        try {
            broker.admin().createTopics(newTopics).all().get();
        } catch (InterruptedException | java.util.concurrent.ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    private void send(Event request) {
        broker.produce(topics.requests("tool"), request);
    }

    private ProducerRecord<String, byte[]> record(Event request) {
        return dev.millrace.schemas.EventCodec.toRecord(topics.requests("tool"), request);
    }

    private TopicReader replies() {
        return reader(topics.lane(Segment.TOOL));
    }

    private TopicReader deadLetters() {
        return reader(topics.deadLetters());
    }

    private TopicReader reader(String topic) {
        TopicReader reader = broker.read(topic);
        readers.add(reader);
        return reader;
    }

    private static Map<String, String> headers(ConsumerRecord<String, byte[]> consumed) {
        Map<String, String> headers = new LinkedHashMap<>();
        consumed.headers()
                .forEach(header -> headers.put(header.key(), new String(header.value(), StandardCharsets.UTF_8)));
        return headers;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
