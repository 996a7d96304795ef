package dev.millrace.agent.topology;

import dev.millrace.agent.core.DiscardReason;
import dev.millrace.schemas.EventType;

/** What the shell counts. Called on stream threads; must not block. */
public interface ShellMetrics {

    /** An event was taken and moved a task, or was only recorded. */
    void accepted(EventType type);

    /** An event changed nothing. */
    void discarded(EventType type, DiscardReason reason);

    /** A record went to the dead letters. */
    void deadLettered(String reason);

    /** A record was sent to the partition that its key belongs on. */
    void rerouted();

    /**
     * A processor has looked at an event.
     *
     * @param outcome {@code passed}, {@code overwritten} or {@code failed}
     */
    void processed(String processor, String outcome);

    /** A task was admitted although all places are taken, because the settings say so. */
    void admittedOverLimit();
}
