package dev.millrace.tools;

import dev.millrace.tool.api.ToolException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The threads that tools run on. Each call has one of the platform's: the scheduler of virtual threads takes none away
 * from who computes, so a few such tools would stop all else in the process, their own time-outs included. A thread
 * that is interrupted and goes on is stuck; there may be so many of them and no more. Safe for any thread.
 */
public final class ToolThreads {

    /** How many threads may be stuck when nothing else is set. */
    public static final int DEFAULT_MAX_STUCK = 16;

    /** How long a thread may take to heed its interrupt. */
    static final Duration HEEDED_WITHIN = Duration.ofSeconds(2);

    private final int maxStuck;
    private final LongSupplier nanoTime;
    /** Those that nobody waits for any more, with the moment since when. */
    private final Map<Thread, Left> left = new ConcurrentHashMap<>();

    private record Left(String toolName, long sinceNanos) {}

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
        boolean begun = false;
        CompletableFuture<T> outcome = new CompletableFuture<>();
        AtomicBoolean over = new AtomicBoolean();
        Thread thread = Thread.ofPlatform()
                .daemon()
                .name("tool-" + toolName)
                .unstarted(() -> run(work, outcome, () -> {
                    over.set(true);
                    left.remove(Thread.currentThread());
                    ended.run();
                }));
        try {
            if (isFull()) {
                throw new ToolException(
                        "tool_busy",
                        "No tool can be called: " + maxStuck
                                + " calls go on although their time is over, and the service has to be restarted");
            }
            thread.start();
            begun = true;
        } finally {
            if (!begun) {
                ended.run();
            }
        }
        try {
            return outcome.get(limitNanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException | InterruptedException e) {
            left.put(thread, new Left(toolName, nanoTime.getAsLong()));
            thread.interrupt();
            if (over.get()) {
                left.remove(thread);
            }
            throw e;
        }
    }

    private static <T extends @Nullable Object> void run(
            Callable<T> work, CompletableFuture<T> outcome, Runnable ended) {
        @Nullable Throwable failure = new IllegalStateException("the tool's thread ended without an outcome");
        T result = null;
        try {
            result = work.call();
            failure = null;
        } catch (Exception e) {
            failure = e;
        } finally {
            // an Error ends the thread; the caller must not wait for it
            ended.run();
            if (failure == null) {
                outcome.complete(result);
            } else {
                outcome.completeExceptionally(failure);
            }
        }
    }

    /** How many threads go on although they were interrupted a while ago. */
    public int stuck() {
        return Math.toIntExact(left.values().stream().filter(this::isStuck).count());
    }

    private boolean isStuck(Left call) {
        return nanoTime.getAsLong() - call.sinceNanos() > HEEDED_WITHIN.toNanos();
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
        return left.values().stream()
                .filter(this::isStuck)
                .collect(Collectors.groupingBy(Left::toolName, java.util.TreeMap::new, Collectors.counting()))
                .entrySet()
                .stream()
                .map(tool -> Objects.requireNonNull(tool.getKey()) + ": " + tool.getValue())
                .collect(Collectors.joining(", "));
    }
}
