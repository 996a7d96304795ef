package dev.millrace.requests;

/**
 * What a worker does now and has done since its start.
 *
 * @param running jobs that run now
 * @param consumers share consumers that are open now
 * @param taken requests that were delivered to this worker
 * @param redelivered those of them that had been delivered before, here or elsewhere
 * @param replied replies that the broker has acknowledged
 * @param deadLettered requests that could not be read or were delivered too often
 * @param returned requests that were given back unanswered at shutdown
 * @param renewed how often the lock on a request was renewed because its job still ran
 * @param backlog requests on the topic that nobody in the group has finished, a few seconds ago; {@link #UNKNOWN} if
 *     the broker has not said
 */
public record WorkerStats(
        int running,
        int consumers,
        long taken,
        long redelivered,
        long replied,
        long deadLettered,
        long returned,
        long renewed,
        long backlog) {

    /** In {@link #backlog}: not known. */
    public static final long UNKNOWN = -1;
}
