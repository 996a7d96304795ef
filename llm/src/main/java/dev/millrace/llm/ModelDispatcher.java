package dev.millrace.llm;

import dev.millrace.llm.QueuedCall.Phase;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands out the permits for model calls: highest effective priority first, then tenants by turns, the oldest call of
 * each first. Each call runs on a virtual thread of its own, is retried here and nowhere else, and ends in one
 * outcome. Where a model fails for good although nothing is wrong with the request, its fallback is asked in what is
 * left of the call's time.
 *
 * <p>A call keeps its permit while it waits for its next attempt after a passing failure. Where the provider has enough
 * of a key, because it says so or because its {@link RateLimiter limit} is reached, the call gives its permit back and
 * waits in its place in line, and no other call with that key is started meanwhile; calls with other keys go on. The
 * budget of a call runs from its first permit on, also while it waits in this way; what would have to wait for longer
 * than that fails at once, or goes to the fallback.
 *
 * <p>All methods are safe for any thread and none of them waits for a model, except {@link #close}.
 */
public final class ModelDispatcher implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(ModelDispatcher.class);
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);
    private static final String NO_KEY = "";

    final LanguageModel model;
    final DispatcherLimits limits;
    final DispatchClock clock;
    final RateLimiter rates;
    final LongAdder fallbacks = new LongAdder();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();
    // all below: guarded by lock
    private final CallQueue waiting = new CallQueue();
    private final Map<String, QueuedCall> known = new HashMap<>();
    private int permitsTaken;
    private int deliveries;
    private long submissions;
    private boolean closed;

    /** A dispatcher in real time, without limits on keys. */
    public ModelDispatcher(LanguageModel model, DispatcherLimits limits) {
        this(model, limits, RateLimiter.NONE);
    }

    /** A dispatcher in real time. */
    public ModelDispatcher(LanguageModel model, DispatcherLimits limits, RateLimiter rates) {
        this(model, limits, rates, new SystemDispatchClock());
    }

    ModelDispatcher(LanguageModel model, DispatcherLimits limits, DispatchClock clock) {
        this(model, limits, RateLimiter.NONE, clock);
    }

    ModelDispatcher(LanguageModel model, DispatcherLimits limits, RateLimiter rates, DispatchClock clock) {
        this.model = model;
        this.limits = limits;
        this.rates = rates;
        this.clock = clock;
    }

    /** The model that is asked. */
    public LanguageModel model() {
        return model;
    }

    /**
     * Queues a call, or starts it if a permit is free.
     *
     * @return false, and nothing happens, if a call with this id waits or runs already, or if the dispatcher is closed
     */
    public boolean submit(ModelCall call) {
        return locked(() -> {
            if (closed || known.containsKey(call.callId())) {
                return false;
            }
            String key = model.keyFor(call.model());
            QueuedCall entry = new QueuedCall(call, key == null ? NO_KEY : key, submissions++);
            known.put(call.callId(), entry);
            waiting.add(entry);
            startWhilePermitsAreFree();
            return true;
        });
    }

    /**
     * Takes a waiting call out of the queue, or aborts a running one. The same id may be submitted again at once.
     *
     * @param leftover is told, later and on another thread, what an aborted call had come to after it had asked a model
     *     at least once: a failure with {@link ModelErrorCode#CANCELLED} as a rule, a reply if that was just complete
     * @return true if there was such a call: its completion will not be called. False if there is none, or its
     *     completion has been or is being called
     */
    public boolean cancel(String callId, Consumer<ModelOutcome> leftover) {
        return locked(() -> {
            QueuedCall entry = known.get(callId);
            if (entry == null || entry.phase == Phase.DELIVERING) {
                return false;
            }
            entry.leftover = leftover;
            boolean between = entry.phase == Phase.WAITING;
            forget(entry);
            if (between) {
                Thread.ofVirtual().name("model-call-leftover-" + callId).start(() -> leave(entry, entry.cancelled()));
            }
            return true;
        });
    }

    /** As {@link #cancel(String, Consumer)}, for whoever does not care what an aborted call had come to. */
    public boolean cancel(String callId) {
        return cancel(callId, outcome -> {});
    }

    /**
     * Takes all calls of a group out of the queue, those too that wait for their provider after an attempt; what runs
     * goes on. No completion is called for them, and nobody is told what they had come to.
     *
     * @return their ids, which may be submitted again at once
     */
    public List<String> dropWaiting(String group) {
        return locked(() -> {
            List<QueuedCall> dropped = waiting.all().stream()
                    .filter(entry -> entry.call.group().equals(group))
                    .toList();
            dropped.forEach(this::forget);
            return dropped.stream().map(entry -> entry.call.callId()).toList();
        });
    }

    /** How many calls may run at once. */
    public int permits() {
        return limits.maxConcurrentCalls();
    }

    /** Calls that wait for a permit or for their provider. */
    public int queued() {
        return locked(waiting::size);
    }

    /** Those of them that could not start if there was a permit, since there is enough of their key. */
    public int heldBack() {
        return locked(() -> waiting.heldBack(clock.nanoTime()));
    }

    /** Permits in use: calls that run, wait for their next attempt, or are just being aborted. */
    public int running() {
        return locked(() -> permitsTaken);
    }

    /** How often a fallback was asked, since the start. */
    public long fallbacks() {
        return fallbacks.sum();
    }

    /**
     * Takes no more calls, forgets those that wait and aborts those that run: no completion is called for them.
     * Completions that are being called now are waited for, five seconds at most; so a completion must not call this. A
     * second call does nothing more.
     */
    @Override
    public void close() {
        boolean ended = locked(() -> {
            closed = true;
            known.values().stream()
                    .filter(entry -> entry.phase != Phase.DELIVERING)
                    .toList()
                    .forEach(this::forget);
            clock.stop();
            return awaitEnd(CLOSE_PATIENCE);
        });
        if (!ended) {
            LOGGER.atWarn()
                    .addKeyValue("model", model.name())
                    .log("closed the model dispatcher while calls were still ending");
        }
    }

    /**
     * As {@link #close()}, but first lets what runs go on for so long, and its outcome be delivered. Nothing is started
     * meanwhile, and what waits is forgotten at once.
     */
    public void close(Duration grace) {
        boolean unused = locked(() -> {
            closed = true;
            waiting.all().forEach(this::forget);
            return awaitEnd(grace);
        });
        close();
    }

    /** Under the lock. Whether nothing runs and nothing is delivered any more, after so long at most. */
    private boolean awaitEnd(Duration limit) {
        try {
            long left = limit.toNanos();
            while (deliveries + permitsTaken > 0 && left > 0) {
                left = idle.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // everything is told to end; only the waiting is cut short
        }
        return deliveries + permitsTaken == 0;
    }

    /** Under the lock. */
    private void forget(QueuedCall entry) {
        known.remove(entry.call.callId(), entry);
        waiting.remove(entry);
        entry.phase = Phase.DROPPED;
        entry.cancelAlarm();
        entry.interrupt();
    }

    /** Under the lock. */
    private void startWhilePermitsAreFree() {
        while (permitsTaken < limits.maxConcurrentCalls()) {
            long now = clock.nanoTime();
            QueuedCall entry = waiting.poll(now, limits.callTimeout().toNanos());
            if (entry == null) {
                return;
            }
            permitsTaken++;
            entry.phase = Phase.RUNNING;
            if (entry.alarm == null) {
                entry.deadline = now + limits.callTimeout().toNanos();
                entry.alarm = clock.after(limits.callTimeout(), () -> timeOut(entry));
            }
            if (isLimited(entry.key)) {
                entry.asksForRate = true;
                waiting.beginAsking(entry.key);
            }
            entry.thread =
                    Thread.ofVirtual().name("model-call-" + entry.call.callId()).start(() -> run(entry));
        }
    }

    /** A limiter that breaks stops no call here: the one that asks it fails by that. */
    private boolean isLimited(String key) {
        try {
            return rates.limits(key);
        } catch (RuntimeException e) {
            LOGGER.atError().addKeyValue("key", key).setCause(e).log("nobody knows whether a key is limited");
            return false;
        }
    }

    private void run(QueuedCall entry) {
        CallTurn.@Nullable End end = null;
        try {
            end = new CallTurn(this, entry).take();
        } finally {
            try {
                endAsking(entry);
                switch (end) {
                    // an Error (a stack overflow, a missing class) ends the call too, and not silently
                    case null ->
                        end(
                                entry,
                                entry.failed(
                                        new ModelCallException(ModelErrorCode.INTERNAL_ERROR, "the model call broke")));
                    case CallTurn.End.Outcome(ModelOutcome outcome) -> end(entry, outcome);
                    case CallTurn.End.Again(String key) -> {
                        if (!requeue(entry, key)) {
                            leave(entry, entry.cancelled());
                        }
                    }
                }
            } finally {
                locked(() -> {
                    permitsTaken--;
                    startWhilePermitsAreFree();
                    idle.signalAll();
                });
            }
        }
    }

    /** The outcome goes to whoever waits for it, if this thread is the one that delivers it. */
    private void end(QueuedCall entry, ModelOutcome outcome) {
        boolean ours = locked(() -> {
            entry.thread = null; // from here on nobody interrupts it
            boolean wanted = entry.phase == Phase.RUNNING;
            if (wanted) {
                entry.phase = Phase.DELIVERING;
                entry.cancelAlarm();
                deliveries++;
            }
            return wanted;
        });
        if (ours) {
            deliver(entry, outcome);
        } else {
            leave(entry, outcome);
        }
    }

    private void deliver(QueuedCall entry, ModelOutcome outcome) {
        try {
            entry.complete(outcome);
        } finally {
            locked(() -> {
                known.remove(entry.call.callId(), entry);
                deliveries--;
                idle.signalAll();
            });
        }
    }

    /** Tells whoever cancelled a call what it had come to. */
    private void leave(QueuedCall entry, ModelOutcome outcome) {
        Consumer<ModelOutcome> leftover = locked(() -> entry.leftover);
        if (leftover != null && outcome.attempts() > 0) {
            entry.tell(leftover, outcome);
        }
    }

    /** False if nobody wants it any more. */
    private boolean requeue(QueuedCall entry, String key) {
        return locked(() -> {
            entry.thread = null;
            if (entry.phase != Phase.RUNNING) {
                return false;
            }
            if (closed) {
                forget(entry);
                return false;
            }
            entry.phase = Phase.WAITING;
            entry.key = key;
            waiting.add(entry);
            return true;
        });
    }

    /** On the alarm's thread: the outcome does not wait for the model to notice the interrupt. */
    private void timeOut(QueuedCall entry) {
        locked(() -> {
            if (entry.phase != Phase.RUNNING && entry.phase != Phase.WAITING) {
                return;
            }
            ModelCallException error = new ModelCallException(
                    ModelErrorCode.TIMEOUT,
                    "no outcome within " + limits.callTimeout() + " (" + SettingRules.PREFIX + "call-timeout)"
                            + (entry.phase == Phase.WAITING ? ", waiting for the key " + entry.key : ""));
            waiting.remove(entry);
            entry.phase = Phase.DELIVERING;
            deliveries++;
            entry.interrupt();
            Thread.ofVirtual()
                    .name("model-call-timeout-" + entry.call.callId())
                    .start(() -> deliver(entry, entry.failed(error)));
        });
    }

    /** How long no call with this key is started. */
    Duration heldFor(String key) {
        return Duration.ofNanos(locked(() -> waiting.heldFor(key, clock.nanoTime())));
    }

    /** Starts no call with this key for so long. */
    void hold(String key, Duration pause) {
        locked(() -> {
            long now = clock.nanoTime();
            waiting.hold(key, now + pause.toNanos(), now);
        });
        clock.after(pause, () -> locked(this::startWhilePermitsAreFree));
    }

    /** Lets the next call with the same key ask, once this one has its answer. */
    void endAsking(QueuedCall entry) {
        locked(() -> {
            if (entry.asksForRate) {
                entry.asksForRate = false;
                waiting.endAsking(entry.key);
                startWhilePermitsAreFree();
            }
        });
    }

    /** Whether somebody still waits for this call: no delta begins after a cancel or a time-out. */
    boolean isWanted(QueuedCall entry) {
        return locked(() -> entry.phase == Phase.RUNNING);
    }

    private void locked(Runnable change) {
        lock.lock();
        try {
            change.run();
        } finally {
            lock.unlock();
        }
    }

    private <T extends @Nullable Object> T locked(Supplier<T> change) {
        lock.lock();
        try {
            return change.get();
        } finally {
            lock.unlock();
        }
    }
}
