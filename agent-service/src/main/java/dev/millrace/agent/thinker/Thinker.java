package dev.millrace.agent.thinker;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.Agents;
import dev.millrace.agent.MemoryIndex;
import dev.millrace.agent.Passages;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.telemetry.CallSpans;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.agent.topology.ReplySecrets;
import dev.millrace.agent.topology.Transcripts;
import dev.millrace.engine.Inbox;
import dev.millrace.engine.LaneProducer;
import dev.millrace.engine.ModelCalls;
import dev.millrace.llm.ModelCall;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelRequest;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.KnownEventType;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes model calls: waits for a permit, builds the request from the transcript, asks, hands the reply to the machine
 * and puts it on a lane. A reply that was paid for is not given up: an absent broker is waited for, and a task's next
 * call waits until the reply to the one before is on its lane, so that a crash repeats one call of a task at most.
 */
public final class Thinker implements ModelCalls<OutstandingCall> {

    private static final Logger LOGGER = LoggerFactory.getLogger(Thinker.class);

    private final ModelDispatcher dispatcher;
    private final ModelTurn turns;
    private final Transcripts transcripts;
    private final LaneProducer lanes;
    private final Inbox<Event> inbox;
    private final LiveText live;
    private final CallSpans spans;
    private final Clock clock;
    private final String cognitiveLane;
    private final ReplySecrets replies;
    /** By the key of the task: completed when its last reply is on a lane. */
    private final Map<String, CompletableFuture<Void>> underWay = new ConcurrentHashMap<>();

    /**
     * A thinker.
     *
     * @param wiring what it works with
     */
    public Thinker(Wiring wiring) {
        this.dispatcher = wiring.dispatcher();
        this.turns = new ModelTurn(wiring.agents(), wiring.routing(), wiring.memory(), wiring.passages());
        this.transcripts = wiring.transcripts();
        this.lanes = wiring.lanes();
        this.inbox = wiring.inbox();
        this.live = wiring.live();
        this.spans = wiring.spans();
        this.clock = wiring.clock();
        this.cognitiveLane = wiring.cognitiveLane();
        this.replies = wiring.replies();
    }

    /**
     * What a thinker works with; {@code cognitiveLane} is the topic that fences are put on, {@code replies} signs what
     * goes on lanes.
     */
    public record Wiring(
            ModelDispatcher dispatcher,
            Agents agents,
            ToolRouting routing,
            MemoryIndex memory,
            Passages passages,
            Transcripts transcripts,
            LaneProducer lanes,
            Inbox<Event> inbox,
            LiveText live,
            CallSpans spans,
            Clock clock,
            String cognitiveLane,
            ReplySecrets replies) {}

    @Override
    public void request(int partition, OutstandingCall call) {
        requestAgain(partition, call);
    }

    @Override
    public boolean requestAgain(int partition, OutstandingCall call) {
        String model = turns.model(call);
        // a summary is said to nobody
        CallStream stream = call.shown().toSumUp()
                ? null
                : live.listen(
                        call,
                        new CallStream.Asker(AgentDefinition.nameIn(call.agent().reference()), model));
        AtomicReference<@Nullable String> summedUp = new AtomicReference<>();
        ModelCall wanted = new ModelCall(
                        call.key(),
                        call.priority(),
                        call.requestedAtMs(),
                        () -> build(partition, call, summedUp),
                        outcome -> answer(partition, call, outcome, summedUp.get(), stream),
                        stream)
                .of(call.namespace())
                .within(group(partition))
                .asking(model)
                .reviewedBy((request, reply) -> turns.correction(call, request, reply));
        return stream == null
                ? dispatcher.submit(wanted)
                : live.watch(call.key(), stream, () -> dispatcher.submit(wanted));
    }

    @Override
    public @Nullable String saidSoFar(OutstandingCall call) {
        return live.said(call.key());
    }

    @Override
    public void settle(OutstandingCall call) {
        dispatcher.cancel(call.key(), outcome -> put(call, letter(Replies.abandoned(call, outcome, clock.instant()))));
        live.cancel(call.key());
        spans.dropped(call);
    }

    @Override
    public void leave(int partition) {
        dispatcher.dropWaiting(group(partition)).forEach(live::cancel);
    }

    private static String group(int partition) {
        return "tasks-" + partition;
    }

    @Override
    public void fence(int partition, String value) {
        lanes.mark(cognitiveLane, partition, HeaderNames.FENCE, value);
    }

    private ModelRequest build(int partition, OutstandingCall call, AtomicReference<@Nullable String> summedUp)
            throws InterruptedException {
        awaitReplyBefore(call);
        Optional<List<TranscriptEntry>> transcript = transcripts.read(partition, call);
        if (transcript.isEmpty()) {
            dispatcher.cancel(call.key());
            live.cancel(call.key());
            LOGGER.atInfo()
                    .addKeyValue("callId", call.callId())
                    .addKeyValue("partition", partition)
                    .log("The task has moved to another instance or thread, which makes its model call");
            throw new InterruptedException("the task has moved to another instance or thread");
        }
        ModelTurn.Asked asked = turns.ask(call, transcript.get(), contextWindow(call));
        summedUp.set(asked.summedUp());
        spans.asking(call, asked.request(), clock.instant());
        return asked.request();
    }

    private int contextWindow(OutstandingCall call) {
        return dispatcher.model().contextWindow(turns.model(call));
    }

    private Event reply(OutstandingCall call, ModelOutcome outcome, @Nullable String summedUp) {
        spans.ended(call, outcome, clock.instant());
        return turns.reply(call, outcome, summedUp, contextWindow(call), clock.instant());
    }

    private void awaitReplyBefore(OutstandingCall call) throws InterruptedException {
        CompletableFuture<Void> before = underWay.get(call.taskKey());
        if (before != null) {
            try {
                before.get();
            } catch (ExecutionException e) {
                throw new IllegalStateException("never completed in this way", e);
            }
        }
    }

    private void answer(
            int partition,
            OutstandingCall call,
            ModelOutcome outcome,
            @Nullable String summedUp,
            @Nullable CallStream stream) {
        if (!(outcome instanceof ModelOutcome.Replied replied)
                || replied.reply().toolCalls().isEmpty()) {
            transcripts.release(call.taskKey());
        }
        Event told = reply(call, outcome, summedUp);
        if (stream != null) {
            live.end(call.key(), stream, told); // before the reply, so that who watches sees it in this order
        }
        LaneProducer.Letter whole = letter(told);
        Event reply = whole.fits() ? told : Replies.tooLarge(call, outcome, clock.instant());
        LaneProducer.Letter letter = whole.fits() ? whole : letter(reply);
        CompletableFuture<Void> onLane = new CompletableFuture<>();
        underWay.put(call.taskKey(), onLane);
        try {
            boolean handed = inbox.offer(partition, reply);
            if (handed || reply.type() != KnownEventType.MODEL_CALL_FAILED) {
                put(call, handed ? letter.with(HeaderNames.HANDED, call.key()) : letter);
            } else {
                // whoever has the partition makes the call again, and must not hear that it has failed
                LOGGER.atInfo()
                        .addKeyValue("callId", call.callId())
                        .addKeyValue("partition", partition)
                        .log("A model call failed whose task has moved to another instance or thread");
            }
        } finally {
            onLane.complete(null);
            underWay.remove(call.taskKey(), onLane);
        }
    }

    /** Signed, since whoever may write to a lane can put something there that looks like it. */
    private LaneProducer.Letter letter(Event reply) {
        return lanes.letter(replies.signed(reply));
    }

    private void put(OutstandingCall call, LaneProducer.Letter reply) {
        try {
            if (!lanes.send(reply)) {
                LOGGER.atError().addKeyValue("callId", call.callId()).log("No lane takes a reply");
            }
        } catch (InterruptedException e) {
            LOGGER.atInfo()
                    .addKeyValue("callId", call.callId())
                    .log("Stopped before a reply was on its lane; a call that is still wanted is made again after"
                            + " the start");
            Thread.currentThread().interrupt();
        }
    }
}
