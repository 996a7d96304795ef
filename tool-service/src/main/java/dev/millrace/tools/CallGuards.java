package dev.millrace.tools;

import dev.millrace.tool.api.ToolException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Stands before the tools: how many calls at a time, how many in a minute, and none to what is broken. Safe for any
 * thread.
 */
public final class CallGuards {

    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final ToolPolicies policies;
    private final int maxFailures;
    private final Duration rest;
    private final ToolThreads threads;
    private final LongSupplier nanoTime;
    private final Map<String, Semaphore> permits = new ConcurrentHashMap<>();
    private final Map<String, Rate> rates = new ConcurrentHashMap<>();
    private final Map<String, CircuitBreaker> circuits = new ConcurrentHashMap<>();

    /** When all calls so far would have been made at an even pace. Guarded by itself. */
    private static final class Rate {
        private long due;

        private Rate(long due) {
            this.due = due;
        }
    }

    /**
     * Guards.
     *
     * @param maxFailures in a row, after which a tool or server is left alone, 1 or more
     * @param rest for how long
     */
    public CallGuards(ToolPolicies policies, int maxFailures, Duration rest) {
        this(policies, maxFailures, rest, new ToolThreads(ToolThreads.DEFAULT_MAX_STUCK));
    }

    /** The same with threads that are also looked at elsewhere. */
    public CallGuards(ToolPolicies policies, int maxFailures, Duration rest, ToolThreads threads) {
        this(policies, maxFailures, rest, threads, System::nanoTime);
    }

    CallGuards(ToolPolicies policies, int maxFailures, Duration rest, ToolThreads threads, LongSupplier nanoTime) {
        if (maxFailures < 1) {
            throw new IllegalArgumentException(
                    "millrace.tools.circuit.max-failures: expected 1 or more, found " + maxFailures);
        }
        this.policies = policies;
        this.maxFailures = maxFailures;
        this.rest = rest;
        this.threads = threads;
        this.nanoTime = nanoTime;
    }

    ToolPolicies policies() {
        return policies;
    }

    /** What tools run on. */
    ToolThreads threads() {
        return threads;
    }

    /** What watches over this tool; one that never opens if nothing does. */
    CircuitBreaker circuit(CallableTool tool) {
        String name = tool.circuit();
        return name == null
                ? new CircuitBreaker(maxFailures, rest, nanoTime)
                : circuits.computeIfAbsent(name, key -> new CircuitBreaker(maxFailures, rest, nanoTime));
    }

    /**
     * Waits until the call may begin.
     *
     * @return to be run when it has ended
     * @throws ToolException with code {@code tool_busy} or {@code tool_rate_limited} if that would take longer than
     *     there is time
     */
    Runnable enter(String toolName, long limitNanos) throws ToolException, InterruptedException {
        ToolPolicies.Policy policy = policies.of(toolName);
        long end = nanoTime.getAsLong() + limitNanos;
        if (policy.maxPerMinute() > 0) {
            awaitTurn(toolName, policy.maxPerMinute(), limitNanos);
        }
        if (policy.maxConcurrent() == 0) {
            return () -> {};
        }
        Semaphore free = permits.computeIfAbsent(toolName, name -> new Semaphore(policy.maxConcurrent(), true));
        if (!free.tryAcquire(Math.max(0, end - nanoTime.getAsLong()), TimeUnit.NANOSECONDS)) {
            throw new ToolException(
                    "tool_busy",
                    "Tool \"" + toolName + "\" is busy: " + policy.maxConcurrent()
                            + " calls at a time, and none ended");
        }
        return free::release;
    }

    private void awaitTurn(String toolName, int perMinute, long limitNanos) throws ToolException, InterruptedException {
        long interval = MINUTE_NANOS / perMinute;
        Rate rate = rates.computeIfAbsent(toolName, name -> new Rate(nanoTime.getAsLong()));
        long wait;
        synchronized (rate) {
            long now = nanoTime.getAsLong();
            // a whole minute's worth may come at once after a quiet minute
            long due = Math.max(rate.due, now);
            wait = Math.max(0, due - (MINUTE_NANOS - interval) - now);
            if (wait > limitNanos) {
                throw new ToolException(
                        "tool_rate_limited",
                        "Tool \"" + toolName + "\" may be called " + perMinute + " times a minute; wait "
                                + (TimeUnit.NANOSECONDS.toSeconds(wait) + 1) + " s");
            }
            rate.due = due + interval;
        }
        if (wait > 0) {
            TimeUnit.NANOSECONDS.sleep(wait);
        }
    }
}
