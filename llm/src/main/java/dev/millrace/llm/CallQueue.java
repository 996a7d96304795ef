package dev.millrace.llm;

import dev.millrace.schemas.FairLine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The calls that wait, by the key of the provider that they will ask and with turns of tenants, so that a provider
 * that has enough holds up nobody else's calls. A key is closed until some moment, or while one call asks the rate
 * limiter for it. Not safe for several threads: the dispatcher's lock guards it.
 */
final class CallQueue {

    private final Map<String, Line> lines = new HashMap<>();
    private int size;

    private static final class Line {
        final FairLine<QueuedCall> calls =
                new FairLine<>(q -> q.call.effectivePriority(), q -> q.call.tenant(), QueuedCall.BY_AGE);
        boolean asking;
        /** On the dispatcher's clock; meaningless unless {@link #held}. */
        long closedUntil;

        boolean held;

        boolean isHeld(long now) {
            held = held && closedUntil - now > 0;
            return held;
        }
    }

    int size() {
        return size;
    }

    void add(QueuedCall call) {
        line(call.key).calls.add(call);
        size++;
    }

    void remove(QueuedCall call) {
        if (line(call.key).calls.remove(call)) {
            size--;
        }
    }

    List<QueuedCall> all() {
        List<QueuedCall> all = new ArrayList<>(size);
        lines.values().forEach(line -> all.addAll(line.calls.all()));
        return all;
    }

    /**
     * Takes out the first of all calls whose key is open: of the first of each key, the one of highest priority, then
     * the oldest.
     *
     * @param patience a key that is closed for longer than this holds nobody back: its calls come, to be told so
     * @return null if none waits, or none may come
     */
    @Nullable
    QueuedCall poll(long now, long patience) {
        QueuedCall first = null;
        for (Line line : lines.values()) {
            QueuedCall head = line.calls.peek();
            boolean closed = line.asking || (line.isHeld(now) && line.closedUntil - now <= patience);
            if (head != null && !closed && (first == null || QueuedCall.BY_PRIORITY.compare(head, first) < 0)) {
                first = head;
            }
        }
        if (first != null) {
            line(first.key).calls.take();
            size--;
        }
        return first;
    }

    /** Closes a key while a call asks the rate limiter. */
    void beginAsking(String key) {
        line(key).asking = true;
    }

    void endAsking(String key) {
        line(key).asking = false;
    }

    /** Closes a key until then; it stays closed for longer if it is already. */
    void hold(String key, long until, long now) {
        Line line = line(key);
        if (!line.isHeld(now) || until - line.closedUntil > 0) {
            line.held = true;
            line.closedUntil = until;
        }
    }

    /** How long a key is closed still, in nanoseconds; 0 = it is open. */
    long heldFor(String key, long now) {
        Line line = line(key);
        return line.isHeld(now) ? line.closedUntil - now : 0;
    }

    /** Calls that wait for a key that is closed. */
    int heldBack(long now) {
        int waiting = 0;
        for (Line line : lines.values()) {
            if (line.asking || line.isHeld(now)) {
                waiting += line.calls.size();
            }
        }
        return waiting;
    }

    private Line line(String key) {
        return lines.computeIfAbsent(key, k -> new Line());
    }
}
