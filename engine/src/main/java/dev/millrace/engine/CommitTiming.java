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
    /** With more than this under way, four fifths of the time go into work, unless commits are slow. */
    private static final int MUCH = 16;

    private static final int TIMES_ITS_COST = 4;

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
    /** Whether it has asked for a commit in this turn. */
    private boolean asked;

    /**
     * For a processor that {@link MachineStreams} runs, with the commit interval of its settings; to be called from
     * {@code init}, and closed in {@code close}.
     *
     * @param rows a store of it that is cached; its changes go with what else the machines of the thread send
     * @param underWay how many things of its partition are being done now, each of which may soon have something to
     *     commit; those of the thread's other machines are added to them, and records that wait to be taken
     */
    public static CommitTiming of(ProcessorContext<?, ?> context, StateStore rows, IntSupplier underWay) {
        Duration interval = context.appConfigs().get(MachineStreams.MACHINE_COMMIT_INTERVAL_MS) instanceof Long millis
                ? Duration.ofMillis(millis)
                : OTHERWISE;
        CommitTiming commits =
                new CommitTiming(context::commit, interval, CommitTimes.ofThread(), underWay, () -> flushCacheOf(rows));
        // whenever the thread comes by; that it does so in time is what CommitTimes is for
        context.schedule(Duration.ofMillis(1), PunctuationType.WALL_CLOCK_TIME, now -> {
            commits.ofThread.punctuated(now);
            commits.timePassed(now);
        });
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

    /** When it asks for a commit, in Unix milliseconds; {@link Long#MAX_VALUE} = there is no need to. */
    long dueMs() {
        return sent && !asked ? sentIsDueMs() : Long.MAX_VALUE;
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

    /** How many things are being done now, see {@link #of}. */
    int underWay() {
        return underWay.getAsInt();
    }

    /** The thread has polled. If it was asked for a commit before and did not make one, it is asked again. */
    void turns(long now) {
        nowMs = now;
        asked = false;
    }

    /** Nothing is being taken. */
    void timePassed(long now) {
        nowMs = now;
        commitIfDue();
    }

    private void commitIfDue() {
        boolean clockWasSetBack = nowMs < ofThread.committedMs() || nowMs < sentMs;
        if (sent && !asked && (clockWasSetBack || nowMs >= sentIsDueMs())) {
            asked = true;
            commit.run();
        }
    }

    /** Everything that was sent on this thread is being committed, whoever asked for it. */
    void commits() {
        sent = false;
        awaited = false;
        asked = false;
    }

    private long sentIsDueMs() {
        int things = ofThread.underWay() + ofThread.polled();
        double costMs = ofThread.costMs();
        long longest = LONGEST_INTERVALS * intervalMs;
        // a commit for each few records would take all of the time, and leave ever more of them waiting
        long atLeast = costMs > intervalMs ? Math.min((long) costMs, longest) : 0;
        long gathered = things <= LITTLE ? 0 : Math.max(Math.min(things, intervalMs), atLeast);
        long unawaited = sentMs + Math.max(intervalMs, atLeast);
        // what nobody waits for goes with what somebody does, if that comes in time
        long due = awaited ? Math.min(awaitedMs + gathered, unawaited) : unawaited;
        return things <= MUCH
                ? due
                : Math.max(due, ofThread.committedMs() + Math.min((long) (TIMES_ITS_COST * costMs), longest));
    }
}
