package dev.millrace.agent.topology;

import dev.millrace.agent.core.TranscriptEntry;
import java.util.List;
import java.util.Optional;

/** Where the thinker reads what the model is shown. Safe for any thread. */
public interface Transcripts {

    /**
     * What {@link OutstandingCall#shown} says of the call's task: the summary, if there is one, then the other entries
     * in order.
     *
     * @return empty if this instance does not have the task (any more): another one makes the call
     */
    Optional<List<TranscriptEntry>> read(int partition, OutstandingCall call) throws InterruptedException;

    /** The task makes no model call for the time being, so nothing of its transcript need be kept in memory. */
    default void release(String taskKey) {}
}
