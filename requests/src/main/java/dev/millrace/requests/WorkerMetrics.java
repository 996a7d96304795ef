package dev.millrace.requests;

import java.time.Duration;

/** Is told what a worker does, as it happens. Called by many threads; must neither block nor throw. */
public interface WorkerMetrics {

    /** Listens to nothing. */
    WorkerMetrics NONE = new WorkerMetrics() {
        @Override
        public void begun(Duration waited, int deliveryCount) {}

        @Override
        public void ended(Outcome outcome, Duration ran) {}

        @Override
        public void backlog(long requests) {}
    };

    /** What became of a delivered request. */
    enum Outcome {
        /** A reply is on its lane. */
        REPLIED,
        /** It could not be read, or was delivered too often. */
        DEAD_LETTERED,
        /** It went back to the topic unanswered, and will be delivered again. */
        RETURNED
    }

    /**
     * A request was delivered and is begun.
     *
     * @param waited since the time that its record bears; zero if that is in the future
     * @param deliveryCount how often it has been delivered, this time included; more than 1 = a redelivery
     */
    void begun(Duration waited, int deliveryCount);

    /** A request that was begun is done with, its reply or dead letter acknowledged. */
    void ended(Outcome outcome, Duration ran);

    /**
     * Every few seconds: how many requests are on the topic that nobody has finished, those that run included. What the
     * broker says, so it counts the markers of transactions as well for a moment, and the whole group. Not called while
     * the broker does not say.
     */
    void backlog(long requests);
}
