package dev.millrace.requests;

import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Takes requests from one request topic and has them done, for as long as it is open. Started by {@link #start}.
 *
 * <p>Promised: a request leaves the topic only after the broker has acknowledged its reply, or its dead letter. A
 * request is not given to anyone else while its job runs, however long it takes and whoever else comes or goes. What a
 * killed worker held goes to another one at once; what a silent one held, after the lock's time. A slow job holds up no
 * other one while {@link WorkerSettings#maxConcurrent} is not reached. A request that cannot be read, or that was
 * delivered too often, ends as a dead letter, and the rest goes on. Not promised: that a job runs only once.
 *
 * <p>Without a broker the worker waits and tries again; it never fails.
 */
public interface RequestWorker extends AutoCloseable {

    /**
     * Starts a worker and returns at once; requests come as soon as the broker can be reached.
     *
     * @param meters gets {@code millrace.requests.…}, by the toolset
     */
    static RequestWorker start(WorkerSettings settings, RequestHandler handler, MeterRegistry meters) {
        return ShareGroupWorker.start(settings, outbox -> new CallWork(settings, handler, outbox), meters);
    }

    /** The same for a topic of events that nobody waits for an answer to. */
    static RequestWorker startNotices(WorkerSettings settings, NoticeHandler handler, MeterRegistry meters) {
        return ShareGroupWorker.start(settings, outbox -> new NoticeWork(settings, handler, outbox), meters);
    }

    /** The same for a topic that has both: what is no tool call is an event that nobody waits for an answer to. */
    static RequestWorker start(
            WorkerSettings settings, RequestHandler calls, NoticeHandler notices, MeterRegistry meters) {
        return ShareGroupWorker.start(
                settings,
                outbox -> {
                    CallWork callWork = new CallWork(settings, calls, outbox);
                    NoticeWork noticeWork = new NoticeWork(settings, notices, outbox);
                    return (job, workDone) ->
                            isCall(job) ? callWork.process(job, workDone) : noticeWork.process(job, workDone);
                },
                meters);
    }

    private static boolean isCall(Job job) {
        try {
            return job.event().type() == KnownEventType.TOOL_CALL_REQUESTED;
        } catch (MalformedEventException e) {
            // of either kind it becomes a dead letter
            return false;
        }
    }

    /** Whether requests are being taken: the topic is there, the group is set up and the broker has answered lately. */
    boolean isReady();

    /**
     * Stops: takes no more requests, lets running jobs finish for the grace period, interrupts the rest, gives their
     * requests back to the topic, and returns. A second call does nothing.
     */
    @Override
    void close();
}
