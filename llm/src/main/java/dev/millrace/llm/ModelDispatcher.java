package dev.millrace.llm;

import dev.millrace.llm.QueuedCall.Phase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands out the permits for model calls: highest effective priority first, then the oldest. Each call runs on a virtual
 * thread of its own, is retried here and nowhere else, and ends in one outcome. Where a model fails for good although
 * nothing is wrong with the request, its fallback is asked in what is left of the call's time.
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

    private final LanguageModel model;
    private final DispatcherLimits limits;
    private final CallBackoff backoff;
    private final DispatchClock clock;
    private final RateLimiter rates;
    private final LongAdder fallbacks = new LongAdder();

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
        this.backoff = new CallBackoff(limits.retryBackoff(), limits.maxRetryBackoff());
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
            String key = model.keyFor(call.model());
            QueuedCall entry = new QueuedCall(call, key == null ? NO_KEY : key, submissions++);
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
     * @param leftover is told, later and on another thread, what an aborted call had come to after it had asked a model
     *     at least once: a failure with {@link ModelErrorCode#CANCELLED} as a rule, a reply if that was just complete
     * @return true if there was such a call: its completion will not be called. False if there is none, or its
     *     completion has been or is being called
     */
    public boolean cancel(String callId, Consumer<ModelOutcome> leftover) {
        lock.lock();
        try {
            QueuedCall entry = known.get(callId);
            if (entry == null || entry.phase == Phase.DELIVERING) {
                return false;
            }
            known.remove(callId);
            entry.leftover = leftover;
            boolean between = entry.phase == Phase.WAITING;
            drop(entry);
            if (between) {
                Thread.ofVirtual().name("model-call-leftover-" + callId).start(() -> leave(entry, cancelled(entry)));
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #cancel(String, Consumer)}, for whoever does not care what an aborted call had come to. */
    public boolean cancel(String callId) {
        return cancel(callId, outcome -> {});
    }

    /** Calls that wait for a permit or for their provider. */
    public int queued() {
        lock.lock();
        try {
            return waiting.size();
        } finally {
            lock.unlock();
        }
    }

    /** Those of them that could not start if there was a permit, since there is enough of their key. */
    public int heldBack() {
        lock.lock();
        try {
            return waiting.heldBack(clock.nanoTime());
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
            for (QueuedCall entry : List.copyOf(known.values())) {
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
            for (QueuedCall entry : waiting.all()) {
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
    private void drop(QueuedCall entry) {
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

    /** What came of one turn of a call, that is, of the time with one permit. */
    private sealed interface Turn {

        /** It is over. */
        record Ended(ModelOutcome outcome) implements Turn {}

        /** It goes back into the line, for this key. */
        record Again(String key) implements Turn {}
    }

    private void run(QueuedCall entry) {
        @Nullable Turn turn = null;
        try {
            turn = turn(entry);
        } finally {
            try {
                endAsking(entry);
                switch (turn) {
                    // an Error (a stack overflow, a missing class) ends the call too, and not silently
                    case null ->
                        end(
                                entry,
                                entry.failed(
                                        new ModelCallException(ModelErrorCode.INTERNAL_ERROR, "the model call broke")));
                    case Turn.Ended(ModelOutcome outcome) -> end(entry, outcome);
                    case Turn.Again(String key) -> {
                        if (!requeue(entry, key)) {
                            leave(entry, cancelled(entry));
                        }
                    }
                }
            } finally {
                returnPermit();
            }
        }
    }

    private void end(QueuedCall entry, ModelOutcome outcome) {
        if (settle(entry)) {
            deliver(entry, outcome);
        } else {
            leave(entry, outcome);
        }
    }

    private Turn turn(QueuedCall entry) {
        try {
            ModelRequest request =
                    entry.correction == null ? entry.call.request().call() : entry.correction;
            return reviewed(entry, request, askModelOrFallback(entry, request));
        } catch (InterruptedException e) {
            // dropped or timed out; whoever interrupted has settled the call
            return new Turn.Ended(cancelled(entry));
        } catch (Exception e) {
            // the request builder and the model are foreign code here: whatever they throw ends this call and no other
            LOGGER.atError()
                    .addKeyValue("callId", entry.call.callId())
                    .setCause(e)
                    .log("a model call broke");
            return new Turn.Ended(entry.failed(internal(e)));
        }
    }

    private Turn askModelOrFallback(QueuedCall entry, ModelRequest request) throws InterruptedException {
        if (entry.fallback == null) {
            Turn turn = ask(entry, request);
            String fallback = request.fallback() == null ? model.fallbackFor(request.model()) : request.fallback();
            // a failure of the request's own would be another model's, too
            if (fallback == null
                    || !(turn instanceof Turn.Ended(ModelOutcome.Failed failed))
                    || !failed.error().code().retryable()) {
                return turn;
            }
            turnToFallback(entry, request, fallback, failed.error());
        }
        return answeredInstead(entry, ask(entry, request.to(entry.fallback)));
    }

    /** The reply, or the one that is asked for in its place; what the first one used is charged all the same. */
    private Turn reviewed(QueuedCall entry, ModelRequest request, Turn turn) throws InterruptedException {
        if (entry.correction != null || !(turn instanceof Turn.Ended(ModelOutcome.Replied replied))) {
            return turn;
        }
        ModelReply reply = replied.reply();
        Optional<ModelRequest> again;
        try {
            again = entry.call.review().again(request, reply);
        } catch (RuntimeException | Error e) {
            entry.charge(new ModelCharge(reply.model(), reply.usage())); // it is lost, and paid for
            throw e;
        }
        if (again.isEmpty()) {
            return turn;
        }
        LOGGER.atInfo()
                .addKeyValue("callId", entry.call.callId())
                .log("a reply is not as it should be, and is asked for once more");
        entry.charge(new ModelCharge(reply.model(), reply.usage()));
        entry.correction = again.get();
        entry.attemptsOfModel = 0;
        return askModelOrFallback(entry, again.get());
    }

    private void turnToFallback(QueuedCall entry, ModelRequest request, String fallback, ModelCallException failure) {
        LOGGER.atWarn()
                .addKeyValue("callId", entry.call.callId())
                .addKeyValue("errorCode", failure.code().wireName())
                .addKeyValue("model", request.model() == null ? model.name() : request.model())
                .addKeyValue("fallback", fallback)
                .log("a model failed for good; its fallback is asked");
        fallbacks.increment();
        entry.fallback = fallback;
        entry.insteadOf = failure;
        entry.attemptsOfModel = 0;
    }

    private static Turn answeredInstead(QueuedCall entry, Turn turn) {
        return turn instanceof Turn.Ended(ModelOutcome.Replied replied)
                ? new Turn.Ended(new ModelOutcome.Replied(
                        replied.reply(), replied.attempts(), entry.insteadOf, replied.charges()))
                : turn;
    }

    /** One model, with its retries, as far as they come with this permit. */
    private Turn ask(QueuedCall entry, ModelRequest request) throws InterruptedException {
        String key = model.keyFor(request.model());
        if (key == null) {
            return askWithPermission(entry, request, null, null);
        }
        Duration held = heldFor(key);
        if (!held.isZero()) {
            return waitForKey(entry, key, held);
        }
        if (!rates.limits(key)) {
            return askWithPermission(entry, request, key, null);
        }
        if (!entry.asksForRate || !entry.key.equals(key)) {
            return new Turn.Again(key); // only known now that the request is built: stand in that line
        }
        try {
            return switch (rates.ask(key, RequestTokens.of(request))) {
                case RateLimiter.Granted granted -> {
                    endAsking(entry);
                    yield askWithPermission(entry, request, key, granted);
                }
                case RateLimiter.Refused(Duration wait) -> {
                    hold(key, wait);
                    yield waitForKey(entry, key, wait);
                }
            };
        } catch (ModelCallException e) {
            return new Turn.Ended(entry.failed(e));
        }
    }

    private Turn waitForKey(QueuedCall entry, String key, Duration wait) {
        if (clock.nanoTime() + wait.toNanos() - entry.deadline < 0) {
            return new Turn.Again(key);
        }
        return new Turn.Ended(entry.failed(new ModelCallException(
                ModelErrorCode.RATE_LIMITED,
                "the key " + key + " is used up for another " + wait
                        + ", which is longer than this call may still take",
                true,
                wait,
                null)));
    }

    /**
     * Asks until there is an outcome, or until the call has to stand in line again.
     *
     * @param key null = there is none
     * @param granted for the first attempt; null = the key is not limited
     */
    private Turn askWithPermission(
            QueuedCall entry, ModelRequest request, @Nullable String key, RateLimiter.@Nullable Granted granted)
            throws InterruptedException {
        while (true) {
            if (Thread.interrupted()) {
                if (granted != null) {
                    rates.release(granted);
                }
                throw new InterruptedException(); // nobody wants the reply any more: do not even ask
            }
            try {
                ModelReply reply = attempt(entry, request);
                if (granted != null) {
                    settle(granted, reply.usage());
                }
                if (key != null && reply.nextRequestIn() != null) {
                    hold(key, reply.nextRequestIn());
                }
                return new Turn.Ended(new ModelOutcome.Replied(reply, entry.attempts.get(), null, entry.charges));
            } catch (ModelCallException e) {
                entry.charge(e.charge());
                Duration pause = pauseBeforeRetry(entry, ++entry.attemptsOfModel, e);
                String used = e.code() == ModelErrorCode.RATE_LIMITED && e.retryable() ? key : null;
                if (used != null) {
                    hold(used, pause);
                }
                if (!e.retryable()
                        || entry.attemptsOfModel >= limits.maxAttempts()
                        || clock.nanoTime() + pause.toNanos() - entry.deadline >= 0) {
                    return new Turn.Ended(entry.failed(e));
                }
                LOGGER.atInfo()
                        .addKeyValue("callId", entry.call.callId())
                        .addKeyValue("errorCode", e.code().wireName())
                        .addKeyValue("attempt", entry.attempts.get())
                        .addKeyValue("pauseMs", pause.toMillis())
                        .log("a model call failed and is tried again");
                if (used != null) {
                    return new Turn.Again(used);
                }
                clock.sleep(pause);
                if (key != null && granted != null) {
                    return new Turn.Again(key); // each attempt needs a permission of its own
                }
            }
        }
    }

    /** A limiter that breaks costs nobody a reply. */
    private void settle(RateLimiter.Granted granted, ModelReply.Usage used) {
        try {
            rates.settle(granted, used.inputTokens() + used.outputTokens());
        } catch (RuntimeException e) {
            LOGGER.atError().setCause(e).log("what a model call has used is not in the sums of its key's limit");
        }
    }

    private Duration heldFor(String key) {
        lock.lock();
        try {
            return Duration.ofNanos(waiting.heldFor(key, clock.nanoTime()));
        } finally {
            lock.unlock();
        }
    }

    /** Starts no call with this key for so long. */
    private void hold(String key, Duration pause) {
        lock.lock();
        try {
            long now = clock.nanoTime();
            waiting.hold(key, now + pause.toNanos(), now);
        } finally {
            lock.unlock();
        }
        clock.after(pause, this::lookAgain);
    }

    private void lookAgain() {
        lock.lock();
        try {
            startWhilePermitsAreFree();
        } finally {
            lock.unlock();
        }
    }

    /** Lets the next call with the same key ask, once this one has its answer. */
    private void endAsking(QueuedCall entry) {
        lock.lock();
        try {
            if (entry.asksForRate) {
                entry.asksForRate = false;
                waiting.endAsking(entry.key);
                startWhilePermitsAreFree();
            }
        } finally {
            lock.unlock();
        }
    }

    /** False if nobody wants it any more. */
    private boolean requeue(QueuedCall entry, String key) {
        lock.lock();
        try {
            entry.thread = null;
            if (entry.phase != Phase.RUNNING) {
                return false;
            }
            if (closed) {
                known.remove(entry.call.callId(), entry);
                drop(entry);
                return false;
            }
            entry.phase = Phase.WAITING;
            entry.key = key;
            waiting.add(entry);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private ModelReply attempt(QueuedCall entry, ModelRequest request) throws ModelCallException {
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
    private boolean isWanted(QueuedCall entry) {
        lock.lock();
        try {
            return entry.phase == Phase.RUNNING;
        } finally {
            lock.unlock();
        }
    }

    private Duration pauseBeforeRetry(QueuedCall entry, int attempt, ModelCallException e) {
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
    private void timeOut(QueuedCall entry) {
        String waitedFor;
        lock.lock();
        try {
            if (entry.phase != Phase.RUNNING && entry.phase != Phase.WAITING) {
                return;
            }
            waitedFor = entry.phase == Phase.WAITING ? ", waiting for the key " + entry.key : "";
            waiting.remove(entry);
            entry.phase = Phase.DELIVERING;
            deliveries++;
            entry.interrupt();
        } finally {
            lock.unlock();
        }
        ModelCallException error = new ModelCallException(
                ModelErrorCode.TIMEOUT,
                "no outcome within " + limits.callTimeout() + " (" + SettingRules.PREFIX + "call-timeout)" + waitedFor);
        Thread.ofVirtual()
                .name("model-call-timeout-" + entry.call.callId())
                .start(() -> deliver(entry, entry.failed(error)));
    }

    /** Whether this thread is the one that delivers the outcome. From here on nobody interrupts it. */
    private boolean settle(QueuedCall entry) {
        lock.lock();
        try {
            entry.thread = null;
            if (entry.phase != Phase.RUNNING) {
                return false;
            }
            entry.phase = Phase.DELIVERING;
            entry.cancelAlarm();
            deliveries++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void deliver(QueuedCall entry, ModelOutcome outcome) {
        Thread.interrupted(); // a model may have left the flag behind; the completion is not what was interrupted
        try {
            entry.call.completion().accept(outcome);
        } catch (RuntimeException | Error e) {
            LOGGER.atError()
                    .addKeyValue("callId", entry.call.callId())
                    .setCause(e)
                    .log("the completion of a model call broke; the call fails");
            fail(entry, outcome, e);
        } finally {
            delivered(entry);
        }
    }

    /** Completes a call once more, whose outcome could not be taken: nobody would ever answer it otherwise. */
    private static void fail(QueuedCall entry, ModelOutcome outcome, Throwable cause) {
        List<ModelCharge> charges = new ArrayList<>(outcome.charges());
        if (outcome instanceof ModelOutcome.Replied(ModelReply reply, var attempts, var insteadOf, var before)) {
            charges.add(new ModelCharge(reply.model(), reply.usage()));
        }
        Thread.interrupted();
        try {
            entry.call
                    .completion()
                    .accept(new ModelOutcome.Failed(
                            new ModelCallException(
                                    ModelErrorCode.INTERNAL_ERROR,
                                    "what came of the model call could not be taken: "
                                            + cause.getClass().getName()),
                            outcome.attempts(),
                            charges));
        } catch (RuntimeException e) {
            LOGGER.atError()
                    .addKeyValue("callId", entry.call.callId())
                    .setCause(e)
                    .log("the failure of a model call could not be taken either; it ends with its task's deadline");
        }
    }

    private static ModelOutcome cancelled(QueuedCall entry) {
        return entry.failed(new ModelCallException(ModelErrorCode.CANCELLED, "the model call was interrupted"));
    }

    /** Tells whoever cancelled a call what it had come to. */
    private void leave(QueuedCall entry, ModelOutcome outcome) {
        Consumer<ModelOutcome> leftover;
        lock.lock();
        try {
            leftover = entry.leftover;
        } finally {
            lock.unlock();
        }
        if (leftover == null || outcome.attempts() == 0) {
            return;
        }
        Thread.interrupted(); // the call was interrupted, and not what is told about it
        try {
            leftover.accept(outcome);
        } catch (RuntimeException e) {
            LOGGER.atError()
                    .addKeyValue("callId", entry.call.callId())
                    .setCause(e)
                    .log("nobody was told what a cancelled model call had come to");
        }
    }

    private void delivered(QueuedCall entry) {
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
}
