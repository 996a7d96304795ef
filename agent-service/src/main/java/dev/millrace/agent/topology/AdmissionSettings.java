package dev.millrace.agent.topology;

/**
 * How many tasks work at the same time.
 *
 * @param maxActiveTasks places per partition, 1 or more
 * @param whenFull what happens to a new task that finds none free
 */
public record AdmissionSettings(int maxActiveTasks, Policy whenFull) {

    /** What happens to a task that finds no place free. */
    public enum Policy {
        /** It waits. */
        QUEUE,
        /** It is admitted all the same, counted and logged. */
        WARN,
        /** It fails at once if it is new; one that goes on after a suspension waits. */
        REJECT
    }

    public AdmissionSettings {
        if (maxActiveTasks < 1) {
            throw new IllegalArgumentException(
                    "millrace.agent.admission.max-active-tasks: expected 1 or more, found " + maxActiveTasks);
        }
    }
}
