package dev.millrace.llm;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands out the permits for model calls: highest effective priority first, then the oldest. Each call runs on a virtual
 * thread of its own, is retried here and nowhere else, and ends in one outcome. Where a model fails for good although
 * nothing is wrong with the request, its fallback is asked in what is left of the call's time.
 *
 * <p>A call keeps its permit while it waits for its next attempt. That is meant: a provider that says "too many" is
 * then asked less, whereas a returned permit would send the next call into the same refusal.
 *
 * <p>All methods are safe for any thread and none of them waits for a model, except {@link #close}.
 */
public final class ModelDispatcher implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(ModelDispatcher.class);
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);

    private final LanguageModel model;
    private final DispatcherLimits limits;
    private final Backoff backoff;
    private final DispatchClock clock;
    private final LongAdder fallbacks = new LongAdder();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();
    // all below: guarded by lock
    private final PriorityQueue<Entry> waiting = new PriorityQueue<>(Entry.ORDER);
    private final Map<String, Entry> known = new HashMap<>();
    private int permitsTaken;
    private int deliveries;
    private long submissions;
    private boolean closed;

    /** A dispatcher in real time. */
    public ModelDispatcher(LanguageModel model, DispatcherLimits limits) {
        this(model, limits, new SystemDispatchClock());
    }

    ModelDispatcher(LanguageModel model, DispatcherLimits limits, DispatchClock clock) {
        this.model = model;
        this.limits = limits;
        this.backoff = new Backoff(limits.retryBackoff(), limits.maxRetryBackoff());
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
        lock.lock();
        try {
            if (closed || known.containsKey(call.callId())) {
                return false;
            }
            Entry entry = new Entry(call, submissions++);
            known.put(call.callId(), entry);
            waiting.add(entry);
            startWhilePermitsAreFree();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes a waiting call out of the queue, or aborts a running one. The same id may be submitted again at once.
     *
     * @return true if there was such a call: its completion will not be called. False if there is none, or its
     *     completion has been or is being called
     */
    public boolean cancel(String callId) {
        lock.lock();
        try {
            Entry entry = known.get(callId);
            if (entry == null || entry.phase == Phase.DELIVERING) {
                return false;
            }
            known.remove(callId);
            drop(entry);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Calls that wait for a permit. */
    public int queued() {
        lock.lock();
        try {
            return waiting.size();
        } finally {
            lock.unlock();
        }
    }

    /** Permits in use: calls that run, wait for their next attempt, or are just being aborted. */
    public int running() {
        lock.lock();
        try {
            return permitsTaken;
        } finally {
            lock.unlock();
        }
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
        lock.lock();
        try {
            closed = true;
            for (Entry entry : List.copyOf(known.values())) {
                if (entry.phase != Phase.DELIVERING) {
                    known.remove(entry.call.callId());
                    drop(entry);
                }
            }
            clock.stop();
            long left = CLOSE_PATIENCE.toNanos();
            while (deliveries + permitsTaken > 0 && left > 0) {
                left = idle.awaitNanos(left);
            }
            if (deliveries + permitsTaken > 0) {
                LOGGER.atWarn()
                        .addKeyValue("model", model.name())
                        .log("closed the model dispatcher while calls were still ending");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // everything is told to end; only the waiting is cut short
        } finally {
            lock.unlock();
        }
    }

    /**
     * As {@link #close()}, but first lets what runs go on for so long, and its outcome be delivered. Nothing is started
     * meanwhile, and what waits is forgotten at once.
     */
    public void close(Duration grace) {
        lock.lock();
        try {
            closed = true;
            for (Entry entry : List.copyOf(waiting)) {
                known.remove(entry.call.callId());
                drop(entry);
            }
            long left = grace.toNanos();
            while (deliveries + permitsTaken > 0 && left > 0) {
                left = idle.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // whoever waits no longer wants the rest to end at once
        } finally {
            lock.unlock();
        }
        close();
    }

    /** Under the lock. */
    private void drop(Entry entry) {
        waiting.remove(entry);
        entry.phase = Phase.DROPPED;
        entry.interrupt();
    }

    /** Under the lock. */
    private void startWhilePermitsAreFree() {
        while (permitsTaken < limits.maxConcurrentCalls()) {
            Entry entry = waiting.poll();
            if (entry == null) {
                return;
            }
            permitsTaken++;
            entry.phase = Phase.RUNNING;
            entry.thread =
                    Thread.ofVirtual().name("model-call-" + entry.call.callId()).start(() -> run(entry));
        }
    }

    private void run(Entry entry) {
        long deadline = clock.nanoTime() + limits.callTimeout().toNanos();
        DispatchClock.Alarm alarm = clock.after(limits.callTimeout(), () -> timeOut(entry));
        // stands unless call() returns: an Error (a stack overflow, a missing class) ends the call too, and not
        // silently
        ModelOutcome outcome = new ModelOutcome.Failed(
                new ModelCallException(ModelErrorCode.INTERNAL_ERROR, "the model call broke"), entry.attempts.get());
        try {
            outcome = call(entry, deadline);
        } finally {
            try {
                alarm.cancel();
                if (settle(entry)) {
                    deliver(entry, outcome);
                }
            } finally {
                returnPermit();
            }
        }
    }

    private ModelOutcome call(Entry entry, long deadline) {
        try {
            ModelRequest request = entry.call.request().call();
            String fallback = model.fallbackFor(request.model());
            ModelOutcome outcome = ask(entry, request, deadline);
            // a failure of the request's own would be another model's, too
            if (fallback == null
                    || !(outcome instanceof ModelOutcome.Failed failed)
                    || !failed.error().code().retryable()) {
                return outcome;
            }
            LOGGER.atWarn()
                    .addKeyValue("callId", entry.call.callId())
                    .addKeyValue("errorCode", failed.error().code().wireName())
                    .addKeyValue("model", request.model() == null ? model.name() : request.model())
                    .addKeyValue("fallback", fallback)
                    .log("a model failed for good; its fallback is asked");
            fallbacks.increment();
            return switch (ask(entry, request.to(fallback), deadline)) {
                case ModelOutcome.Replied replied ->
                    new ModelOutcome.Replied(replied.reply(), replied.attempts(), failed.error());
                case ModelOutcome.Failed both -> both;
            };
        } catch (InterruptedException e) {
            // dropped or timed out; whoever interrupted has settled the call
            return new ModelOutcome.Failed(
                    new ModelCallException(ModelErrorCode.CANCELLED, "the model call was interrupted"),
                    entry.attempts.get());
        } catch (Exception e) {
            // the request builder and the model are foreign code here: whatever they throw ends this call and no other
            LOGGER.atError()
                    .addKeyValue("callId", entry.call.callId())
                    .setCause(e)
                    .log("a model call broke");
            return new ModelOutcome.Failed(internal(e), entry.attempts.get());
        }
    }

    /** One model, with its retries. */
    private ModelOutcome ask(Entry entry, ModelRequest request, long deadline) throws InterruptedException {
        for (int attempt = 1; ; attempt++) {
            if (Thread.interrupted()) {
                throw new InterruptedException(); // nobody wants the reply any more: do not even ask
            }
            try {
                return new ModelOutcome.Replied(attempt(entry, request), entry.attempts.get());
            } catch (ModelCallException e) {
                Duration pause = pauseBeforeRetry(entry, attempt, e);
                if (!e.retryable()
                        || attempt >= limits.maxAttempts()
                        || clock.nanoTime() + pause.toNanos() >= deadline) {
                    return new ModelOutcome.Failed(e, entry.attempts.get());
                }
                LOGGER.atInfo()
                        .addKeyValue("callId", entry.call.callId())
                        .addKeyValue("errorCode", e.code().wireName())
                        .addKeyValue("attempt", entry.attempts.get())
                        .addKeyValue("pauseMs", pause.toMillis())
                        .log("a model call failed and is tried again");
                clock.sleep(pause);
            }
        }
    }

    private ModelReply attempt(Entry entry, ModelRequest request) throws ModelCallException {
        int attempt = entry.attempts.incrementAndGet();
        StreamListener listener = entry.call.listener();
        if (listener == null) {
            return model.chat(request);
        }
        try {
            if (isWanted(entry)) {
                listener.onAttempt(attempt);
            }
        } catch (RuntimeException e) {
            throw ModelCallException.brokenListener(e);
        }
        return model.stream(request, delta -> {
            if (isWanted(entry)) {
                listener.onDelta(delta);
            }
        });
    }

    /** Whether somebody still waits for this call: no delta begins after a cancel or a time-out. */
    private boolean isWanted(Entry entry) {
        lock.lock();
        try {
            return entry.phase == Phase.RUNNING;
        } finally {
            lock.unlock();
        }
    }

    private Duration pauseBeforeRetry(Entry entry, int attempt, ModelCallException e) {
        Duration pause = backoff.after(attempt, entry.call.callId());
        Duration asked = e.retryAfter();
        return asked != null && asked.compareTo(pause) > 0 ? asked : pause;
    }

    private static ModelCallException internal(Exception e) {
        return new ModelCallException(
                ModelErrorCode.INTERNAL_ERROR,
                "the model call broke with " + e.getClass().getName()
                        + (e.getMessage() == null ? "" : ": " + e.getMessage()),
                false,
                null,
                e);
    }

    /** On the alarm's thread: the outcome does not wait for the model to notice the interrupt. */
    private void timeOut(Entry entry) {
        lock.lock();
        try {
            if (entry.phase != Phase.RUNNING) {
                return;
            }
            entry.phase = Phase.DELIVERING;
            deliveries++;
            entry.interrupt();
        } finally {
            lock.unlock();
        }
        ModelCallException error = new ModelCallException(
                ModelErrorCode.TIMEOUT,
                "no outcome within " + limits.callTimeout() + " (" + SettingRules.PREFIX + "call-timeout)");
        Thread.ofVirtual()
                .name("model-call-timeout-" + entry.call.callId())
                .start(() -> deliver(entry, new ModelOutcome.Failed(error, entry.attempts.get())));
    }

    /** Whether this thread is the one that delivers the outcome. From here on nobody interrupts it. */
    private boolean settle(Entry entry) {
        lock.lock();
        try {
            entry.thread = null;
            if (entry.phase != Phase.RUNNING) {
                return false;
            }
            entry.phase = Phase.DELIVERING;
            deliveries++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void deliver(Entry entry, ModelOutcome outcome) {
        Thread.interrupted(); // a model may have left the flag behind; the completion is not what was interrupted
        try {
            entry.call.completion().accept(outcome);
        } catch (RuntimeException e) {
            LOGGER.atError()
                    .addKeyValue("callId", entry.call.callId())
                    .setCause(e)
                    .log("the completion of a model call broke; the call must be dispatched again");
        } finally {
            delivered(entry);
        }
    }

    private void delivered(Entry entry) {
        lock.lock();
        try {
            known.remove(entry.call.callId(), entry);
            deliveries--;
            idle.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void returnPermit() {
        lock.lock();
        try {
            permitsTaken--;
            startWhilePermitsAreFree();
            idle.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private enum Phase {
        WAITING,
        RUNNING,
        /** Its completion is being called; the id is still taken. */
        DELIVERING,
        /** Cancelled or closed: nobody wants its outcome. */
        DROPPED
    }

    /** A call and where it stands; the fields that change are guarded by the lock, except the count of attempts. */
    private static final class Entry {

        static final Comparator<Entry> ORDER = Comparator.<Entry>comparingInt(e -> e.call.effectivePriority())
                .thenComparingLong(e -> e.call.arrival())
                .thenComparingLong(e -> e.submission);

        final ModelCall call;
        final long submission;
        Phase phase = Phase.WAITING;

        @Nullable
        Thread thread;

        final AtomicInteger attempts = new AtomicInteger(); // the alarm's thread reads it

        Entry(ModelCall call, long submission) {
            this.call = call;
            this.submission = submission;
        }

        void interrupt() {
            if (thread != null) {
                thread.interrupt();
            }
        }
    }
}
