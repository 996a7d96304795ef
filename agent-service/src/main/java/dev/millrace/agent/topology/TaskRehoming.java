package dev.millrace.agent.topology;

import dev.millrace.agent.topology.AdmissionRow.Gate;
import dev.millrace.agent.topology.AdmissionRow.Holding;
import dev.millrace.agent.topology.AdmissionRow.Line;
import dev.millrace.agent.topology.AdmissionRow.Waiting;
import dev.millrace.engine.Rehoming;
import dev.millrace.engine.StoreSection;
import dev.millrace.schemas.Event;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Moves the rows of the task machine. Numbers that are unique on a partition, as those of the line for admission, are
 * numbered anew, so that they are unique wherever rows of several partitions meet, and keep their order. Remembers
 * which session each task is of, which takes some hundred bytes for each task that has one.
 */
public final class TaskRehoming implements Rehoming {

    /** The stores that have something to move, by name. */
    public static final List<String> STORES = List.of(TaskStores.ROWS, TaskStores.SEEN, TaskStores.CANCELS);

    /** The header of a record on a lane that concerns every partition, and has been sent to each by the machine. */
    public static final String TO_EVERY_PARTITION = Outbox.BROADCAST;

    private final int from;
    private final int to;
    private final List<Kind<?>> kinds;
    /** The session key of each task that has a session, by the task's key. */
    private final Map<String, String> sessions = new HashMap<>();

    private @Nullable Gate gate;

    /** Rows that go, as they are, to where the events of a conversation come. */
    private record Kind<V>(StoreSection<V> section, SessionKey<V> sessionKey) {
        String sessionKey(Row row) {
            return sessionKey.of(section.keyIn(row.key()), section.valueIn(row.value()));
        }
    }

    /** Says what key the events have that a row belongs to. */
    private interface SessionKey<V> {
        String of(String key, V value);
    }

    /**
     * From an installation to another one.
     *
     * @param from how many partitions the one has, 1 or more
     * @param to how many the other one has, 1 or more
     */
    public TaskRehoming(int from, int to) {
        this.from = from;
        this.to = to;
        this.kinds = List.of(
                new Kind<>(TaskStores.TRANSCRIPTS, (key, entry) -> ofTask(TaskStores.firstPart(key))),
                new Kind<>(TaskStores.CALLS, (key, call) -> ofTask(call.taskKey())),
                new Kind<>(TaskStores.LOCAL_CALLS, (key, request) -> request.sessionKey()),
                new Kind<>(TaskStores.SESSIONS, (key, session) -> ofConversation(key)),
                new Kind<>(TaskStores.HISTORY, (key, told) -> ofConversation(TaskStores.firstPart(key))),
                new Kind<>(TaskStores.TIMERS, (key, taskKey) -> ofTask(taskKey)),
                new Kind<>(TaskStores.GIVEN, (key, message) -> ofTask(key)),
                new Kind<>(TaskStores.HELD, (key, held) -> held.event().sessionKey()));
    }

    @Override
    public Optional<String> obstacle(Row row) {
        if (!row.store().equals(TaskStores.ROWS) || !TaskStores.FORGOTTEN.has(row.key())) {
            return Optional.empty();
        }
        TaskForgetting.Row forgetting = TaskStores.FORGOTTEN.valueIn(row.value());
        return forgetting.done()
                ? Optional.empty()
                : Optional.of("the request " + forgetting.request().id() + " to forget "
                        + forgetting.scope().kind().wireName() + " of the namespace "
                        + forgetting.scope().namespace() + " is not done on partition " + row.partition());
    }

    @Override
    public void look(Row row) {
        if (!row.store().equals(TaskStores.ROWS)) {
            return;
        }
        if (TaskStores.TASKS.has(row.key())) {
            StoredTask task = TaskStores.TASKS.valueIn(row.value());
            if (task.sessionId() != null) {
                sessions.put(task.key(), Event.qualified(task.namespace(), task.sessionId()));
            }
        } else if (TaskStores.HISTORY.has(row.key())) {
            // transcripts outlive their tasks' rows where a session's history refers to them
            String session = ofConversation(TaskStores.firstPart(TaskStores.HISTORY.keyIn(row.key())));
            String taskId = TaskStores.HISTORY.valueIn(row.value()).taskId();
            sessions.put(Event.qualified(Event.namespaceOf(session), taskId), session);
        }
    }

    @Override
    public void place(Row row, Rows rows) {
        switch (row.store()) {
            case TaskStores.ROWS -> placeRow(row, rows);
            // an id does not say of which conversation it was; kept for a while on all of them it does no harm
            case TaskStores.SEEN -> {
                if (from == to) {
                    rows.put(row.partition(), row.key(), row.value());
                } else {
                    everywhere(row.key(), row.value(), rows);
                }
            }
            case TaskStores.CANCELS -> {
                Event cancel = StoreSerdes.EVENT.deserializer().deserialize("", row.value());
                rows.put(home(cancel.sessionKey()), row.key(), row.value());
            }
            default -> throw new IllegalArgumentException("a store that this version does not know: " + row.store());
        }
    }

    private void placeRow(Row row, Rows rows) {
        if (TaskStores.TASKS.has(row.key())) {
            StoredTask task = TaskStores.TASKS.valueIn(row.value());
            byte[] value = task.arrival() == 0
                    ? row.value()
                    : TaskStores.TASKS.storeValue(task.arrived(renumbered(task.arrival(), row)));
            rows.put(home(ofTask(task.key())), row.key(), value);
        } else if (TaskStores.ADMISSION.has(row.key())) {
            placeAdmission(TaskStores.ADMISSION.valueIn(row.value()), row, rows);
        } else if (TaskStores.PROCESSING.has(row.key())) {
            String key = TaskStores.PROCESSING.keyIn(row.key());
            String line = TaskStores.PROCESSING.valueIn(row.value()).line();
            String renumbered = Processing.numbered(key, renumbered(Processing.number(key), row));
            rows.put(home(line), TaskStores.PROCESSING.storeKey(renumbered), row.value());
        } else if (TaskStores.FORGOTTEN.has(row.key()) || TaskStores.SCHEDULES.has(row.key())) {
            // of a schedule, the partition that has it goes on with it, and all others remove the row after a while
            everywhere(row.key(), row.value(), rows);
        } else if (!TaskStores.ENDED.has(row.key()) && !TaskStores.USED_SESSIONS.has(row.key())) {
            Kind<?> kind = kinds.stream()
                    .filter(one -> one.section().has(row.key()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(
                            "a kind of rows that this version does not know: " + (char) row.key()[0]));
            rows.put(home(kind.sessionKey(row)), row.key(), row.value());
        } // else an index, which the machine makes anew from the rows
    }

    private void placeAdmission(AdmissionRow admission, Row row, Rows rows) {
        switch (admission) {
            case Gate found -> {
                Gate before = gate == null ? new Gate(0, false, null) : gate;
                gate = new Gate(
                        Math.max(before.arrivals(), found.arrivals()),
                        before.draining() || found.draining(),
                        before.drain() == null ? found.drain() : before.drain());
            }
            case Waiting waiting -> {
                Line line = waiting.line();
                Line moved = new Line(line.taskKey(), line.session(), line.priority(), renumbered(line.arrival(), row));
                rows.put(
                        home(ofTask(line.taskKey())),
                        row.key(),
                        TaskStores.ADMISSION.storeValue(new Waiting(moved, waiting.cause())));
            }
            case Holding holding -> rows.put(home(ofTask(holding.taskKey())), row.key(), row.value());
        }
    }

    @Override
    public void finish(String store, Rows rows) {
        Gate all = gate;
        if (store.equals(TaskStores.ROWS) && all != null) {
            // behind every number that a row has got
            Gate moved = new Gate((all.arrivals() + 1) * from, all.draining(), all.drain());
            everywhere(TaskStores.ADMISSION.storeKey(Admission.GATE), TaskStores.ADMISSION.storeValue(moved), rows);
        }
    }

    private long renumbered(long number, Row row) {
        return number * from + row.partition();
    }

    private void everywhere(byte[] key, byte[] value, Rows rows) {
        IntStream.range(0, to).forEach(partition -> rows.put(partition, key, value));
    }

    private int home(String sessionKey) {
        return Rehoming.home(sessionKey, to);
    }

    /** The key of the events of a task: that of its session, or its own. */
    private String ofTask(String taskKey) {
        return sessions.getOrDefault(taskKey, taskKey);
    }

    private static String ofConversation(String conversation) {
        return conversation.substring(conversation.indexOf(' ') + 1);
    }
}
