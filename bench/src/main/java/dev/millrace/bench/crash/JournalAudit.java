package dev.millrace.bench.crash;

import dev.millrace.bench.KafkaClients;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.HostileRecords;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Reads the committed records of the journal and of the dead letters, from the first on, and finds what must not be
 * there: an event id twice, tasks of a conversation out of order or at the same time, a second end, a cause that is no
 * event. Tells the ledger which tasks have ended.
 */
final class JournalAudit implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(20);

    private final Topics topics;
    private final Ledger ledger;
    private final Findings findings;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Thread reader =
            Thread.ofPlatform().daemon().name("journal-audit").unstarted(this::run);
    private final Map<String, String> placeById = new HashMap<>();
    private final Map<String, String> causeOf = new HashMap<>();
    private final Map<String, Conversation> conversations = new HashMap<>();
    private final Map<String, String> reflections = new ConcurrentHashMap<>();
    private final Set<Integer> hostile = ConcurrentHashMap.newKeySet();
    private final AtomicLong records = new AtomicLong();
    private volatile boolean closed;

    /** What has been seen of a conversation. */
    private static final class Conversation {
        int received = -1;
        int begun = -1;

        @Nullable
        String working;
    }

    /** Begins to read. The topics have to be there. */
    JournalAudit(String bootstrapServers, Topics topics, Ledger ledger, Findings findings) {
        this.topics = topics;
        this.ledger = ledger;
        this.findings = findings;
        this.consumer = KafkaClients.at(bootstrapServers)
                .with(Map.of(
                        "isolation.level", "read_committed",
                        "reconnect.backoff.max.ms", 200,
                        "request.timeout.ms", 3_000))
                .reader(topics.journal(), topics.deadLetters());
        reader.start();
    }

    /** How many records of the journal were read. */
    long records() {
        return records.get();
    }

    /** Reflections that were asked for and are not done, by task. */
    List<String> openReflections() {
        return List.copyOf(reflections.keySet());
    }

    /** Those of these hostile records that are not among the dead letters. */
    Set<Integer> missing(Set<Integer> acknowledged) {
        Set<Integer> missing = new TreeSet<>(acknowledged);
        missing.removeAll(hostile);
        return missing;
    }

    /** Stops reading, and finds causes that never came. */
    @Override
    public void close() {
        closed = true;
        try {
            reader.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** After {@link #close}: finds events whose cause is not in the journal. */
    void findMissingCauses() {
        causeOf.forEach((id, cause) -> {
            if (!placeById.containsKey(cause)) {
                findings.add("the cause " + cause + " of event " + id + " in the journal", "nothing");
            }
        });
    }

    private void run() {
        while (!closed) {
            try {
                for (ConsumerRecord<byte[], byte[]> entry : consumer.poll(POLL)) {
                    Header hostile = entry.headers().lastHeader(HostileRecords.NUMBER);
                    if (hostile != null) {
                        takeHostile(entry, hostile);
                    } else if (entry.topic().equals(topics.deadLetters())) {
                        findings.add("no dead letter", describe(entry));
                    } else {
                        records.incrementAndGet();
                        take(entry);
                    }
                }
            } catch (KafkaException e) {
                findings.add("a journal that can be read", e.toString());
                break;
            }
        }
        consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ZERO));
    }

    /** What a {@link HostileSender} has sent must have gone aside. */
    private void takeHostile(ConsumerRecord<byte[], byte[]> entry, Header number) {
        if (entry.topic().equals(topics.deadLetters())) {
            hostile.add(Integer.valueOf(new String(number.value(), StandardCharsets.UTF_8)));
        } else {
            findings.add("nothing that cannot be accepted in the journal", describe(entry));
        }
    }

    private void take(ConsumerRecord<byte[], byte[]> entry) {
        Event event;
        try {
            event = EventCodec.fromRecord(entry.headers(), entry.value(), Instant.ofEpochMilli(entry.timestamp()));
        } catch (MalformedEventException e) {
            findings.add("events in the journal", e + " at " + place(entry));
            return;
        }
        String before = placeById.putIfAbsent(Event.qualified(event.namespace(), event.id()), place(entry));
        if (before != null) {
            findings.add(
                    "event " + event.id() + " (" + event.type().wireName() + ") once in the journal, where it is at "
                            + before,
                    "it again at " + place(entry));
        }
        String cause = event.parentEventId();
        if (cause != null) {
            causeOf.put(Event.qualified(event.namespace(), event.id()), Event.qualified(event.namespace(), cause));
        }
        if (event.type() instanceof KnownEventType type && event.sessionId() != null) {
            follow(type, event, entry.partition());
        }
    }

    private void follow(KnownEventType type, Event event, int partition) {
        Conversation conversation =
                conversations.computeIfAbsent(String.valueOf(event.sessionId()), session -> new Conversation());
        String taskId = event.taskId() == null ? event.id() : event.taskId();
        switch (type) {
            case MESSAGE_RECEIVED -> {
                conversation.received = next(event, "received", conversation.received);
            }
            case TASK_CREATED -> {
                conversation.begun = next(event, "begun", conversation.begun);
                if (conversation.working != null) {
                    findings.add(
                            "one task of session " + event.sessionId() + " at a time",
                            taskId + " begun while " + conversation.working + " worked");
                }
                conversation.working = taskId;
            }
            case TASK_COMPLETED, TASK_FAILED, TASK_CANCELLED -> {
                conversation.working = null;
                if (type != KnownEventType.TASK_COMPLETED) {
                    findings.add("task " + taskId + " completed", type + " " + event.fields());
                }
                if (!ledger.ended(taskId, new Ledger.End(type.wireName(), partition, System.nanoTime()))) {
                    findings.add("one end of task " + taskId, "a second one: " + type);
                }
            }
            case REFLECTION_REQUESTED -> reflections.put(taskId, taskId);
            case REFLECTION_COMPLETE -> reflections.remove(taskId);
            default -> {}
        }
    }

    /** The place of the event's task in its conversation, which has to be the next one. */
    private int next(Event event, String what, int before) {
        String taskId = event.taskId() == null ? event.id() : event.taskId();
        int number = Integer.parseInt(taskId.substring(taskId.lastIndexOf('.') + 1));
        if (number != before + 1) {
            findings.add(
                    "task " + (before + 1) + " of session " + event.sessionId() + " to be " + what + " next",
                    "task " + number);
        }
        return number;
    }

    private static String place(ConsumerRecord<?, ?> entry) {
        return entry.topic() + "-" + entry.partition() + "@" + entry.offset();
    }

    private static String describe(ConsumerRecord<?, ?> entry) {
        StringBuilder text = new StringBuilder(place(entry));
        for (Header header : entry.headers()) {
            if (List.of(DeadLetters.REASON, DeadLetters.DETAIL, EventCodec.CE_TYPE, EventCodec.CE_ID)
                    .contains(header.key())) {
                text.append(' ').append(new String(header.value(), StandardCharsets.UTF_8));
            }
        }
        return text.toString();
    }
}
