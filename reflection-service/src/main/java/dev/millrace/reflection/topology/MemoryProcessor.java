package dev.millrace.reflection.topology;

import dev.millrace.engine.CommitTiming;
import dev.millrace.engine.ModelCalls;
import dev.millrace.engine.OpenStores;
import dev.millrace.engine.Outgoing;
import dev.millrace.engine.OutstandingCalls;
import dev.millrace.engine.Rehoming;
import dev.millrace.engine.RejectedRecordException;
import dev.millrace.engine.Sender;
import dev.millrace.engine.UnitOfWork;
import dev.millrace.kafka.Rush;
import dev.millrace.reflection.core.MemoryException;
import dev.millrace.reflection.core.MemoryTools;
import dev.millrace.requests.Reply;
import dev.millrace.requests.ReplyEvents;
import dev.millrace.requests.Request;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * The thin shell: reads a request or the reply of a model, lets {@code core} work out what follows, and writes
 * documents, reflections and replies. All of it is
 * in one transaction. Runs on a stream thread, one object per partition.
 */
final class MemoryProcessor implements Processor<byte[], byte[], byte[], Outgoing> {

    private static final Duration TICK = Duration.ofMillis(200);
    private static final long WINDOW_MS = 20;

    private final MemorySettings settings;
    private final ModelCalls<ReflectionCall> modelCalls;
    private final OpenStores opened;
    private final MeterRegistry meters;
    private final Rush arrivals = new Rush(System::currentTimeMillis, WINDOW_MS, 1);
    private ProcessorContext<byte[], Outgoing> context;
    private KeyValueStore<Bytes, byte[]> store;
    private UnitOfWork unit;
    private Sender sender;
    private CommitTiming commits;
    private NamespaceDocuments.Rows documents;
    private OutstandingCalls<ReflectionCall> calls;
    private Reflections reflections;
    private MemoryForgetting forgetting;

    @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
    MemoryProcessor(
            MemorySettings settings, ModelCalls<ReflectionCall> modelCalls, OpenStores opened, MeterRegistry meters) {
        this.settings = settings;
        this.modelCalls = modelCalls;
        this.opened = opened;
        this.meters = meters;
    }

    /** Also called again on the same object after a transaction was aborted, so everything is made anew. */
    @Override
    public void init(ProcessorContext<byte[], Outgoing> processorContext) {
        context = processorContext;
        store = context.getStateStore(MemoryStores.ROWS);
        opened.open(partition(), store);
        // nothing about rows is kept in memory
        unit = new UnitOfWork(context, settings.topics(), store, () -> {});
        sender = new Sender(context, settings.topics(), unit);
        commits = CommitTiming.of(context, store, arrivals::count);
        KeyValueStore<Bytes, byte[]> rows = unit.rows();
        documents = new NamespaceDocuments.Rows(MemoryStores.DOCUMENTS.in(rows), MemoryStores.EXTENTS.in(rows));
        calls = new OutstandingCalls<>(
                MemoryStores.CALLS.in(rows),
                ReflectionCall::key,
                modelCalls,
                partition(),
                ReflectionCall::takenOver,
                unit::whenKept);
        reflections = new Reflections(
                MemoryStores.REFLECTIONS.in(rows),
                calls,
                this::memoryOf,
                new Reflections.Outlet(sender, settings.topics(), meters));
        forgetting = new MemoryForgetting(
                new MemoryForgetting.Sections(MemoryStores.FORGOTTEN.in(rows), MemoryStores.FORGETTING.in(rows)),
                reflections,
                this::memoryOf,
                new MemoryForgetting.Outlet(sender, settings.topics()),
                Instant.ofEpochMilli(context.currentSystemTimeMs()));
        context.schedule(TICK, PunctuationType.WALL_CLOCK_TIME, nowMs -> forget());
        calls.fenceOff();
    }

    @Override
    public void close() {
        opened.close(partition(), store);
        calls.close();
        commits.close();
    }

    @Override
    public void process(Record<byte[], byte[]> incoming) {
        if (OutstandingCalls.isFence(incoming.headers(), incoming.value())) {
            unit.attempt(() -> calls.passFence(incoming.headers()));
            return;
        }
        boolean unused = arrivals.another();
        commits.taken(context.currentSystemTimeMs());
        unit.attempt(() -> receive(incoming)).ifPresent(why -> {
            boolean answered = why.defect()
                    && unit.attempt(() -> {
                                fail(event(incoming), why);
                                putAside(incoming, why);
                            })
                            .isEmpty();
            if (!answered) {
                unit.attempt(() -> putAside(incoming, why));
            }
        });
        forget();
        if (isOfReflections()) {
            commits.sent(); // tasks do not wait for these, and a model call is being made already
        } else {
            commits.awaited(); // a tool call or an editor goes on with what came of it
        }
    }

    private void receive(Record<byte[], byte[]> incoming) throws MalformedEventException, RejectedRecordException {
        sender.requireBearable(incoming.value());
        Event event = event(incoming);
        List<String> problems = EventSchemas.problems(event);
        if (!problems.isEmpty()) {
            throw new RejectedRecordException("schema_violation", String.join("; ", problems));
        }
        if (isHome(event)) {
            take(event, receivedMs(incoming));
        } else {
            sendHome(incoming, event);
        }
    }

    private static Event event(Record<byte[], byte[]> incoming) throws MalformedEventException {
        return EventCodec.fromRecord(incoming.headers(), incoming.value(), Instant.ofEpochMilli(incoming.timestamp()));
    }

    private void putAside(Record<byte[], byte[]> incoming, UnitOfWork.Undone why) {
        sender.deadLetter(incoming, incoming.value(), incoming.timestamp(), why.reason(), why.detail());
    }

    /** Whoever waits for what cannot be done hears so at once: a task for its call, a reflection for its reply. */
    private void fail(Event event, UnitOfWork.Undone why) throws MalformedEventException {
        Instant now = Instant.ofEpochMilli(context.currentSystemTimeMs());
        String error = "it could not be done: " + why.detail();
        if (event.type() == KnownEventType.TOOL_CALL_REQUESTED) {
            send(ReplyEvents.toEvent(Request.of(event, 1), new Reply.Failed(why.reason(), error, 0), now), now);
        } else if (event.payload() instanceof Payload.ReasonDone reply) {
            reflections.failed(
                    event,
                    new Payload.ModelCallFailed(
                            reply.callId(),
                            why.reason(),
                            error,
                            null,
                            reply.model(),
                            reply.usage(),
                            reply.failedAttempts(),
                            reply.agent()),
                    now);
        }
    }

    private void forget() {
        Instant now = Instant.ofEpochMilli(context.currentSystemTimeMs());
        unit.attempt(() -> {
            if (forgetting.run(now)) {
                commits.sent();
            }
        });
    }

    private void take(Event event, long receivedMs) throws MalformedEventException, RejectedRecordException {
        Instant now = Instant.ofEpochMilli(context.currentSystemTimeMs());
        boolean ofReflections = isOfReflections();
        if (ofReflections && event.type() == KnownEventType.TASKS_FORGOTTEN) {
            forgetting.take(event, now);
        } else if (ofReflections && event.type() == KnownEventType.REFLECTION_REQUESTED) {
            if (!forgetting.covers(event, receivedMs)) {
                reflections.begin(event, now);
            }
        } else if (ofReflections && event.payload() instanceof Payload.ReasonDone reply) {
            reflections.replied(event, reply, now);
        } else if (ofReflections && event.payload() instanceof Payload.ModelCallFailed failed) {
            reflections.failed(event, failed, now);
        } else if (!ofReflections && event.type() == KnownEventType.MEMORY_EDIT_REQUESTED) {
            if (!forgetting.covers(event, receivedMs)) {
                Edits.take(event, memoryOf(event.namespace()), now);
            }
        } else {
            answer(Request.of(event, 1), receivedMs, now);
        }
    }

    /** Runs a call of a memory tool and replies on a lane. */
    private void answer(Request call, long receivedMs, Instant now) {
        long started = System.nanoTime();
        Event event = call.event();
        NamespaceDocuments memory = memoryOf(event.namespace());
        Reply reply;
        if (forgetting.covers(event, receivedMs)) {
            reply = new Reply.Failed(
                    "forgotten", "Memory has been forgotten since this call was made", elapsedMs(started));
            send(ReplyEvents.toEvent(call, reply, now), now);
            return;
        }
        try {
            MemoryTools.Outcome outcome = MemoryTools.call(call.toolName(), call.params(), memory);
            MemoryTools.Change change = outcome.change();
            if (change != null) {
                String author = event.taskId() == null ? event.source() : "task " + event.taskId();
                memory.write(
                        change.path(), change.content(), new NamespaceDocuments.Author(author, call.callId(), now));
            }
            reply = new Reply.Completed(Json.MAPPER.convertValue(outcome.result(), Object.class), elapsedMs(started));
        } catch (MemoryException e) {
            reply = new Reply.Failed(e.code(), String.valueOf(e.getMessage()), elapsedMs(started));
        }
        send(ReplyEvents.toEvent(call, reply, now), now);
    }

    private void send(Event answer, Instant now) {
        sender.send(settings.topics().lane(answer.lane()), answer.sessionKey(), answer, now, Map.of());
    }

    private NamespaceDocuments memoryOf(String namespace) {
        return new NamespaceDocuments(
                documents, new NamespaceDocuments.Publication(sender, settings), namespace, forgetting);
    }

    /** Whether the record that is being taken is of reflections, and none of tools or editors. */
    private boolean isOfReflections() {
        return sender.origin().topic().equals(settings.topics().reflectionRequests());
    }

    private boolean isHome(Event event) {
        byte[] key = event.namespace().getBytes(StandardCharsets.UTF_8);
        return Rehoming.home(key, settings.partitions()) == partition();
    }

    private void sendHome(Record<byte[], byte[]> incoming, Event event) throws RejectedRecordException {
        if (incoming.headers().lastHeader(Sender.REROUTED) != null) {
            throw new RejectedRecordException(
                    "wrong_partition",
                    "expected on the partition of the key " + event.namespace() + ", found on " + partition()
                            + " after it had been sent there once");
        }
        sender.reroute(incoming, incoming.value(), event.namespace(), receivedMs(incoming));
    }

    private long receivedMs(Record<byte[], byte[]> incoming) {
        return Sender.dateOf(incoming.headers(), incoming.timestamp(), context.currentSystemTimeMs(), Sender.REROUTED);
    }

    private int partition() {
        return context.taskId().partition();
    }

    private static long elapsedMs(long started) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
    }
}
