package dev.millrace.schemas;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A line in which the lowest priority goes first, tenants of one priority take turns, and what belongs to one tenant
 * goes in order. So of two tenants the second waits for one element of the first, however many that has in line. A
 * tenant that is held back has no turn until it is let go. Each operation takes the logarithm of the elements, and of
 * their priorities each. For one thread.
 *
 * @param <T> what stands in line; no two elements are equal by the order
 */
public final class FairLine<T> {

    /**
     * So many tenants of a priority are remembered who have had a turn and nothing in line; those of longest ago go.
     */
    static final int REMEMBERED = 10_000;

    private final ToIntFunction<? super T> priority;
    private final Function<? super T, String> tenant;
    private final Comparator<? super T> order;
    private final TreeMap<Integer, Band> bands = new TreeMap<>();
    private final Set<String> heldBack = new HashSet<>();
    private int size;

    /** What one tenant has in line with one priority. */
    private final class Share {
        final TreeSet<T> line = new TreeSet<>(order);
        /** The number of the tenant's last turn; 0 = there was none. */
        long turn;

        Share(long turn) {
            this.turn = turn;
        }
    }

    /** All elements of one priority. */
    private final class Band {
        final Map<String, Share> shares = new HashMap<>();
        /**
         * Those who had their turn longest ago first; of those who had none, who has stood there longest. Without those
         * who are held back.
         */
        final TreeSet<Share> turns = new TreeSet<>(
                Comparator.<Share>comparingLong(share -> share.turn).thenComparing(share -> share.line.first(), order));

        final Map<String, Long> remembered = new LinkedHashMap<>();
        long turn;

        /** Changes what a tenant has in line, and moves the tenant to where that belongs. */
        boolean change(String name, Function<Share, Boolean> change) {
            Share known = shares.get(name);
            Share share = known != null ? known : new Share(Objects.requireNonNullElse(remembered.remove(name), 0L));
            if (known != null) {
                turns.remove(share);
            }
            boolean changed = change.apply(share);
            if (share.line.isEmpty()) {
                shares.remove(name);
                remember(name, share.turn);
            } else {
                shares.put(name, share);
                if (!heldBack.contains(name)) {
                    turns.add(share);
                }
            }
            return changed;
        }

        private void remember(String name, long last) {
            if (last > 0) {
                remembered.put(name, last);
                if (remembered.size() > REMEMBERED) {
                    remembered.remove(remembered.keySet().iterator().next());
                }
            }
        }
    }

    /**
     * An empty line.
     *
     * @param priority of an element; lower goes first
     * @param tenant to whom an element belongs
     * @param order of the elements of one tenant and priority
     */
    public FairLine(
            ToIntFunction<? super T> priority, Function<? super T, String> tenant, Comparator<? super T> order) {
        this.priority = priority;
        this.tenant = tenant;
        this.order = order;
    }

    /** How many stand in line. */
    public int size() {
        return size;
    }

    /** Whether nobody does. */
    public boolean isEmpty() {
        return size == 0;
    }

    /** All of them, in no order that means anything. */
    public List<T> all() {
        List<T> all = new ArrayList<>(size);
        bands.values().forEach(band -> band.shares.values().forEach(share -> all.addAll(share.line)));
        return all;
    }

    /** Whose turn it is; {@code null} = the line is empty, or all who stand there are held back. */
    public @Nullable T peek() {
        for (Band band : bands.values()) {
            if (!band.turns.isEmpty()) {
                return band.turns.first().line.first();
            }
        }
        return null;
    }

    /** From now on it is not this tenant's turn, whatever it has in line; without effect if it is held back already. */
    public void holdBack(String name) {
        if (heldBack.add(name)) {
            for (Band band : bands.values()) {
                Share share = band.shares.get(name);
                if (share != null) {
                    band.turns.remove(share);
                }
            }
        }
    }

    /** This tenant has turns again, with what it has in line; without effect if it is not held back. */
    public void letGo(String name) {
        if (heldBack.remove(name)) {
            for (Band band : bands.values()) {
                Share share = band.shares.get(name);
                if (share != null) {
                    band.turns.add(share);
                }
            }
        }
    }

    /** Puts an element into the line; one that stands there already stays where it is. */
    public void add(T element) {
        Band band = bands.computeIfAbsent(priority.applyAsInt(element), code -> new Band());
        if (band.change(tenant.apply(element), share -> share.line.add(element))) {
            size++;
        }
    }

    /** Takes an element out without a turn of its tenant; false = it was not there. */
    public boolean remove(T element) {
        int code = priority.applyAsInt(element);
        Band band = bands.get(code);
        if (band == null || !band.shares.containsKey(tenant.apply(element))) {
            return false;
        }
        boolean removed = band.change(tenant.apply(element), share -> share.line.remove(element));
        if (removed) {
            size--;
            if (band.shares.isEmpty()) {
                bands.remove(code);
            }
        }
        return removed;
    }

    /** Takes note that a tenant has had a turn with an element of this priority, which is out of the line already. */
    public void served(int code, String name) {
        Band band = bands.get(code);
        if (band == null) {
            return; // nobody is left to wait for a turn
        }
        long turn = ++band.turn;
        if (band.shares.containsKey(name)) {
            band.change(name, share -> {
                share.turn = turn;
                return true;
            });
        } else {
            band.remembered.remove(name);
            band.remember(name, turn);
        }
    }

    /**
     * Takes out whoever's turn it is.
     *
     * @throws NoSuchElementException if it is nobody's
     */
    public T take() {
        T first = peek();
        if (first == null) {
            throw new NoSuchElementException("it is nobody's turn");
        }
        remove(first);
        served(priority.applyAsInt(first), tenant.apply(first));
        return first;
    }
}
