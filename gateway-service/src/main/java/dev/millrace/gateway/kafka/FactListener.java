package dev.millrace.gateway.kafka;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.StreamType;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Takes facts as they come, with live text or without. A fact that ends a model call is held back until the live text
 * of that call has been told, as far as it is there; what comes of the call after that, or of an attempt before the
 * newest, is left out. For one thread; {@link #close} for any.
 */
public final class FactListener implements AutoCloseable {
    /** How long a fact is held back at most, should the brokers not say whether there is more live text. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    /** How often is looked whether a fact may go. */
    private static final Duration LOOK_AGAIN = Duration.ofMillis(2);
    /** So many calls that have ended are remembered. */
    private static final int MAX_SETTLED = 4_096;

    private final Sources sources;
    private final Signal signal;
    /** By call: the newest attempt of those that go on; what is no longer in there has ended. */
    private final Map<String, Long> attempts = new HashMap<>();
    /** Calls whose last piece was told. */
    private final Map<String, Boolean> told = bounded();
    /** Calls whose end, as a fact, was told. */
    private final Map<String, Boolean> settled = bounded();

    private Places places;
    private @Nullable JournalEntry fact;
    private @Nullable JournalEntry piece;
    private @Nullable Hold hold;

    /** Where it comes from, live text only if it is wanted; {@code end} says where a partition of live text ends. */
    record Sources(JournalListener facts, @Nullable JournalListener pieces, IntFunction<CompletableFuture<Long>> end) {}

    /**
     * Something that was told.
     *
     * @param entry its cursor is a place in the journal, or in the topic of live text
     * @param live whether it is live text
     * @param next where it goes on after this
     */
    public record Heard(JournalEntry entry, boolean live, Places next) {

        /** What was told. */
        public Event event() {
            return entry.event();
        }
    }

    /** Wakes one thread that waits for several things. */
    static final class Signal {
        private final Semaphore raised = new Semaphore(0);

        void raise() {
            if (raised.availablePermits() == 0) {
                raised.release();
            }
        }

        void await(long nanos) throws InterruptedException {
            if (raised.tryAcquire(nanos, TimeUnit.NANOSECONDS)) {
                raised.drainPermits();
            }
        }
    }

    /** The fact at this place waits for live text up to an offset. */
    private record Hold(JournalCursor at, CompletableFuture<Long> end, long untilNanos) {}

    FactListener(Sources sources, Signal signal, Places from, Set<String> settledCalls) {
        this.sources = sources;
        this.signal = signal;
        this.places = from;
        settledCalls.forEach(call -> settled.put(call, true));
    }

    /**
     * Waits for what comes next.
     *
     * @return {@code null} if nothing came within this time
     * @throws ListenerDroppedException if there will be no more; everything before it has been returned
     */
    public @Nullable Heard next(Duration atMost) throws InterruptedException, ListenerDroppedException {
        long end = System.nanoTime() + atMost.toNanos();
        while (true) {
            Heard heard = poll();
            if (heard != null) {
                return heard;
            }
            long left = end - System.nanoTime();
            if (left <= 0) {
                return null;
            }
            signal.await(hold == null ? left : Math.min(left, LOOK_AGAIN.toNanos()));
        }
    }

    private @Nullable Heard poll() throws InterruptedException, ListenerDroppedException {
        if (fact == null) {
            fact = sources.facts().next(Duration.ZERO);
        }
        // whether all is read has to be known before it is looked what there is
        boolean free = fact != null && !held(fact);
        if (piece == null) {
            piece = nextPiece();
        }
        JournalEntry first = piece;
        if (first != null && (fact == null || !free || waits() || !isAfter(first, fact))) {
            piece = null;
            return tell(first, true);
        }
        JournalEntry second = fact;
        if (second != null && free) {
            fact = null;
            hold = null;
            return tell(second, false);
        }
        return null;
    }

    /** Whether the fact in hand is one that all live text goes before that is here by now. */
    private boolean waits() {
        return hold != null
                && fact != null
                && hold.at().equals(fact.cursor())
                && System.nanoTime() <= hold.untilNanos();
    }

    private static boolean isAfter(JournalEntry one, JournalEntry other) {
        return one.event().timestamp().isAfter(other.event().timestamp());
    }

    /** The next piece of live text that somebody may want; the others are passed over, and count as told. */
    private @Nullable JournalEntry nextPiece() throws InterruptedException, ListenerDroppedException {
        JournalListener pieces = sources.pieces();
        if (pieces == null) {
            return null;
        }
        for (JournalEntry next = pieces.next(Duration.ZERO); next != null; next = pieces.next(Duration.ZERO)) {
            if (next.event().payload() instanceof Payload.LiveText piece
                    && !settled.containsKey(piece.callId())
                    && piece.attempt() >= attempts.getOrDefault(piece.callId(), 0L)) {
                return next;
            }
            moveOn(next, true);
        }
        return null;
    }

    private Heard tell(JournalEntry entry, boolean live) {
        Event event = entry.event();
        String call = settledBy(event);
        if (event.payload() instanceof Payload.LiveText piece && event.type() instanceof StreamType type) {
            if (type.ends()) {
                told.put(piece.callId(), true);
            } else {
                attempts.put(piece.callId(), piece.attempt());
                told.remove(piece.callId());
            }
        } else if (call != null) {
            settled.put(call, true);
            attempts.remove(call);
            told.remove(call);
        }
        moveOn(entry, live);
        return new Heard(entry, live, places);
    }

    private void moveOn(JournalEntry entry, boolean live) {
        int partition = entry.cursor().partition();
        Places.Place before = places.next().getOrDefault(partition, new Places.Place(0, 0));
        long after = entry.cursor().offset() + 1;
        places = places.with(
                partition, live ? new Places.Place(before.journal(), after) : new Places.Place(after, before.tokens()));
    }

    /** Whether live text may still come that belongs before this fact. */
    private boolean held(JournalEntry candidate) {
        JournalListener pieces = sources.pieces();
        String call = pieces == null ? null : settledBy(candidate.event());
        if (pieces == null || call == null || told.containsKey(call) || settled.containsKey(call)) {
            return false;
        }
        int partition = candidate.cursor().partition();
        Hold waiting = hold;
        if (waiting == null || !waiting.at().equals(candidate.cursor())) {
            waiting = new Hold(
                    candidate.cursor(), sources.end().apply(partition), System.nanoTime() + PATIENCE.toNanos());
            hold = waiting;
        }
        if (System.nanoTime() > waiting.untilNanos()) {
            return false;
        }
        return switch (waiting.end().state()) {
            case RUNNING -> true;
            case SUCCESS -> pieces.readUpTo(partition) < waiting.end().resultNow();
            case FAILED, CANCELLED -> false;
        };
    }

    /** The model call that has come to its end with this fact; {@code null} = none. */
    public static @Nullable String settledBy(Event event) {
        return switch (event.payload()) {
            case Payload.ReasonDone done -> done.callId();
            case Payload.NeedMoreInfo asked -> asked.callId();
            case Payload.ModelCallFailed failed -> failed.callId();
            default -> null;
        };
    }

    private static Map<String, Boolean> bounded() {
        return new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
                return size() > MAX_SETTLED;
            }
        };
    }

    /** No more is wanted. */
    @Override
    public void close() {
        sources.facts().close();
        if (sources.pieces() != null) {
            sources.pieces().close();
        }
    }
}
