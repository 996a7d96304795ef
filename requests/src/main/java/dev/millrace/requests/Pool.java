package dev.millrace.requests;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the consumers of one worker share. Safe for all threads. */
final class Pool {
    private static final Logger LOGGER = LoggerFactory.getLogger(RequestWorker.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final int LONGEST_PAUSE_STEPS = 6;

    private final WorkerSettings settings;
    private final PollTurns turns;
    private final JobRunner runner;
    private final int partitions;
    private final Set<Job> running = ConcurrentHashMap.newKeySet();
    private final AtomicInteger failures = new AtomicInteger();
    private volatile long pauseEnd = System.nanoTime();

    Pool(WorkerSettings settings, PollTurns turns, JobRunner runner, int partitions) {
        this.settings = settings;
        this.turns = turns;
        this.runner = runner;
        this.partitions = partitions;
    }

    WorkerSettings settings() {
        return settings;
    }

    PollTurns turns() {
        return turns;
    }

    /** With one partition every member of the group gets from it; with more, each member has only some of them. */
    boolean everyMemberHasAll() {
        return partitions == 1;
    }

    /** Starts a job that a permit of this seat is there for, and that gives it back. */
    void start(Job job, PollTurns.Seat seat) {
        running.add(job);
        job.start(() -> {
            try {
                runner.run(job, () -> turns.finished(seat));
            } finally {
                running.remove(job);
            }
        });
    }

    /** Whether no job runs. */
    boolean isIdle() {
        return running.isEmpty();
    }

    /** Interrupts all jobs that run. */
    void interruptJobs() {
        running.forEach(Job::interrupt);
    }

    /** A consumer is of no use any more; no new one is made for a while, longer each time. */
    void failed(RuntimeException failure) {
        int steps = Math.min(failures.getAndIncrement(), LONGEST_PAUSE_STEPS);
        Duration pause = FIRST_PAUSE.multipliedBy(1L << steps);
        pauseEnd = System.nanoTime() + pause.toNanos();
        LOGGER.atWarn()
                .addKeyValue("topic", settings.topic())
                .addKeyValue("reason", failure.toString())
                .addKeyValue("pauseMs", pause.toMillis())
                .log(
                        failure instanceof UnsupportedVersionException
                                ? "The broker knows no share groups: Kafka 4.2 or newer is needed, with share.version=1"
                                : "A share consumer failed, another one takes its place");
    }

    /** A consumer has got something: all is well. */
    void succeeded() {
        if (failures.get() > 0) {
            failures.set(0);
        }
    }

    /** Whether a consumer failed a moment ago and no new one is to be made yet. */
    boolean isPausing() {
        return failures.get() > 0 && pauseEnd - System.nanoTime() > 0;
    }
}
