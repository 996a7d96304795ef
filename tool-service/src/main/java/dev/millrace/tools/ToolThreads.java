package dev.millrace.tools;

import dev.millrace.tool.api.ToolException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The threads that tools run on. Each call has one of the platform's: the scheduler of virtual threads takes none away
 * from who computes, so a few such tools would stop all else in the process, their own time-outs included. A thread
 * that has done its work takes the next call's, so a tool may find what another one has left in thread-locals. A thread
 * that is interrupted and goes on is stuck; there may be so many of them and no more. Safe for any thread.
 */
public final class ToolThreads {

    /** How many threads may be stuck when nothing else is set. */
    public static final int DEFAULT_MAX_STUCK = 16;

    /** How long a thread may take to heed its interrupt. */
    static final Duration HEEDED_WITHIN = Duration.ofSeconds(2);

    private static final long IDLE_SECONDS = 30;

    private final int maxStuck;
    private final LongSupplier nanoTime;
    /** As many as there are calls, which others bound. */
    private final ExecutorService threads = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            Thread.ofPlatform().daemon().name("tool-call-", 0).factory());
    /** Those that nobody waits for any more, with the moment since when. */
    private final Map<Call<?>, Long> left = new ConcurrentHashMap<>();

    /** A call on its thread, which no interrupt of it outlives. */
    private final class Call<T extends @Nullable Object> extends FutureTask<T> {

        private final String toolName;
        private final Runnable ended;
        private final AtomicBoolean over = new AtomicBoolean();

        Call(String toolName, Callable<T> work, Runnable ended) {
            super(work);
            this.toolName = toolName;
            this.ended = ended;
        }

        @Override
        public void run() {
            try {
                super.run();
            } finally {
                end(); // also of what was given up before it began
            }
        }

        @Override
        protected void set(T result) {
            end();
            super.set(result);
        }

        @Override
        protected void setException(Throwable failure) {
            end();
            super.setException(failure);
        }

        /** Before anybody is told of the outcome. */
        private void end() {
            if (over.compareAndSet(false, true)) {
                left.remove(this);
                ended.run();
            }
        }

        /** Nobody waits for it any more. */
        void leave() {
            left.put(this, nanoTime.getAsLong());
            cancel(true);
            if (over.get()) {
                left.remove(this);
            }
        }
    }

    /** At most so many may be stuck, 1 or more. */
    public ToolThreads(int maxStuck) {
        this(maxStuck, System::nanoTime);
    }

    ToolThreads(int maxStuck, LongSupplier nanoTime) {
        if (maxStuck < 1) {
            throw new IllegalArgumentException("millrace.tools.max-stuck: expected 1 or more, found " + maxStuck);
        }
        this.maxStuck = maxStuck;
        this.nanoTime = nanoTime;
    }

    /**
     * Runs the work and waits for it; when the time is over, or the waiting thread is interrupted, the work is
     * interrupted and left.
     *
     * @param ended run once, when the work has ended, which may be long after this has returned; also if it never began
     * @throws ToolException with code {@code tool_busy} if as many threads are stuck as may be
     * @throws TimeoutException when the time is over
     * @throws ExecutionException with what the work threw
     */
    <T extends @Nullable Object> T call(String toolName, Callable<T> work, long limitNanos, Runnable ended)
            throws ToolException, TimeoutException, ExecutionException, InterruptedException {
        Call<T> call = new Call<>(toolName, work, ended);
        boolean begun = false;
        try {
            if (isFull()) {
                throw new ToolException(
                        "tool_busy",
                        "No tool can be called: " + maxStuck
                                + " calls go on although their time is over, and the service has to be restarted");
            }
            threads.execute(call);
            begun = true;
        } finally {
            if (!begun) {
                ended.run();
            }
        }
        try {
            return call.get(limitNanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException | InterruptedException e) {
            call.leave();
            throw e;
        }
    }

    /** How many threads go on although they were interrupted a while ago. */
    public int stuck() {
        return Math.toIntExact(left.values().stream().filter(this::isStuck).count());
    }

    private boolean isStuck(long sinceNanos) {
        return nanoTime.getAsLong() - sinceNanos > HEEDED_WITHIN.toNanos();
    }

    /**
     * Whether as many are stuck as may be: then no tool runs until one of them ends, and only a new process is rid of
     * them.
     */
    public boolean isFull() {
        return left.size() >= maxStuck && stuck() >= maxStuck;
    }

    /** The tools whose threads are stuck, with their numbers, for people. */
    public String describe() {
        return left.entrySet().stream()
                .filter(call -> isStuck(call.getValue()))
                .map(call -> call.getKey().toolName)
                .collect(Collectors.groupingBy(Function.identity(), TreeMap::new, Collectors.counting()))
                .entrySet()
                .stream()
                .map(tool -> Objects.requireNonNull(tool.getKey()) + ": " + tool.getValue())
                .collect(Collectors.joining(", "));
    }
}
