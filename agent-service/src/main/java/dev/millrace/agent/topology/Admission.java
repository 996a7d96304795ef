package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.topology.AdmissionRow.Gate;
import dev.millrace.agent.topology.AdmissionRow.Holding;
import dev.millrace.agent.topology.AdmissionRow.Line;
import dev.millrace.agent.topology.AdmissionRow.Waiting;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.FairLine;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Who may work: hands out the places of a partition in the order of effective priority, to namespaces by turns and to
 * the tasks of each by arrival, to one task of a conversation at a time, and to no more of a namespace than its quota
 * allows. The order is kept in memory, where finding the next is quick however many wait; the store is what it is built
 * from at the start, and is not read in between but for single rows. For one stream thread.
 */
final class Admission {

    /** The key of the {@link Gate}. */
    static final String GATE = "gate";

    private static final String WAITING = "waiting/";
    private static final String HOLDING = "holding/";

    private final KeyValueStore<String, AdmissionRow> store;
    private final AdmissionSettings settings;
    private final Map<String, ConversationQueue> conversations = new HashMap<>();
    private final Map<String, Line> lines = new HashMap<>();
    private final Map<String, Holding> holders = new HashMap<>();
    /** The first of each conversation that need not wait for another task of it. */
    private final FairLine<Line> ready =
            new FairLine<>(Line::priority, line -> namespace(line.taskKey()), Comparator.naturalOrder());
    /** The same by conversation. */
    private final Map<String, Line> readyOf = new HashMap<>();
    /** What asked for admission in this transaction; written only if it has to wait beyond it. */
    private final Map<String, Event> asking = new LinkedHashMap<>();

    /** Places taken by namespace; without those who have none. */
    private final Map<String, Integer> placesOf = new HashMap<>();
    /** Tasks in line by namespace; without those who have none. */
    private final Map<String, Integer> waitingOf = new HashMap<>();

    private Gate gate = new Gate(0, false, null);
    private int placesTaken;

    /** As the store has it. */
    Admission(KeyValueStore<String, AdmissionRow> store, AdmissionSettings settings) {
        this.store = store;
        this.settings = settings;
        try (KeyValueIterator<String, AdmissionRow> rows = store.all()) {
            rows.forEachRemaining(row -> restore(row.value));
        }
        // not the key set itself: a look-up may make the map grow, and what goes over it then ends without a word
        List.copyOf(conversations.keySet()).forEach(this::refresh);
    }

    private void restore(AdmissionRow row) {
        switch (row) {
            case Waiting waiting -> {
                lines.put(waiting.line().taskKey(), waiting.line());
                count(waitingOf, namespace(waiting.line().taskKey()), 1);
                conversation(waiting.line().session()).add(waiting.line());
            }
            case Holding holding -> {
                holders.put(holding.taskKey(), holding);
                if (holding.place()) {
                    changePlaces(namespace(holding.taskKey()), 1);
                }
                conversation(holding.session()).hold(holding);
            }
            case Gate found -> gate = found;
        }
    }

    /**
     * Takes note of where a task stands after a move.
     *
     * @param cause what moved it; if it asks for admission now, the parent of what follows from that
     * @return the task, with its number if it has come for the first time
     */
    StoredTask take(StoredTask task, Event cause) {
        StoredTask numbered = task;
        Line line = lines.get(task.key());
        if (task.state().wantsAdmission() && line == null) {
            numbered = task.arrival() == 0 ? task.arrived(nextArrival()) : task;
            asking.put(task.key(), cause);
            enter(new Line(task.key(), task.conversation(), priority(task.state()), numbered.arrival()));
        } else if (!task.state().wantsAdmission() && line != null) {
            leave(line);
        }
        hold(task);
        return numbered;
    }

    /**
     * Who is to be admitted now, if anybody; whoever is returned stands in line until {@link #take} or {@link #forget}.
     */
    Optional<Line> next() {
        return gate.draining() || (isFull() && settings.whenFull() != AdmissionSettings.Policy.WARN)
                ? Optional.empty()
                : Optional.ofNullable(ready.peek());
    }

    /** Whether all places are taken. */
    boolean isFull() {
        return placesTaken >= settings.maxActiveTasks();
    }

    /**
     * Whether a new task, which has not taken its place in line, is one too many there.
     *
     * @return what was expected and found; empty = it may come
     */
    Optional<String> turnsAway(StoredTask task) {
        String namespace = task.namespace();
        AdmissionSettings.Quota quota = settings.quota(namespace);
        boolean quotaIsUsed = quota.activeTasks() != null && placesOf.getOrDefault(namespace, 0) >= quota.activeTasks();
        boolean mustWait = isFull() || quotaIsUsed || gate.draining() || isBusy(task.conversation());
        int queued = waitingOf.getOrDefault(namespace, 0);
        if (quota.queuedTasks() != null && mustWait && queued >= quota.queuedTasks()) {
            return Optional.of("expected at most " + quota.queuedTasks()
                    + " tasks of the namespace to wait (millrace.agent.quotas), found " + (queued + 1));
        }
        if (settings.whenFull() != AdmissionSettings.Policy.REJECT || gate.draining()) {
            return Optional.empty();
        }
        if (isFull()) {
            return Optional.of("expected one of " + settings.maxActiveTasks() + " places to be free, found all taken");
        }
        return quotaIsUsed
                ? Optional.of("expected at most " + quota.activeTasks()
                        + " tasks of the namespace to work (millrace.agent.quotas), found as many")
                : Optional.empty();
    }

    /** What asked for the admission of somebody in line; {@code null} only if the store has lost it. */
    @Nullable
    Event cause(Line line) {
        Event asked = asking.get(line.taskKey());
        return asked != null ? asked : store.get(WAITING + line.taskKey()) instanceof Waiting row ? row.cause() : null;
    }

    /** Whoever stands there does so no longer, if anybody still does. */
    void forget(Line line) {
        if (line.equals(lines.get(line.taskKey()))) {
            leave(line);
        }
    }

    /** Writes down who has to wait. At the end of each transaction's turn. */
    void settle() {
        asking.forEach((taskKey, cause) ->
                store.put(WAITING + taskKey, new Waiting(Objects.requireNonNull(lines.get(taskKey)), cause)));
        asking.clear();
    }

    /** Stops to admit, or begins again; {@code null} = begins. What is drained already stays as it is. */
    void drain(@Nullable Drain drain) {
        if (gate.draining() != (drain != null)) {
            gate = new Gate(gate.arrivals(), drain != null, drain);
            store.put(GATE, gate);
        }
    }

    /** Whether nobody is admitted. */
    boolean draining() {
        return gate.draining();
    }

    /** Why nobody is; {@code null} = somebody is, or it is not known. */
    @Nullable
    Drain drain() {
        return gate.drain();
    }

    /** Whether a task of this conversation works, or waits. */
    boolean isBusy(String session) {
        return conversations.containsKey(session);
    }

    /** The task of a conversation that waits for an answer. */
    Optional<Holding> answerable(String session) {
        ConversationQueue conversation = conversations.get(session);
        return conversation == null ? Optional.empty() : conversation.answerable();
    }

    /** Tasks that work. */
    int active() {
        return placesTaken;
    }

    /** Tasks in line. */
    int waiting() {
        return lines.size();
    }

    private long nextArrival() {
        gate = new Gate(gate.arrivals() + 1, gate.draining(), gate.drain());
        store.put(GATE, gate);
        return gate.arrivals();
    }

    private void enter(Line line) {
        lines.put(line.taskKey(), line);
        count(waitingOf, namespace(line.taskKey()), 1);
        conversation(line.session()).add(line);
        refresh(line.session());
    }

    private void leave(Line line) {
        lines.remove(line.taskKey());
        count(waitingOf, namespace(line.taskKey()), -1);
        conversation(line.session()).remove(line);
        if (asking.remove(line.taskKey()) == null) {
            store.put(WAITING + line.taskKey(), null);
        }
        refresh(line.session());
    }

    private void hold(StoredTask task) {
        TaskState state = task.state();
        Holding before = holders.get(task.key());
        Holding after = state.holdsSession()
                ? new Holding(task.key(), task.taskId(), task.conversation(), state.holdsPlace(), state.awaitsAnswer())
                : null;
        if (Objects.equals(before, after)) {
            return;
        }
        boolean placed = before != null && before.place();
        if (after != null && after.place() && !placed) {
            changePlaces(task.namespace(), 1);
            ready.served(priority(state), task.namespace());
        } else if (placed && (after == null || !after.place())) {
            changePlaces(task.namespace(), -1);
        }
        if (after == null) {
            holders.remove(task.key());
            conversation(task.conversation()).release(task.key());
            store.put(HOLDING + task.key(), null);
        } else {
            holders.put(task.key(), after);
            conversation(task.conversation()).hold(after);
            store.put(HOLDING + task.key(), after);
        }
        refresh(task.conversation());
    }

    /** Takes a place for a namespace or gives one back, and has its others wait or go on. */
    private void changePlaces(String namespace, int change) {
        placesTaken += change;
        int taken = count(placesOf, namespace, change);
        Integer quota = settings.quota(namespace).activeTasks();
        if (quota != null && taken >= quota) {
            ready.holdBack(namespace);
        } else {
            ready.letGo(namespace);
        }
    }

    private static int count(Map<String, Integer> counts, String namespace, int change) {
        int now = counts.getOrDefault(namespace, 0) + change;
        if (now == 0) {
            counts.remove(namespace);
        } else {
            counts.put(namespace, now);
        }
        return now;
    }

    private static String namespace(String taskKey) {
        return Event.namespaceOf(taskKey);
    }

    /** Finds out anew whose turn it is in a conversation. */
    private void refresh(String session) {
        ConversationQueue conversation = conversation(session);
        Line next = conversation.next();
        Line before = next == null ? readyOf.remove(session) : readyOf.put(session, next);
        if (before != null) {
            ready.remove(before);
        }
        if (next != null) {
            ready.add(next);
        }
        if (conversation.isEmpty()) {
            conversations.remove(session);
        }
    }

    private ConversationQueue conversation(String session) {
        return conversations.computeIfAbsent(session, key -> new ConversationQueue());
    }

    private static int priority(TaskState state) {
        return state instanceof TaskState.Existing task ? task.context().priority() : Integer.MAX_VALUE;
    }
}
