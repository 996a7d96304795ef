package dev.millrace.agent.thinker;

import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.ModelDelta;
import dev.millrace.llm.StreamListener;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.StreamType;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What is told of one model call: gathers pieces, joins those of a kind, and numbers what goes out. Memory is bounded:
 * where pieces come faster than they can be sent, some are left out, which shows as a hole in the numbers. For any
 * thread.
 */
final class CallStream implements StreamListener {

    /**
     * Attempts have greater numbers with each instance that takes the call over; no instance makes more than so many.
     */
    static final int ATTEMPTS_PER_TAKEOVER = 100;
    /** Characters that may wait to be sent. */
    static final int MAX_WAITING = 1 << 20;
    /** The longest text of one event; even at six bytes each, as control characters take in JSON, it fits a record. */
    static final int MAX_DELTA = 1 << 17;
    /** So many characters of an answer are kept if it is interrupted, which is one event as well. */
    static final int MAX_SAID = MAX_DELTA;

    private final OutstandingCall call;
    private final Asker asker;
    private final Scheduler scheduler;

    private final ReentrantLock lock = new ReentrantLock();
    // all below: guarded by lock
    private final Deque<Piece> waiting = new ArrayDeque<>();
    private final StringBuilder said = new StringBuilder();
    private int waitingChars;
    private boolean scheduled;
    private boolean scheduledSoon;
    private boolean started;
    /** Whether the newest attempt has said something; its first words need not wait for more. */
    private boolean spoken;

    private boolean ended;
    private int attempt;
    private int seq;
    private long sentAtNanos;

    /**
     * Who asks whom.
     *
     * @param model the name of the model; {@code null} = the default one
     */
    record Asker(String agentName, @Nullable String model) {}

    /** Has the pieces of a stream sent: as soon as possible, or after the usual time. */
    @FunctionalInterface
    interface Scheduler {
        void schedule(CallStream stream, boolean soon);
    }

    /** Something to be told. */
    private sealed interface Piece {

        /** More of a text. */
        record More(StreamType type, ToolPlace place, StringBuilder text) implements Piece {}

        /** An attempt begins; {@code reason} says why, if it is not the first. */
        record Begin(int attempt, @Nullable String reason) implements Piece {}

        /** The call is over. */
        record End(StreamType type, Ending ending) implements Piece {}

        /** One event less than there should be. */
        record Hole() implements Piece {}
    }

    /** What is said last, at its place. */
    @FunctionalInterface
    private interface Ending {
        Payload.LiveText at(String callId, long attempt, long seq);
    }

    /**
     * Which tool call a piece belongs to.
     *
     * @param index -1 = none
     */
    private record ToolPlace(
            int index,
            @Nullable String toolCallId,
            @Nullable String toolName) {
        static final ToolPlace NONE = new ToolPlace(-1, null, null);

        /** Whether a piece of that place can be added to one of this: it says nothing new about the call. */
        boolean takes(ToolPlace next) {
            return index == next.index
                    && (next.toolCallId == null || next.toolCallId.equals(toolCallId))
                    && (next.toolName == null || next.toolName.equals(toolName));
        }
    }

    CallStream(OutstandingCall call, Asker asker, Scheduler scheduler) {
        this.call = call;
        this.asker = asker;
        this.scheduler = scheduler;
        this.sentAtNanos = System.nanoTime() - TimeUnit.DAYS.toNanos(1); // long ago: the first piece goes at once
    }

    @Override
    public void onAttempt(int number) {
        int counted = call.takeovers() * ATTEMPTS_PER_TAKEOVER + Math.min(number, ATTEMPTS_PER_TAKEOVER);
        String reason = number > 1 ? "retry" : call.takeovers() > 0 ? "takeover" : null;
        lock.lock();
        try {
            started = true;
            spoken = false;
            said.setLength(0);
            waiting.clear(); // nobody needs to know what is void
            waitingChars = 0;
            waiting.add(new Piece.Begin(counted, reason));
            schedule(true);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onDelta(ModelDelta delta) {
        switch (delta) {
            case ModelDelta.Text(String text) -> more(StreamType.TEXT, ToolPlace.NONE, text);
            case ModelDelta.Reasoning(String text) -> more(StreamType.REASONING, ToolPlace.NONE, text);
            case ModelDelta.ToolCall(int index, String toolCallId, String toolName, String arguments) ->
                more(StreamType.TOOL_CALL, new ToolPlace(index, toolCallId, toolName), arguments);
        }
    }

    /** The call has come to its end, which is this event. */
    void ended(Event reply) {
        switch (reply.payload()) {
            case Payload.ModelCallFailed failed -> failed(failed.code(), failed.error());
            case Payload.ReasonDone done -> completed(done.model(), done.finishReason(), done.usage());
            case Payload.NeedMoreInfo more -> completed(more.model(), more.finishReason(), more.usage());
            case Payload.ContextCompacted made -> completed(made.model(), made.finishReason(), made.usage());
            default -> throw new IllegalArgumentException("expected the end of a call, found " + reply.type());
        }
    }

    /** Nobody wants to know any more. */
    void cancelled() {
        failed("cancelled", "nobody waits for this reply any more");
    }

    private void completed(@Nullable String model, @Nullable String finishReason, Payload.@Nullable Usage usage) {
        end(
                StreamType.COMPLETED,
                (callId, at, place) -> new Payload.StreamCompleted(callId, at, place, model, finishReason, usage));
    }

    private void failed(String code, String error) {
        end(StreamType.ERROR, (callId, at, place) -> new Payload.StreamError(callId, at, place, code, error));
    }

    /** The text of this attempt so far, its beginning if it is long; {@code null} = there is none. */
    @Nullable
    String said() {
        lock.lock();
        try {
            int length = said.length();
            boolean parts = length > 0 && Character.isHighSurrogate(said.charAt(length - 1));
            return length == 0 ? null : said.substring(0, parts ? length - 1 : length);
        } finally {
            lock.unlock();
        }
    }

    /** Whether there is no more to be told. */
    boolean isOver() {
        lock.lock();
        try {
            return ended;
        } finally {
            lock.unlock();
        }
    }

    private void end(StreamType type, Ending ending) {
        lock.lock();
        try {
            boolean told = started && !ended;
            ended = true;
            if (told) {
                waiting.add(new Piece.End(type, ending));
                schedule(true);
            }
        } finally {
            lock.unlock();
        }
    }

    private void more(StreamType type, ToolPlace place, String text) {
        lock.lock();
        try {
            if (ended) {
                return;
            }
            if (type == StreamType.TEXT) {
                said.append(text, 0, Math.min(text.length(), MAX_SAID - said.length()));
            }
            if (waitingChars + text.length() > MAX_WAITING) {
                if (!(waiting.peekLast() instanceof Piece.Hole)) {
                    waiting.add(new Piece.Hole());
                }
                return;
            }
            waitingChars += text.length();
            if (waiting.peekLast() instanceof Piece.More last
                    && last.type() == type
                    && last.place().takes(place)) {
                last.text().append(text);
            } else {
                waiting.add(new Piece.More(type, place, new StringBuilder(text)));
            }
            schedule(!spoken);
            spoken = true;
        } finally {
            lock.unlock();
        }
    }

    /** Under the lock. */
    private void schedule(boolean soon) {
        if (!scheduled || (soon && !scheduledSoon)) {
            scheduled = true;
            scheduledSoon = soon;
            scheduler.schedule(this, soon);
        }
    }

    /** When something was last sent, by the system's clock. */
    long sentAtNanos() {
        return sentAtNanos; // read by the scheduler, under the lock
    }

    /**
     * Everything that is to be sent now, in order. A half of a surrogate pair waits for the other one.
     *
     * @param nowNanos the system's clock
     */
    List<Event> drain(Instant now, long nowNanos) {
        lock.lock();
        try {
            scheduled = false;
            scheduledSoon = false;
            List<Event> events = new ArrayList<>();
            for (Piece piece = waiting.poll(); piece != null; piece = waiting.poll()) {
                switch (piece) {
                    case Piece.Begin begin -> events.add(begin(begin, now));
                    case Piece.End end ->
                        events.add(event(end.type(), now, end.ending().at(call.callId(), attempt, seq)));
                    case Piece.Hole hole -> seq++;
                    case Piece.More more -> {
                        waitingChars -= more.text().length();
                        Piece.More half = withoutHalf(more);
                        tell(more, now, events);
                        if (half != null && waiting.isEmpty()) {
                            waiting.add(half);
                            waitingChars++;
                            return events; // what completes it has all of this sent
                        }
                    }
                }
            }
            return events;
        } finally {
            sentAtNanos = nowNanos;
            lock.unlock();
        }
    }

    private Event begin(Piece.Begin begin, Instant now) {
        attempt = begin.attempt();
        seq = 0;
        return begin.reason() == null
                ? event(
                        StreamType.START,
                        now,
                        new Payload.StreamStart(call.callId(), attempt, seq, asker.agentName(), asker.model()))
                : event(
                        StreamType.RESTART,
                        now,
                        new Payload.StreamRestart(
                                call.callId(), attempt, seq, begin.reason(), asker.agentName(), asker.model()));
    }

    /** Takes the first half of a pair off the end; null if there is none. */
    private static Piece.@Nullable More withoutHalf(Piece.More more) {
        int last = more.text().length() - 1;
        if (last < 0 || !Character.isHighSurrogate(more.text().charAt(last))) {
            return null;
        }
        StringBuilder half = new StringBuilder().append(more.text().charAt(last));
        more.text().setLength(last);
        return new Piece.More(more.type(), more.place(), half);
    }

    private void tell(Piece.More more, Instant now, List<Event> events) {
        boolean tool = more.place().index() >= 0;
        int from = 0;
        do {
            int to = Math.min(more.text().length(), from + MAX_DELTA);
            if (to < more.text().length()
                    && Character.isHighSurrogate(more.text().charAt(to - 1))) {
                to--;
            }
            if (tool || to > from) {
                events.add(
                        event(more.type(), now, piece(more.place(), more.text().substring(from, to))));
            }
            from = to;
        } while (from < more.text().length());
    }

    private Payload.LiveText piece(ToolPlace place, String delta) {
        return place.index() < 0
                ? new Payload.StreamDelta(call.callId(), attempt, seq, delta)
                : new Payload.StreamToolCall(
                        call.callId(), attempt, seq, place.index(), place.toolCallId(), place.toolName(), delta);
    }

    /** The event with the next number. */
    private Event event(StreamType type, Instant now, Payload.LiveText payload) {
        return call.tell(type, attempt, seq++, now).payload(payload).build();
    }
}
