package dev.millrace.requests;

import java.time.Duration;
import org.apache.kafka.clients.consumer.AcknowledgeType;

/** Does one job from the record to its end, and settles it. Runs on the job's own thread. */
final class JobRunner {
    private final Work work;
    private final Counters counters;

    JobRunner(Work work, Counters counters) {
        this.work = work;
        this.counters = counters;
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
        Once done = new Once(workDone);
        AcknowledgeType outcome = AcknowledgeType.RELEASE;
        long begun = System.nanoTime();
        try {
            counters.taken(job.deliveryCount(), waited(job));
            outcome = work.process(job, done);
        } catch (InterruptedException e) {
            counters.returned();
        } finally {
            // also when an Error ends this thread: the request then goes back and is counted as delivered once more
            done.run();
            job.settle(outcome);
            counters.ended(meaning(outcome), Duration.ofNanos(System.nanoTime() - begun));
        }
    }

    private static WorkerMetrics.Outcome meaning(AcknowledgeType outcome) {
        return switch (outcome) {
            case ACCEPT -> WorkerMetrics.Outcome.REPLIED;
            case REJECT -> WorkerMetrics.Outcome.DEAD_LETTERED;
            case RELEASE, RENEW -> WorkerMetrics.Outcome.RETURNED;
        };
    }

    private static Duration waited(Job job) {
        long ms = System.currentTimeMillis() - job.consumed().timestamp();
        return Duration.ofMillis(Math.max(0, ms));
    }

    /** Runs something at most once. For one thread. */
    private static final class Once implements Runnable {
        private final Runnable action;
        private boolean ran;

        Once(Runnable action) {
            this.action = action;
        }

        @Override
        public void run() {
            if (!ran) {
                ran = true;
                action.run();
            }
        }
    }
}
