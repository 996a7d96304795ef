package dev.millrace.engine;

import dev.millrace.kafka.Rush;
import java.time.Duration;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;

/**
 * Decides when a machine commits. A commit costs about the same for one record as for a thousand, and nobody sees
 * anything before it. So while there is little to do, there is a commit as soon as somebody waits for what was sent;
 * while there is much, results are gathered for the commit interval, and where commits are slow for longer, so that
 * most of the time goes into work. For one stream thread.
 */
public final class CommitTiming implements AutoCloseable {

    /** However slow commits are, results are gathered for at most so many commit intervals. */
    static final int LONGEST_INTERVALS = 10;

    /** Outside of {@link MachineStreams}, in a test. */
    private static final Duration OTHERWISE = Duration.ofMillis(20);

    /** So many records in one interval are little. */
    private static final int FEW = 8;
    /** While there is much to do, three quarters of the time go into work. */
    private static final int TIMES_ITS_COST = 4;

    private final Runnable commit;
    private final long intervalMs;
    private final CommitTimes ofThread;
    private final Rush rush;
    private boolean waited;
    private boolean sent;
    private boolean awaited;
    /** When the first of it was sent. */
    private long sentMs;

    private long nowMs;
    private long askedMs;
    /**
     * The longest time since the last question in which this thread was elsewhere: in the commit, if there was no
     * pause.
     */
    private long longestAwayMs;

    private long costMs;

    /**
     * For a processor that {@link MachineStreams} runs, with the commit interval of its settings; to be called from
     * {@code init}, and closed in {@code close}.
     */
    public static CommitTiming of(ProcessorContext<?, ?> context) {
        Duration interval = context.appConfigs().get(MachineStreams.MACHINE_COMMIT_INTERVAL_MS) instanceof Long millis
                ? Duration.ofMillis(millis)
                : OTHERWISE;
        CommitTiming commits = new CommitTiming(context::commit, interval, CommitTimes.ofThread());
        // whenever the thread comes by; that it does so in time is what CommitTimes is for
        context.schedule(Duration.ofMillis(1), PunctuationType.WALL_CLOCK_TIME, commits::timePassed);
        return commits;
    }

    /** That asks for commits in this way, on a thread that looks after these. */
    CommitTiming(Runnable commit, Duration interval, CommitTimes ofThread) {
        this.commit = commit;
        this.intervalMs = Math.max(1, interval.toMillis());
        this.ofThread = ofThread;
        this.rush = new Rush(() -> nowMs, intervalMs, FEW);
        ofThread.add(this);
    }

    /** Its processor is closed: the thread need not look after it any more. */
    @Override
    public void close() {
        ofThread.remove(this);
    }

    /**
     * A record is being taken.
     *
     * @param now Unix milliseconds
     * @param dated its date, in Unix milliseconds: if it has waited, others have as well, however few have been taken
     */
    public void taken(long now, long dated) {
        moveOn(now);
        boolean unused = rush.another();
        waited = now - dated >= intervalMs;
        commitIfDue();
    }

    /**
     * Something was sent with the record that is being taken, and somebody waits for it, who sees nothing before the
     * commit.
     */
    public void awaited() {
        sent();
        awaited = true;
        commitIfDue();
    }

    /** Something was sent with the record that is being taken, which somebody may watch. */
    public void sent() {
        if (!sent) {
            sent = true;
            sentMs = nowMs;
        }
    }

    /** When the next commit is due, in Unix milliseconds; {@link Long#MAX_VALUE} = nothing is to be committed. */
    long dueMs() {
        return sent ? sentIsDueMs() : Long.MAX_VALUE;
    }

    /** The thread begins to wait for records. */
    void pauses(long now) {
        moveOn(now);
    }

    /** It has waited, which is no work and no commit. */
    void resumes(long now) {
        nowMs = now;
    }

    /** Nothing is being taken. */
    void timePassed(long now) {
        moveOn(now);
        commitIfDue();
    }

    private void moveOn(long now) {
        longestAwayMs = Math.max(longestAwayMs, now - nowMs);
        nowMs = now;
        boolean unused = rush.isOn(); // a window ends by the clock, not by the next record
    }

    private void commitIfDue() {
        boolean clockWasSetBack = nowMs < askedMs || nowMs < sentMs;
        if (sent && (clockWasSetBack || nowMs >= sentIsDueMs())) {
            // a pause counts as a long commit; the next ones put that right
            costMs = Math.min(longestAwayMs, costMs + Math.max(1, costMs / 2));
            longestAwayMs = 0;
            sent = false;
            awaited = false;
            askedMs = nowMs;
            commit.run();
        }
    }

    private long sentIsDueMs() {
        boolean little = !waited && !rush.isOn();
        if (little) {
            // what nobody waits for goes with what somebody does, if that comes in time
            return awaited ? askedMs : sentMs + intervalMs;
        }
        return askedMs + Math.clamp(TIMES_ITS_COST * costMs, intervalMs, LONGEST_INTERVALS * intervalMs);
    }
}
