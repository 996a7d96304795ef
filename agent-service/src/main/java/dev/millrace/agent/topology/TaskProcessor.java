package dev.millrace.agent.topology;

import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.Meta;
import dev.millrace.agent.core.TaskEvent;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.Usage;
import dev.millrace.schemas.CustomEventType;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.kafka.DeadLetters;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thin shell: reads a record and the task's row, lets {@link TaskMove} work out what follows, and writes it. Rows,
 * transcript, journal and requests of one record are in one transaction. Runs on a stream thread, one object per partition.
 */
final class TaskProcessor implements Processor<byte[], LaneDates.Dated, byte[], Outgoing> {

    /** Header of a record that has been sent to its own partition, so that it is never sent twice. */
    static final String REROUTED = "rerouted";
    /** Header in the journal: what became of an event that was not processed. Absent on every other one. */
    static final String OUTCOME = "millrace-outcome";

    private static final Logger LOGGER = LoggerFactory.getLogger(TaskProcessor.class);
    private static final Duration SWEEP_INTERVAL = Duration.ofSeconds(30);

    private final TaskTopology.Parts parts;
    private final TaskShellSettings settings;
    private ProcessorContext<byte[], Outgoing> context;
    private KeyValueStore<String, StoredTask> tasks;
    private KeyValueStore<String, TranscriptEntry> transcripts;
    private KeyValueStore<String, OutstandingCall> calls;
    private WindowStore<String, byte[]> seen;
    private @Nullable String fence;

    @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
    TaskProcessor(TaskTopology.Parts parts, TaskShellSettings settings) {
        this.parts = parts;
        this.settings = settings;
    }

    @Override
    public void init(ProcessorContext<byte[], Outgoing> processorContext) {
        context = processorContext;
        tasks = context.getStateStore(Stores.TASKS);
        transcripts = context.getStateStore(Stores.TRANSCRIPTS);
        calls = context.getStateStore(Stores.CALLS);
        seen = context.getStateStore(Stores.SEEN);
        EndedTaskSweep sweep = new EndedTaskSweep(tasks, transcripts, settings.endedRetention());
        context.schedule(SWEEP_INTERVAL, PunctuationType.WALL_CLOCK_TIME, sweep::run);
        fenceOffOutstandingCalls();
    }

    /**
     * After a start or a rebalance, what was asked for and not answered is asked for again. But an answer may be on the
     * lane already, and a completed call is never repeated: so first everything that is there now must have been read.
     */
    private void fenceOffOutstandingCalls() {
        try (KeyValueIterator<String, OutstandingCall> outstanding = calls.all()) {
            if (outstanding.hasNext()) {
                fence = Ids.random();
                parts.modelCalls().fence(partition(), fence);
            }
        }
    }

    private static boolean isFence(Record<byte[], LaneDates.Dated> incoming) {
        return incoming.value().value() == null && incoming.headers().lastHeader(ModelCalls.FENCE) != null;
    }

    private void passFence(Record<byte[], LaneDates.Dated> incoming) {
        String value =
                new String(incoming.headers().lastHeader(ModelCalls.FENCE).value(), StandardCharsets.UTF_8);
        if (value.equals(fence)) {
            fence = null;
            resumeOutstandingCalls();
        }
    }

    private void resumeOutstandingCalls() {
        try (KeyValueIterator<String, OutstandingCall> outstanding = calls.all()) {
            outstanding.forEachRemaining(entry -> parts.modelCalls().request(partition(), entry.value));
        }
    }

    @Override
    public void process(Record<byte[], LaneDates.Dated> incoming) {
        if (isFence(incoming)) {
            passFence(incoming);
            return;
        }
        Instant now = Instant.ofEpochMilli(context.currentSystemTimeMs());
        try {
            Event event = EventCodec.fromRecord(
                    incoming.headers(),
                    incoming.value().value(),
                    Instant.ofEpochMilli(incoming.value().timestampMs()));
            if (isHome(event)) {
                take(event, now);
            } else {
                sendHome(event, incoming);
            }
        } catch (MalformedEventException e) {
            deadLetter(incoming, e.code(), e.getMessage());
        } catch (RejectedRecordException e) {
            deadLetter(incoming, e.reason(), e.getMessage());
        }
    }

    private void take(Event event, Instant now) throws RejectedRecordException {
        List<String> problems = EventSchemas.problems(event);
        if (!problems.isEmpty()) {
            throw new RejectedRecordException("schema_violation", String.join("; ", problems));
        }
        boolean external = isExternal(event);
        if (external && wasSeen(event, now)) {
            discarded(event, DiscardReason.DUPLICATE);
            return;
        }
        if (event.expiry() != null && event.expiry().isBefore(now)) {
            journal(event, now, "expired");
        } else {
            process(event, external, now);
        }
        if (external) {
            remember(event, now);
        }
    }

    private void process(Event event, boolean external, Instant now) throws RejectedRecordException {
        TaskMove move = decideOrReject(event, now);
        if (move == null) {
            journal(event, now, null);
            parts.metrics().accepted(event.type());
        } else if (move.discarded() == null) {
            write(move, now);
            parts.metrics().accepted(event.type());
        } else if (move.discarded() == DiscardReason.UNKNOWN_TASK && external) {
            throw new RejectedRecordException(
                    "unknown_task",
                    "expected the id of a task in ce_subject, and the task's session in the header sessionid if it has"
                            + " one, found no task " + event.taskId() + " here");
        } else if (move.discarded() != DiscardReason.DUPLICATE && carriesInput(event)) {
            // somebody's words: they are not dropped without a trace
            throw new RejectedRecordException(
                    move.discarded().name().toLowerCase(Locale.ROOT),
                    "expected a task that takes input, found that " + event.taskId() + " does not: "
                            + move.discarded());
        } else {
            discarded(event, move.discarded());
        }
    }

    /** A defect of ours costs this record its turn and nobody else anything; nothing has been written yet. */
    private @Nullable TaskMove decideOrReject(Event event, Instant now) throws RejectedRecordException {
        try {
            return decide(event, now);
        } catch (KafkaException e) {
            throw e;
        } catch (RuntimeException e) {
            LOGGER.atError()
                    .addKeyValue("eventId", event.id())
                    .addKeyValue("eventType", event.type().wireName())
                    .setCause(e)
                    .log("A defect kept an event from being taken");
            throw new RejectedRecordException("internal_error", String.valueOf(e));
        }
    }

    /** Works out what follows; {@code null} = the event is for no task and is only recorded. Writes nothing. */
    private @Nullable TaskMove decide(Event event, Instant now) throws RejectedRecordException {
        String taskId = EventMapping.taskIdOf(event);
        StoredTask row = taskId == null ? null : tasks.get(Event.qualified(event.namespace(), taskId));
        StoredTask before = row != null || taskId == null ? row : StoredTask.absent(event, taskId);
        EventMapping.Mapped mapped = parts.mapping()
                .fromLane(
                        event,
                        taskId == null ? event.id() : taskId,
                        TaskMove.taskType(before == null ? TaskState.ABSENT : before.state()),
                        now.toEpochMilli());
        return switch (mapped) {
            case EventMapping.Refused refused -> throw new RejectedRecordException(refused.reason(), refused.detail());
            case EventMapping.RecordOnly ignored -> null;
            case EventMapping.ForTask forTask -> {
                if (before == null) {
                    throw new RejectedRecordException(
                            "no_task", event.type().wireName() + ": expected a task id in ce_subject, found none");
                }
                if (row == null && !event.id().equals(taskId) && forTask.event() instanceof TaskEvent.InputReceived) {
                    throw new RejectedRecordException(
                            "unknown_task",
                            "expected no ce_subject (which starts a task) or that of an existing task, found no task "
                                    + taskId);
                }
                StoredTask existing = before;
                TaskMove move = new TaskMove(
                        parts.machine(),
                        parts.mapping(),
                        settings.reflection(),
                        existing,
                        seq -> transcripts.get(Stores.transcriptKey(existing.key(), seq)));
                Event adopted = existing.adopt(event);
                move.apply(adopted, forTask.event());
                if (move.task().state().wantsAdmission()) {
                    Meta meta = new Meta(
                            Ids.hash(adopted.id() + "\nadmitted").substring(0, 32),
                            existing.taskId(),
                            now,
                            now.toEpochMilli());
                    move.advance(adopted, new TaskEvent.Admitted(meta, Usage.NONE));
                }
                yield move;
            }
        };
    }

    private void write(TaskMove move, Instant now) {
        StoredTask task = move.task();
        tasks.put(task.key(), task);
        move.appended().forEach((seq, entry) -> transcripts.put(Stores.transcriptKey(task.key(), seq), entry));
        for (String callId : move.settled()) {
            OutstandingCall call = calls.delete(Event.qualified(task.namespace(), callId));
            if (call != null) {
                parts.modelCalls().settle(call);
            }
        }
        move.journal().forEach(event -> journal(event, now, null));
        for (TaskMove.Request request : move.requests()) {
            send(settings.topics().requests(request.toolset()), request.key(), request.event(), now, Map.of());
        }
        for (OutstandingCall call : move.called().values()) {
            calls.put(call.key(), call);
            // the reply of a call that the committed state does not know is stale, so this need not wait for the commit
            parts.modelCalls().request(partition(), call);
        }
    }

    private void journal(Event event, Instant now, @Nullable String outcome) {
        send(
                settings.topics().journal(),
                event.sessionKey(),
                event,
                now,
                outcome == null ? Map.of() : Map.of(OUTCOME, outcome));
    }

    private void send(String topic, String key, Event event, Instant now, Map<String, String> extraHeaders) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(topic, event);
        Headers headers = encoded.headers();
        extraHeaders.forEach((name, value) -> headers.add(name, value.getBytes(StandardCharsets.UTF_8)));
        // dated now and not as the event says: a date in the past would have the record deleted at once
        context.forward(new Record<>(
                key.getBytes(StandardCharsets.UTF_8),
                new Outgoing(topic, encoded.value()),
                now.toEpochMilli(),
                headers));
    }

    private boolean isHome(Event event) {
        byte[] key = event.sessionKey().getBytes(StandardCharsets.UTF_8);
        return Utils.toPositive(Utils.murmur2(key)) % settings.partitions() == partition();
    }

    /** Whoever produced this used another partitioner or another key; its order is kept from here on. */
    private void sendHome(Event event, Record<byte[], LaneDates.Dated> incoming) throws RejectedRecordException {
        if (incoming.headers().lastHeader(REROUTED) != null) {
            throw new RejectedRecordException(
                    "wrong_partition",
                    "expected on the partition of the key " + event.sessionKey() + ", found on " + partition()
                            + " after it had been sent there once");
        }
        incoming.headers().add(REROUTED, new byte[] {'1'});
        context.forward(new Record<>(
                event.sessionKey().getBytes(StandardCharsets.UTF_8),
                new Outgoing(origin().topic(), incoming.value().value()),
                incoming.value().timestampMs(),
                incoming.headers()));
        parts.metrics().rerouted();
    }

    private void deadLetter(Record<byte[], LaneDates.Dated> incoming, String reason, @Nullable String detail) {
        RecordMetadata from = origin();
        Headers headers = DeadLetters.headers(
                incoming.headers(),
                new DeadLetters.Origin(
                        from.topic(),
                        from.partition(),
                        from.offset(),
                        incoming.value().timestampMs()),
                reason,
                detail);
        context.forward(new Record<>(
                incoming.key(),
                new Outgoing(settings.topics().deadLetters(), incoming.value().value()),
                context.currentSystemTimeMs(),
                headers));
        parts.metrics().deadLettered(reason);
        LOGGER.atWarn()
                .addKeyValue("topic", from.topic())
                .addKeyValue("partition", from.partition())
                .addKeyValue("offset", from.offset())
                .addKeyValue("errorCode", reason)
                .log("A record could not be taken and went to the dead letters");
    }

    private void discarded(Event event, DiscardReason reason) {
        parts.metrics().discarded(event.type(), reason);
        LOGGER.atDebug()
                .addKeyValue("eventId", event.id())
                .addKeyValue("eventType", event.type().wireName())
                .addKeyValue("reason", reason)
                .log("An event changed nothing");
    }

    private static boolean carriesInput(Event event) {
        return event.type().segment() == Segment.EXTERNAL || event.text("newInput") != null;
    }

    /** Replies are told apart by their call ids; what comes from outside only by its own id. */
    private static boolean isExternal(Event event) {
        return switch (event.type()) {
            case KnownEventType type ->
                type.segment() == Segment.SYSTEM
                        || type.segment() == Segment.EXTERNAL
                        || type.segment() == Segment.TASK;
            case CustomEventType type -> true;
        };
    }

    private boolean wasSeen(Event event, Instant now) {
        String key = Stores.seenKey(event.namespace(), event.id());
        try (WindowStoreIterator<byte[]> found = seen.fetch(key, now.minus(settings.seenRetention()), now)) {
            return found.hasNext();
        }
    }

    private void remember(Event event, Instant now) {
        seen.put(Stores.seenKey(event.namespace(), event.id()), new byte[0], now.toEpochMilli());
    }

    private int partition() {
        return context.taskId().partition();
    }

    private RecordMetadata origin() {
        return context.recordMetadata()
                .orElseThrow(() -> new IllegalStateException("Kafka Streams gave a record without its origin"));
    }
}
