package dev.millrace.agent.topology;

import dev.millrace.schemas.Event;
import org.jspecify.annotations.Nullable;

/** One row of the store of admission; together they are everything that has to survive a restart. */
sealed interface AdmissionRow {

    /**
     * A task in line.
     *
     * @param line where it stands
     * @param cause the event that asked for admission: the parent of what follows when the turn has come
     */
    record Waiting(Line line, Event cause) implements AdmissionRow {}

    /**
     * A task that others have to wait for.
     *
     * @param taskKey its row
     * @param taskId its id within its namespace
     * @param session its conversation, see {@link StoredTask#conversation()}
     * @param place whether it works and so takes one of the places
     * @param answerable whether the next message of its conversation is the answer that it waits for
     */
    record Holding(String taskKey, String taskId, String session, boolean place, boolean answerable)
            implements AdmissionRow {}

    /**
     * The partition as a whole.
     *
     * @param arrivals how many tasks have come so far; the number of the latest
     * @param draining whether nothing is admitted
     * @param drain why; {@code null} = tasks are admitted, or a version before this one has closed it
     */
    record Gate(long arrivals, boolean draining, @Nullable Drain drain) implements AdmissionRow {}

    /**
     * A place in the line. Their order is that of one namespace; several take turns.
     *
     * @param taskKey the row of the task
     * @param session its conversation
     * @param priority lower goes first
     * @param arrival the lower of two equals goes first; no two tasks of a partition have the same
     */
    record Line(String taskKey, String session, int priority, long arrival) implements Comparable<Line> {
        @Override
        public int compareTo(Line other) {
            int byPriority = Integer.compare(priority, other.priority);
            return byPriority != 0 ? byPriority : Long.compare(arrival, other.arrival);
        }
    }
}
