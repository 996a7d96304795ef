package dev.millrace.reflection.thinker;

import dev.millrace.engine.LaneProducer;
import dev.millrace.engine.ModelCalls;
import dev.millrace.engine.ModelUsage;
import dev.millrace.engine.ReplyLimits;
import dev.millrace.engine.ReplyPayloads;
import dev.millrace.engine.StoreReader;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ModelCall;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.llm.ToolSpec;
import dev.millrace.reflection.core.Reflection;
import dev.millrace.reflection.core.ReflectionPrompt;
import dev.millrace.reflection.tools.MemoryToolDefinitions;
import dev.millrace.reflection.topology.ReflectionCall;
import dev.millrace.reflection.topology.ReflectionRow;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes model calls of reflections: waits for a permit like any other call, after those of tasks; builds the
 * request from the reflection's row, asks, and puts the reply where the memory machine reads it.
 */
public final class Reflector implements ModelCalls<ReflectionCall> {

    private static final Logger LOGGER = LoggerFactory.getLogger(Reflector.class);

    /** Whose calls these are in sums of what was used. */
    private static final String AGENT = "reflection";

    private static final List<ToolSpec> TOOLS = MemoryToolDefinitions.all().stream()
            .map(tool -> new ToolSpec(tool.name(), tool.description(), tool.parameters()))
            .toList();

    private final Wiring wiring;

    /**
     * What it works with.
     *
     * @param rows reads the store of reflections
     * @param topic the topic that replies and fences are put on
     */
    public record Wiring(
            ModelDispatcher dispatcher,
            StoreReader<ReflectionRow> rows,
            LaneProducer producer,
            String topic,
            Model model,
            Clock clock) {}

    /**
     * Which model reflects.
     *
     * @param name as agents name one; {@code null} = the default one
     * @param contextWindow what it can read, in tokens
     */
    public record Model(@Nullable String name, long contextWindow) {
        public Model {
            if (contextWindow < 1) {
                throw new IllegalArgumentException(
                        "millrace.reflection.context-window: expected 1 or more, found " + contextWindow);
            }
        }
    }

    public Reflector(Wiring wiring) {
        this.wiring = wiring;
    }

    @Override
    public void request(int partition, ReflectionCall call) {
        requestAgain(partition, call);
    }

    @Override
    public boolean requestAgain(int partition, ReflectionCall call) {
        return wiring.dispatcher()
                .submit(new ModelCall(
                                call.key(),
                                call.request().effectivePriority(),
                                call.requestedAtMs(),
                                () -> build(partition, call),
                                outcome -> answer(partition, call, outcome))
                        .of(call.request().namespace())
                        .within(group(partition)));
    }

    @Override
    public void leave(int partition) {
        List<String> unused = wiring.dispatcher().dropWaiting(group(partition));
    }

    private static String group(int partition) {
        return "reflections-" + partition;
    }

    @Override
    public void fence(int partition, String value) {
        wiring.producer().mark(wiring.topic(), partition, HeaderNames.FENCE, value);
    }

    @Override
    public void settle(ReflectionCall call) {
        wiring.dispatcher().cancel(call.key(), outcome -> {
            try {
                wiring.producer().send(abandoned(call, outcome, wiring.clock().instant()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private ModelRequest build(int partition, ReflectionCall call) throws InterruptedException {
        Optional<ReflectionRow> row = wiring.rows()
                .read(
                        partition,
                        store -> Optional.ofNullable(store.get(call.reflectionKey()))
                                .filter(found -> found.awaiting().equals(call.callId())));
        if (row.isEmpty()) {
            wiring.dispatcher().cancel(call.key());
            throw new InterruptedException("the reflection has moved to another instance");
        }
        String month = YearMonth.from(call.request().timestamp().atZone(ZoneOffset.UTC))
                .toString();
        return new ModelRequest(
                call.callId(),
                wiring.model().name(),
                messages(row.get().reflection(), month, wiring.model().contextWindow()),
                TOOLS.stream()
                        .filter(tool -> row.get().reflection().offers(tool.name()))
                        .toList());
    }

    static List<ChatMessage> messages(Reflection reflection, String month, long contextWindow) {
        ReflectionPrompt.Shown shown = ReflectionPrompt.of(reflection, month, contextWindow);
        List<ChatMessage> messages = new ArrayList<>();
        messages.add(new ChatMessage.SystemMessage(ReflectionPrompt.system()));
        messages.add(new ChatMessage.UserMessage(shown.task()));
        for (Reflection.Round round : shown.rounds()) {
            messages.add(new ChatMessage.AssistantMessage(
                    round.text(), round.calls().stream().map(Reflector::request).toList()));
            round.calls()
                    .forEach(call -> messages.add(new ChatMessage.ToolMessage(
                            call.toolCallId(), call.toolName(), call.result(), call.failed())));
        }
        return messages;
    }

    private void answer(int partition, ReflectionCall call, ModelOutcome outcome) {
        if (outcome instanceof ModelOutcome.Failed && !wiring.rows().has(partition)) {
            // whoever has the partition makes the call again, and must not hear that it has failed
            LOGGER.atInfo()
                    .addKeyValue("callId", call.callId())
                    .addKeyValue("partition", partition)
                    .log("A model call failed whose reflection has moved to another instance");
            return;
        }
        Instant now = wiring.clock().instant();
        try {
            if (!send(reply(call, outcome, now))) {
                send(failed(
                        call,
                        outcome,
                        ModelErrorCode.BAD_RESPONSE,
                        "The model's reply is larger than a record may be",
                        now));
            }
        } catch (InterruptedException e) {
            LOGGER.atInfo()
                    .addKeyValue("callId", call.callId())
                    .log("Stopped before a reply was on its topic; the call is made again after the start");
            Thread.currentThread().interrupt();
        }
    }

    private boolean send(Event reply) throws InterruptedException {
        return wiring.producer().send(wiring.topic(), reply.namespace(), reply);
    }

    /** The event of a reply, or of its call's failure if nobody could take it. */
    static Event reply(ReflectionCall call, ModelOutcome outcome, Instant now) {
        Event told = told(call, ReplyLimits.within(call.callId(), outcome), now);
        return ReplyLimits.problem(told)
                .map(why -> failed(
                        call,
                        outcome,
                        ModelErrorCode.BAD_RESPONSE,
                        "The model's reply cannot be taken, since " + why,
                        now))
                .orElse(told);
    }

    private static Event told(ReflectionCall call, ModelOutcome outcome, Instant now) {
        return switch (outcome) {
            case ModelOutcome.Replied replied -> {
                ModelReply said = replied.reply();
                ModelUsage used = ModelUsage.of(call.takeovers(), outcome);
                yield call.reply(KnownEventType.REASON_DONE, now)
                        .payload(new Payload.ReasonDone(
                                call.callId(),
                                said.text(),
                                null,
                                null,
                                ReplyPayloads.toolCalls(said.toolCalls()),
                                List.of(),
                                said.model(),
                                said.finishReason().wireName(),
                                used.usage(),
                                used.failedAttempts(),
                                AGENT,
                                null,
                                null,
                                null,
                                null))
                        .build();
            }
            case ModelOutcome.Failed failed ->
                failed(
                        call,
                        outcome,
                        failed.error().code(),
                        String.valueOf(failed.error().getMessage()),
                        now);
        };
    }

    private static Event failed(
            ReflectionCall call, ModelOutcome outcome, ModelErrorCode code, String error, Instant now) {
        return call.reply(KnownEventType.MODEL_CALL_FAILED, now)
                .payload(payloads(call).failed(outcome, code, error, null))
                .build();
    }

    /** What a call had come to that was cut off, since its reflection was given up. */
    private static Event abandoned(ReflectionCall call, ModelOutcome outcome, Instant now) {
        return call.reply(KnownEventType.MODEL_CALL_ABANDONED, now)
                .payload(payloads(call).cutOff(outcome))
                .build();
    }

    private static ReplyPayloads payloads(ReflectionCall call) {
        return new ReplyPayloads(call.callId(), call.takeovers(), AGENT);
    }

    private static ToolCallRequest request(Reflection.Call call) {
        try {
            return new ToolCallRequest(
                    call.toolCallId(),
                    call.toolName(),
                    Json.readObject(call.arguments().getBytes(StandardCharsets.UTF_8)));
        } catch (MalformedEventException e) {
            throw new IllegalStateException("arguments in a reflection are no JSON object", e);
        }
    }
}
