package dev.millrace.bench;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/** Straight through topics with Kafka clients: a task is done when a reader of committed records sees so. */
final class LaneDriver implements Driver {

    /** What is sent and what is waited for. */
    interface Loop {
        /** The record that starts a task. */
        ProducerRecord<String, byte[]> start(String id);

        /** Where its end is to be seen. */
        String outcomes();

        /** The id of the task that this record says has completed; absent = none. */
        @Nullable
        String completed(ConsumerRecord<byte[], byte[]> entry);

        /** Whether this record says that a task has ended otherwise. */
        boolean failed(ConsumerRecord<byte[], byte[]> entry);
    }

    /**
     * Millrace's: a message on its lane, and the journal.
     *
     * @param text what each task asks
     * @param end what the journal says of a task that has come to where it should
     * @param sessions how many conversations the tasks belong to, by turns; 0 = each to one of its own
     */
    record Tasks(Topics topics, String text, KnownEventType end, int sessions) implements Loop {
        private static final List<String> BAD_ENDS =
                List.of(KnownEventType.TASK_FAILED.wireName(), KnownEventType.TASK_CANCELLED.wireName());

        /** Each a conversation of its own, until it has completed. */
        Tasks(Topics topics, String text) {
            this(topics, text, KnownEventType.TASK_COMPLETED, 0);
        }

        @Override
        public ProducerRecord<String, byte[]> start(String id) {
            Event.Builder message = Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                    .source("bench")
                    .payload(Map.of("text", text));
            if (sessions > 0) {
                message.sessionId("session-" + Integer.parseInt(id.substring(id.lastIndexOf('-') + 1)) % sessions);
            }
            Event event = message.build();
            return EventCodec.toRecord(topics.lane(event.lane()), event);
        }

        @Override
        public String outcomes() {
            return topics.journal();
        }

        @Override
        public @Nullable String completed(ConsumerRecord<byte[], byte[]> entry) {
            return Headers.text(entry, "ce_type").equals(end.wireName()) ? Headers.text(entry, "ce_subject") : null;
        }

        @Override
        public boolean failed(ConsumerRecord<byte[], byte[]> entry) {
            return BAD_ENDS.contains(Headers.text(entry, "ce_type"));
        }
    }

    private static final Duration POLL = Duration.ofMillis(100);
    private final Loop loop;
    private final Tally tally = new Tally();
    private final Map<String, Long> sentAt = new ConcurrentHashMap<>();
    private final KafkaProducer<String, byte[]> producer;
    private final KafkaConsumer<byte[], byte[]> outcomes;
    private final Thread reader = Thread.ofPlatform().name("lane-driver").unstarted(this::read);
    private final String run = UUID.randomUUID().toString().substring(0, 8);
    private final Queue<String> completed = new ConcurrentLinkedQueue<>();
    private final AtomicLong serial = new AtomicLong();
    private volatile int wanted;
    private volatile boolean closed;

    /** Reads the outcomes from their end on. */
    LaneDriver(KafkaClients kafka, Loop loop) {
        this.loop = loop;
        producer = kafka.with(Map.of("linger.ms", 0)).producer();
        outcomes = kafka.follower(loop.outcomes(), "read_committed");
        reader.start();
    }

    @Override
    public String ingress() {
        return "lanes";
    }

    @Override
    public void keep(int inFlight) {
        wanted = inFlight;
        while (sentAt.size() < inFlight) {
            submit();
        }
    }

    private void submit() {
        String id = run + '-' + serial.incrementAndGet();
        sentAt.put(id, System.nanoTime());
        Future<RecordMetadata> ignored = producer.send(loop.start(id), (metadata, failure) -> {
            if (failure != null) {
                tally.failed("the lane did not take a task: " + failure);
            }
        });
    }

    private void read() {
        while (!closed) {
            for (ConsumerRecord<byte[], byte[]> entry : outcomes.poll(POLL)) {
                String done = loop.completed(entry);
                Long sent = done == null ? null : sentAt.remove(done);
                if (sent != null) {
                    completed.add(done);
                    tally.completed(sent);
                    if (sentAt.size() < wanted) {
                        submit();
                    }
                } else if (loop.failed(entry)) {
                    tally.failed(new String(entry.value(), StandardCharsets.UTF_8));
                }
            }
        }
        outcomes.close();
    }

    /** The ids of the tasks that have completed since {@link #startNoting}, in this order. */
    List<String> completed() {
        return List.copyOf(completed);
    }

    @Override
    public void startNoting() {
        completed.clear();
        tally.restart();
    }

    @Override
    public Latencies noted() {
        return tally.latencies();
    }

    /**
     * How many are in {@link #noted}.
     *
     * @throws IllegalStateException if a task did not complete
     */
    int count() {
        return tally.count();
    }

    @Override
    public void close() {
        wanted = 0;
        closed = true;
        Uninterrupted.join(reader, Duration.ofSeconds(5));
        producer.close(Duration.ofSeconds(5));
    }
}
