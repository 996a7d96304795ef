package dev.millrace.agent.topology;

import dev.millrace.agent.core.TranscriptEntry;
import java.util.List;
import java.util.Optional;

/** Where the thinker reads what the model is shown. Safe for any thread. */
public interface Transcripts {

    /**
     * The first {@link OutstandingCall#transcriptLength} entries of the call's task, in order.
     *
     * @return empty if this instance does not have the task (any more): another one makes the call
     */
    Optional<List<TranscriptEntry>> read(int partition, OutstandingCall call) throws InterruptedException;
}
