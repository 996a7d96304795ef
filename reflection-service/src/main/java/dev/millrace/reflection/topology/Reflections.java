package dev.millrace.reflection.topology;

import dev.millrace.engine.ModelUsage;
import dev.millrace.engine.OutstandingCalls;
import dev.millrace.engine.Sender;
import dev.millrace.reflection.core.MemoryException;
import dev.millrace.reflection.core.MemoryTools;
import dev.millrace.reflection.core.Reflection;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Payload.ModelCallOutcome;
import dev.millrace.schemas.Topics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves reflections: begins them, takes replies of the model, carries out its tool calls, ends them. A round is written
 * with all that it changed, so that a crash continues and does not start over. For one stream thread.
 */
final class Reflections {

    private static final Logger LOGGER = LoggerFactory.getLogger(Reflections.class);

    /** What there has to be room for beside a call in its round, in characters. */
    private static final int LONGEST_ERROR = 1_000;

    private final KeyValueStore<String, ReflectionRow> rows;
    private final OutstandingCalls<ReflectionCall> calls;
    private final Function<String, NamespaceDocuments> memory;
    private final Outlet outlet;
    private final Counter completed;
    private final Counter failed;

    /** Where what has ended goes. */
    record Outlet(Sender sender, Topics topics, MeterRegistry meters) {}

    /**
     * The reflections of one partition.
     *
     * @param memory the documents of a namespace
     */
    Reflections(
            KeyValueStore<String, ReflectionRow> rows,
            OutstandingCalls<ReflectionCall> calls,
            Function<String, NamespaceDocuments> memory,
            Outlet outlet) {
        this.rows = rows;
        this.calls = calls;
        this.memory = memory;
        this.outlet = outlet;
        this.completed = ended(outlet.meters(), "completed");
        this.failed = ended(outlet.meters(), "failed");
    }

    private static Counter ended(MeterRegistry meters, String outcome) {
        return Counter.builder("millrace.reflection.reflections")
                .description("Reflections that have ended")
                .tag("outcome", outcome)
                .register(meters);
    }

    /** REFLECTION_REQUESTED. A second one with the same id does nothing while the first one runs. */
    void begin(Event request, Instant now) {
        Event bare = request.toBuilder().payload(Map.of()).build();
        String key = MemoryStores.reflectionKey(bare);
        if (rows.get(key) != null || !(request.payload() instanceof Payload.ReflectionRequested asked)) {
            return;
        }
        Reflection reflection = Reflection.begin(
                        asked.input(),
                        asked.response(),
                        asked.iterations(),
                        asked.actionsCount(),
                        memory.apply(request.namespace()))
                .told(asked.steps());
        ReflectionCall call = ReflectionCall.of(bare, 1, now.toEpochMilli());
        rows.put(key, ReflectionRow.begin(bare, reflection, call.callId()));
        calls.request(call);
    }

    /** REASON_DONE. A reply that nobody waits for does nothing. */
    void replied(Event event, Payload.ReasonDone reply, Instant now) {
        ReflectionRow paid = settle(event, reply, now);
        if (paid == null) {
            return;
        }
        if (reply.toolCalls().isEmpty()) {
            complete(paid, paid.reflection(), Objects.requireNonNullElse(reply.response(), ""), now);
            return;
        }
        Reflection next = carryOut(paid, reply.response(), reply.toolCalls(), now);
        if (next.isExhausted()) {
            complete(paid, next, Reflection.MAX_ROUNDS_REACHED, now);
            return;
        }
        ReflectionCall call = ReflectionCall.of(paid.request(), next.rounds().size() + 1, now.toEpochMilli());
        rows.put(MemoryStores.reflectionKey(paid.request()), paid.with(next, call.callId()));
        calls.request(call);
    }

    /**
     * MODEL_CALL_FAILED: what has been written stays, what was paid is told, and the task is as it was.
     *
     * @param reply what the event says, or a failure in place of a reply that could not be taken
     */
    void failed(Event event, Payload.ModelCallFailed reply, Instant now) {
        ReflectionRow row = settle(event, reply, now);
        if (row == null) {
            return;
        }
        Reflection reflection = row.reflection();
        end(
                row,
                KnownEventType.REFLECTION_FAILED,
                new Payload.ReflectionFailed(
                        reply.code(),
                        reply.error(),
                        (long) reflection.factsWritten(),
                        reflection.hasEpisode(),
                        (long) reflection.toolCallsCount(),
                        usage(row),
                        row.modelCalls()),
                now);
        failed.increment();
        LOGGER.atWarn()
                .addKeyValue("taskId", row.request().taskId())
                .addKeyValue("callId", row.awaiting())
                .addKeyValue("errorCode", reply.code())
                .addKeyValue("rounds", reflection.rounds().size())
                .log("A reflection was given up, since the model did not answer; its task is as it was");
    }

    /**
     * The row that waited for this reply, with what the call used; {@code null} = none did, and what it used is told
     * apart.
     */
    private @Nullable ReflectionRow settle(Event event, ModelCallOutcome reply, Instant now) {
        // the parent of a reply is the request, whose key the row has
        String requestId = event.parentEventId();
        if (requestId == null) {
            return null;
        }
        ReflectionRow row = rows.get(MemoryStores.reflectionKey(event.namespace(), requestId));
        if (row == null || !row.awaiting().equals(reply.callId())) {
            ModelUsage.abandoned(event, "stale_call").ifPresent(paidFor -> send(paidFor, now));
            return null;
        }
        calls.settle(Event.qualified(event.namespace(), reply.callId()));
        return row.after(reply, event.timestamp());
    }

    /** What the reflections had used that were given up. */
    record GivenUp(long reflections, List<Payload.ModelCall> modelCalls) {}

    /** Gives up the reflections on tasks of this scope, and those that have been shown what is forgotten. */
    GivenUp forget(ForgetScope scope) {
        List<ReflectionRow> found = new ArrayList<>();
        try (KeyValueIterator<String, ReflectionRow> all =
                rows.range(MemoryStores.firstKey(scope.namespace()), MemoryStores.endKey(scope.namespace()))) {
            all.forEachRemaining(row -> found.add(row.value));
        }
        found.removeIf(row -> !scope.containsMemory()
                && !scope.contains(
                        row.request().namespace(),
                        row.request().taskId(),
                        row.request().sessionId()));
        List<Payload.ModelCall> used = new ArrayList<>();
        for (ReflectionRow row : found) {
            rows.delete(MemoryStores.reflectionKey(row.request()));
            calls.settle(Event.qualified(row.request().namespace(), row.awaiting()));
            used.addAll(row.modelCalls());
        }
        return new GivenUp(found.size(), used);
    }

    private Reflection carryOut(
            ReflectionRow row, @Nullable String text, List<Payload.RequestedCall> wanted, Instant now) {
        List<Reflection.Call> done = new ArrayList<>();
        List<MemoryTools.Change> changes = new ArrayList<>();
        int room = Reflection.MAX_ROUND_CHARS;
        for (Payload.RequestedCall call : wanted) {
            Reflection.Call asked = new Reflection.Call(
                    call.toolCallId(), call.toolName(), Json.writeText(call.arguments()), "", false);
            if (done.size() == Reflection.MAX_ROUND_CALLS || asked.size() + LONGEST_ERROR > room) {
                break;
            }
            Result result = result(row, call, done.size(), now);
            if (asked.size() + result.text().length() > room) {
                result = Result.error("the result has " + result.text().length()
                        + " characters, and a round has at most " + Reflection.MAX_ROUND_CHARS + " in all");
            }
            Reflection.Call ended = asked.answered(result.text(), result.failed());
            room -= ended.size();
            done.add(ended);
            if (result.change() != null) {
                changes.add(result.change());
            }
        }
        String said = text == null ? null : Reflection.cut(text, Reflection.MAX_SAID_CHARS);
        if (done.size() < wanted.size()) {
            said = (said == null ? "" : said + '\n') + "[" + (wanted.size() - done.size())
                    + " calls were left out: too many, or too large, for one round]";
        }
        return row.reflection().after(new Reflection.Round(said, done), changes);
    }

    /**
     * What came of a tool call.
     *
     * @param text JSON text, or {@code Error: …}
     * @param change what was written; {@code null} = nothing
     */
    private record Result(String text, boolean failed, MemoryTools.@Nullable Change change) {

        static Result error(String message) {
            return new Result("Error: " + message, true, null);
        }
    }

    private Result result(ReflectionRow row, Payload.RequestedCall call, int ordinal, Instant now) {
        if (call.malformedArguments() != null) {
            return Result.error("INVALID JSON ARGUMENTS: expected a JSON object, found: "
                    + JsonText.cut(call.malformedArguments(), 200));
        }
        NamespaceDocuments documents = memory.apply(row.request().namespace());
        try {
            MemoryTools.Outcome outcome = row.reflection().call(call.toolName(), call.arguments(), documents);
            MemoryTools.Change change = outcome.change();
            if (change != null) {
                documents.write(
                        change.path(),
                        change.content(),
                        new NamespaceDocuments.Author(
                                "reflection " + row.request().taskId(), row.awaiting() + '/' + ordinal, now));
            }
            return new Result(Json.writeText(outcome.result()), false, change);
        } catch (MemoryException e) {
            return Result.error(JsonText.cut(String.valueOf(e.getMessage()), LONGEST_ERROR / 2));
        }
    }

    private void complete(ReflectionRow row, Reflection reflection, String assessment, Instant now) {
        end(
                row,
                KnownEventType.REFLECTION_COMPLETE,
                new Payload.ReflectionComplete(
                        reflection.factsWritten(),
                        reflection.hasEpisode(),
                        reflection.toolCallsCount(),
                        Reflection.cut(assessment, Reflection.MAX_ASSESSMENT_CHARS),
                        usage(row),
                        row.modelCalls()),
                now);
        completed.increment();
    }

    private static Payload.Usage usage(ReflectionRow row) {
        return new Payload.Usage(row.inputTokens(), row.outputTokens(), null, null, row.costMicros(), null, null);
    }

    private void end(ReflectionRow row, KnownEventType type, Payload payload, Instant now) {
        rows.delete(MemoryStores.reflectionKey(row.request()));
        Event ended = row.request()
                .derive(type, 0, now)
                .source("cognitive.reflect")
                // caused by what was reflected on, as in the canonical flow
                .parentEventId(Objects.requireNonNullElse(
                        row.request().parentEventId(), row.request().id()))
                .payload(payload)
                .build();
        send(ended, now);
    }

    private void send(Event event, Instant now) {
        outlet.sender().send(outlet.topics().lane(event.lane()), event.sessionKey(), event, now, Map.of());
    }
}
