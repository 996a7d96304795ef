package dev.millrace.agent.topology;

import dev.millrace.engine.CommitTiming;
import dev.millrace.engine.Outgoing;
import dev.millrace.engine.RejectedRecordException;
import dev.millrace.engine.Sender;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Forgotten;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.TraceContext;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;

/** Sends records, in the transaction of the record that is being taken. For one stream thread. */
final class Outbox {

    /**
     * Header of a record that has been sent to every partition, so that nobody does so again; see
     * {@link Sender#dateOf}.
     */
    static final String BROADCAST = "broadcast";

    /** All variables are on one, so that they have one order. */
    private static final int VARIABLES_PARTITION = 0;
    /** What a client waits for, or is to hear at once. */
    private static final Set<KnownEventType> WAITED_FOR = EnumSet.of(
            KnownEventType.TASK_COMPLETED,
            KnownEventType.TASK_FAILED,
            KnownEventType.TASK_CANCELLED,
            KnownEventType.TASK_SUSPENDED,
            KnownEventType.TASK_NOTIFY);

    private final Sender sender;
    private final Topics topics;
    private final ReplyTokens tokens;
    private final ShellMetrics metrics;
    private final boolean tracing;
    private final CommitTiming commits;
    private @Nullable String takenId;
    private Map<String, String> takenReceived = Map.of();

    Outbox(Sender sender, TaskShellSettings settings, ShellMetrics metrics, boolean tracing, CommitTiming commits) {
        this.sender = sender;
        this.topics = settings.topics();
        this.tokens = settings.replies().tokens();
        this.metrics = metrics;
        this.tracing = tracing;
        this.commits = commits;
    }

    /** From now on this record is being taken, and what it says itself is dated so in the journal. */
    void taking(String eventId, long receivedMs) {
        takenId = eventId;
        takenReceived = Map.of(HeaderNames.RECEIVED, Long.toString(receivedMs));
    }

    private Map<String, String> received(Event event) {
        return event.id().equals(takenId) && SeenEvents.isExternal(event) ? takenReceived : Map.of();
    }

    /** Records an event. */
    void journal(Event event, Instant now) {
        sender.send(topics.journal(), event.sessionKey(), event, now, received(event));
        if (event.type() instanceof KnownEventType type && WAITED_FOR.contains(type)) {
            commits.awaited();
        } else {
            commits.sent();
        }
    }

    /** Records an event and what became of it, which is not what is usual. */
    void journal(Event event, Instant now, String outcome) {
        Map<String, String> headers = new LinkedHashMap<>(received(event));
        headers.put(HeaderNames.OUTCOME, outcome);
        sender.send(topics.journal(), event.sessionKey(), event, now, headers);
        commits.sent();
    }

    /**
     * Records an event on this partition, whatever its own key is: behind everything that was recorded there before.
     */
    void journalOn(int partition, Event event, Instant now) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(topics.journal(), event);
        sender.forward(
                event.sessionKey().getBytes(StandardCharsets.UTF_8),
                new Outgoing(encoded.topic(), encoded.value(), Set.of(partition)),
                now,
                encoded.headers());
        commits.sent();
    }

    /** Tells the memory machine what the task machine has forgotten. */
    void toMemory(Event forgotten, Instant now) {
        sender.send(topics.reflectionRequests(), forgotten.namespace(), forgotten, now, Map.of());
        commits.awaited();
    }

    /** Hands on what is for knowledge, if this is. */
    void toKnowledge(Event event, Instant now) {
        if (event.type() == KnownEventType.RAG_INGEST || event.type() == KnownEventType.ENTITY_EXTRACT) {
            sender.send(topics.knowledgeRequests(), event.sessionKey(), event, now, Map.of());
            commits.awaited();
        }
    }

    /** Tells tool services which variables of conversations they no longer know. */
    void toVariables(ForgetScope scope, long askedAtMs, Instant now) {
        JsonObject forgotten = JsonObject.builder()
                .put("namespace", scope.namespace())
                .putIfPresent("kind", scope.id() == null ? null : scope.kind().wireName())
                .putIfPresent("id", scope.id())
                .put("forgottenAt", askedAtMs)
                .build();
        sender.forward(
                scope.namespace().getBytes(StandardCharsets.UTF_8),
                new Outgoing(topics.variables(), Json.write(forgotten), Set.of(VARIABLES_PARTITION)),
                now,
                new RecordHeaders());
        commits.awaited();
    }

    /** Tells whoever reads topics that are kept by time what of them nobody is to be shown any more. */
    void toForgotten(Forgotten forgotten, Instant now) {
        sender.forward(
                forgotten.scope().namespace().getBytes(StandardCharsets.UTF_8),
                new Outgoing(topics.forgotten(), forgotten.toJson()),
                now,
                new RecordHeaders());
        commits.awaited();
    }

    /** The request as a worker is to have it: if there are spans, under that of its call. */
    TaskMove.Request traced(TaskMove.Request request) {
        return tracing && request.event().type() == KnownEventType.TOOL_CALL_REQUESTED
                ? new TaskMove.Request(request.toolset(), request.key(), TraceContext.underItsCall(request.event()))
                : request;
    }

    /** Asks a worker, with the token that its reply has to show. */
    void request(TaskMove.Request request, Instant now) {
        sender.send(
                topics.requests(request.toolset()),
                request.key(),
                request.event(),
                now,
                tokens.header(request.event()));
        commits.awaited();
    }

    /** Whether the record that is being taken comes from this lane. */
    boolean isFromLane(Segment segment) {
        return sender.origin().topic().equals(topics.lane(segment));
    }

    /** Puts an event of the machine's own on the lane that it belongs on, with the token of its call. */
    void lane(Event event, Instant now) {
        sender.send(topics.lane(event.lane()), event.sessionKey(), event, now, tokens.header(event));
        commits.awaited();
    }

    /**
     * Sends an event that somebody else has put on another lane to the one that it belongs on, with the token that it
     * has shown and no other: it is not the machine's.
     */
    void toItsLane(Event event, Instant now) {
        sender.send(topics.lane(event.lane()), event.sessionKey(), event, now, Map.of());
        commits.awaited();
    }

    /** Refuses a record that has broken a transaction, or is larger than anything that could follow from it. */
    void requireBearable(Record<byte[], LaneDates.Dated> incoming) throws RejectedRecordException {
        sender.requireBearable(incoming.value().value());
    }

    /** Sends what has come to where it belongs: whoever produced it used another partitioner or another key. */
    void sendHome(Record<byte[], LaneDates.Dated> incoming, String key) {
        sender.reroute(incoming, incoming.value().value(), key, incoming.value().timestampMs());
        metrics.rerouted();
        // a client with another partitioner sends many: gathered, for a commit each would be all that the machine does
        commits.sent();
    }

    /**
     * The same for what did not name its session.
     *
     * @param event with the session
     */
    void sendHome(Record<byte[], LaneDates.Dated> incoming, Event event) {
        sender.reroute(event, event.sessionKey(), incoming.value().timestampMs());
        metrics.rerouted();
        commits.sent();
    }

    /** Sends what has come to these partitions as it is, with the header that says that this has been done. */
    void copy(Record<byte[], LaneDates.Dated> incoming, Set<Integer> partitions, String header) {
        // those of the record itself stay, for it may have to be taken once more
        Headers headers = new RecordHeaders(incoming.headers().toArray())
                .add(header, Sender.date(incoming.value().timestampMs()));
        sender.forward(
                incoming.key(),
                new Outgoing(sender.origin().topic(), incoming.value().value(), partitions),
                Instant.ofEpochMilli(incoming.timestamp()),
                headers);
        commits.awaited();
    }

    /**
     * The same for an event.
     *
     * @param receivedMs when it came onto its lane, in Unix milliseconds
     */
    void copy(Event event, Set<Integer> partitions, long receivedMs, Instant now) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(topics.lane(event.lane()), event);
        encoded.headers().add(BROADCAST, Sender.date(receivedMs));
        sender.forward(
                encoded.key().getBytes(StandardCharsets.UTF_8),
                new Outgoing(encoded.topic(), encoded.value(), partitions),
                now,
                encoded.headers());
        commits.awaited();
    }

    /** Where the record that is being taken was read. */
    Processing.Place place() {
        RecordMetadata origin = sender.origin();
        return new Processing.Place(origin.topic(), origin.partition(), origin.offset());
    }

    /** Puts an event aside that was held and cannot be taken. */
    void deadLetter(Event event, DeadLetters.Origin origin, String reason, String detail) {
        sender.deadLetter(event, origin, reason, detail);
        metrics.deadLettered(reason);
        commits.sent();
    }

    /** Puts a record aside that cannot be taken. */
    void deadLetter(Record<byte[], LaneDates.Dated> incoming, String reason, @Nullable String detail) {
        LaneDates.Dated dated = incoming.value();
        sender.deadLetter(incoming, dated.value(), dated.timestampMs(), reason, detail);
        metrics.deadLettered(reason);
        commits.sent();
    }
}
