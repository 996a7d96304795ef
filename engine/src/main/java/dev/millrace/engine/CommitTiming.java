package dev.millrace.engine;

import java.time.Duration;
import java.util.function.IntSupplier;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.state.internals.CachedStateStore;

/**
 * Decides when a machine commits. A commit costs about the same for one record as for a thousand, and nobody sees
 * anything before it. So where little is under way, there is a commit as soon as somebody waits for what was sent.
 * Where more is, results are gathered: a millisecond for each thing under way, up to the commit interval, and where
 * commits are slow for as long as one takes, so that half of the time goes into work; with much under way, most of it.
 * For one stream thread.
 */
public final class CommitTiming implements AutoCloseable {

    /** However slow commits are, results are gathered for at most so many commit intervals. */
    static final int LONGEST_INTERVALS = 10;

    /** Outside of {@link MachineStreams}, in a test. */
    private static final Duration OTHERWISE = Duration.ofMillis(20);

    /** With so little under way there is nothing to gather. */
    private static final int LITTLE = 2;
    /** With more than this under way, seven eighths of the time go into work, unless commits are slow. */
    private static final int MUCH = 16;

    private static final int TIMES_ITS_COST = 8;
    /** Over so many commits what they cost is averaged, roughly. */
    private static final int OF_LATE = 4;

    private static final int LITTLE_COST_MS = 4;

    private final Runnable commit;
    private final long intervalMs;
    private final CommitTimes ofThread;
    private final IntSupplier underWay;
    private final Runnable sendRows;
    private boolean sent;
    private boolean awaited;
    /** When the first of it was sent, and when the first that somebody waits for. */
    private long sentMs;

    private long awaitedMs;

    private long nowMs;
    private long askedMs;
    /** The same, or when the thread was back from that commit, if commits are slow. */
    private long backMs;
    /** Whether the thread has not been back since. */
    private boolean asked;
    /**
     * The longest time since the last question in which this thread was elsewhere: in the commit, if there was no
     * pause.
     */
    private long longestAwayMs;

    private double costMs;

    /**
     * For a processor that {@link MachineStreams} runs, with the commit interval of its settings; to be called from
     * {@code init}, and closed in {@code close}.
     *
     * @param rows a store of it that is cached; its changes go with what else the machines of the thread send
     * @param underWay how many things are being done now, each of which may soon have something to commit; records that
     *     wait to be taken are added to them
     */
    public static CommitTiming of(ProcessorContext<?, ?> context, StateStore rows, IntSupplier underWay) {
        Duration interval = context.appConfigs().get(MachineStreams.MACHINE_COMMIT_INTERVAL_MS) instanceof Long millis
                ? Duration.ofMillis(millis)
                : OTHERWISE;
        CommitTiming commits =
                new CommitTiming(context::commit, interval, CommitTimes.ofThread(), underWay, () -> flushCacheOf(rows));
        // whenever the thread comes by; that it does so in time is what CommitTimes is for
        context.schedule(Duration.ofMillis(1), PunctuationType.WALL_CLOCK_TIME, commits::timePassed);
        return commits;
    }

    /** That asks for commits in this way, on a thread that looks after these. */
    CommitTiming(Runnable commit, Duration interval, CommitTimes ofThread, IntSupplier underWay, Runnable sendRows) {
        this.commit = commit;
        this.intervalMs = Math.max(1, interval.toMillis());
        this.ofThread = ofThread;
        this.underWay = underWay;
        this.sendRows = sendRows;
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
     */
    public void taken(long now) {
        ofThread.taken();
        timePassed(now);
    }

    /**
     * Something is being taken that did not come as a record.
     *
     * @param now Unix milliseconds
     */
    public void handed(long now) {
        timePassed(now);
    }

    /**
     * Something was sent with what is being taken, and somebody waits for it, who sees nothing before the commit.
     */
    public void awaited() {
        sent();
        if (!awaited) {
            awaited = true;
            awaitedMs = nowMs;
        }
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

    /** Has the cache of its rows send their changes, which otherwise happens when Streams commits its partition. */
    void sendRows() {
        sendRows.run();
    }

    private static void flushCacheOf(StateStore rows) {
        // a partition that was closed after a failure may not have said so yet
        if (rows instanceof CachedStateStore<?, ?> cached && rows.isOpen()) {
            cached.flushCache();
        }
    }

    /** Whether anything is being done now, see {@link #of}. */
    boolean isAnyUnderWay() {
        return underWay.getAsInt() > 0;
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
        if (asked && isSlow() && now - nowMs >= costMs / 2) {
            // That was the commit, and what was sent before it is not due at once afterwards. But it may have been a
            // pause of the process after a quick commit, so it is not forgotten either.
            asked = false;
            backMs = now;
            sentMs = now;
            awaitedMs = now;
        }
        nowMs = now;
    }

    private void commitIfDue() {
        boolean clockWasSetBack = nowMs < askedMs || nowMs < sentMs;
        if (sent && (clockWasSetBack || nowMs >= sentIsDueMs())) {
            // the mean of what commits took of late; a pause counts as a commit that is no more than somewhat longer
            costMs += (Math.min((double) longestAwayMs, 2 * costMs + LITTLE_COST_MS) - costMs) / OF_LATE;
            commit.run();
            ofThread.commits(nowMs, costMs);
        }
    }

    /** Everything that was sent on this thread is being committed, whoever asked for it. */
    void isCommitted(long now, double cost) {
        longestAwayMs = 0;
        sent = false;
        awaited = false;
        askedMs = now;
        backMs = now;
        asked = true;
        costMs = cost;
    }

    private long sentIsDueMs() {
        int things = underWay.getAsInt() + ofThread.polled();
        long longest = LONGEST_INTERVALS * intervalMs;
        // a commit for each few records would take all of the time, and leave ever more of them waiting
        long atLeast = isSlow() ? Math.min((long) costMs, longest) : 0;
        long gathered = things <= LITTLE ? 0 : Math.max(Math.min(things, intervalMs), atLeast);
        long unawaited = sentMs + Math.max(intervalMs, atLeast);
        // what nobody waits for goes with what somebody does, if that comes in time
        long due = awaited ? Math.min(awaitedMs + gathered, unawaited) : unawaited;
        return things <= MUCH ? due : Math.max(due, backMs + Math.min((long) (TIMES_ITS_COST * costMs), longest));
    }

    private boolean isSlow() {
        return costMs > intervalMs;
    }
}
