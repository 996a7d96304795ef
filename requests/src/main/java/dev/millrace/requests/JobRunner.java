package dev.millrace.requests;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does one job from the record to its end, and settles it. Runs on the job's own thread. */
final class JobRunner {
    private static final Logger LOGGER = LoggerFactory.getLogger(RequestWorker.class);

    private final Work work;
    private final WorkerMeters meters;

    JobRunner(Work work, WorkerMeters meters) {
        this.work = work;
        this.meters = meters;
    }

    /** What is done with one record. */
    @FunctionalInterface
    interface Work {

        /**
         * Does it, until the broker has what came of it.
         *
         * @param workDone to be called once, as soon as another job may start
         * @return what becomes of the record on its topic
         */
        AcknowledgeType process(Job job, Runnable workDone) throws InterruptedException;
    }

    /**
     * Does the job and settles it.
     *
     * @param workDone called once, as soon as another job may start: the reply may still be on its way then
     */
    void run(Job job, Runnable workDone) {
        AtomicBoolean told = new AtomicBoolean();
        Runnable done = () -> {
            if (told.compareAndSet(false, true)) {
                workDone.run();
            }
        };
        AcknowledgeType outcome = AcknowledgeType.RELEASE;
        long begun = System.nanoTime();
        try {
            meters.begun(job);
            outcome = work.process(job, done);
        } catch (InterruptedException e) {
            LOGGER.debug("Interrupted: the request goes back to the topic");
        } finally {
            // also when an Error ends this thread: the request then goes back and is counted as delivered once more
            done.run();
            job.settle(outcome);
            meters.ended(outcome, Duration.ofNanos(System.nanoTime() - begun));
        }
    }
}
