package dev.millrace.llm;

import dev.millrace.schemas.Backoff;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One turn of a call, that is, the time with one permit: the attempts, the fallback and the second question about a
 * reply that is not as it should be. On the call's own thread.
 */
final class CallTurn {
    private static final Logger LOGGER = LoggerFactory.getLogger(ModelDispatcher.class);

    private final ModelDispatcher dispatcher;
    private final QueuedCall entry;
    private final Backoff backoff;

    CallTurn(ModelDispatcher dispatcher, QueuedCall entry) {
        this.dispatcher = dispatcher;
        this.entry = entry;
        this.backoff =
                new Backoff(dispatcher.limits.retryBackoff(), dispatcher.limits.maxRetryBackoff(), entry.call.callId());
    }

    /** What came of it. */
    sealed interface End {

        /** The call is over. */
        record Outcome(ModelOutcome outcome) implements End {}

        /** It goes back into the line, for this key. */
        record Again(String key) implements End {}
    }

    End take() {
        try {
            ModelRequest request =
                    entry.correction == null ? entry.call.request().call() : entry.correction;
            return reviewed(request, askModelOrFallback(request));
        } catch (InterruptedException e) {
            // dropped or timed out; whoever interrupted has settled the call
            return new End.Outcome(entry.cancelled());
        } catch (Exception e) {
            // the request builder and the model are foreign code here: whatever they throw ends this call and no other
            LOGGER.atError()
                    .addKeyValue("callId", entry.call.callId())
                    .setCause(e)
                    .log("a model call broke");
            return failed(ModelCallException.broken("the model call", e));
        }
    }

    private End failed(ModelCallException error) {
        return new End.Outcome(entry.failed(error));
    }

    private End askModelOrFallback(ModelRequest request) throws InterruptedException {
        if (entry.fallback == null) {
            End end = ask(request);
            String fallback =
                    request.fallback() == null ? dispatcher.model.fallbackFor(request.model()) : request.fallback();
            // a failure of the request's own would be another model's, too
            if (fallback == null
                    || !(end instanceof End.Outcome(ModelOutcome.Failed failed))
                    || !failed.error().code().retryable()) {
                return end;
            }
            turnToFallback(request, fallback, failed.error());
        }
        End end = ask(request.to(entry.fallback));
        return end instanceof End.Outcome(ModelOutcome.Replied replied)
                ? new End.Outcome(new ModelOutcome.Replied(
                        replied.reply(), replied.attempts(), entry.insteadOf, replied.charges()))
                : end;
    }

    private void turnToFallback(ModelRequest request, String fallback, ModelCallException failure) {
        LOGGER.atWarn()
                .addKeyValue("callId", entry.call.callId())
                .addKeyValue("errorCode", failure.code().wireName())
                .addKeyValue("model", request.model() == null ? dispatcher.model.name() : request.model())
                .addKeyValue("fallback", fallback)
                .log("a model failed for good; its fallback is asked");
        dispatcher.fallbacks.increment();
        entry.fallback = fallback;
        entry.insteadOf = failure;
        entry.attemptsOfModel = 0;
    }

    /** The reply, or the one that is asked for in its place; what the first one used is charged all the same. */
    private End reviewed(ModelRequest request, End end) throws InterruptedException {
        if (entry.correction != null || !(end instanceof End.Outcome(ModelOutcome.Replied replied))) {
            return end;
        }
        ModelReply reply = replied.reply();
        Optional<ModelRequest> again;
        try {
            again = entry.call.review().again(request, reply);
        } catch (RuntimeException | Error e) {
            entry.charge(reply.charge()); // it is lost, and paid for
            throw e;
        }
        if (again.isEmpty()) {
            return end;
        }
        LOGGER.atInfo()
                .addKeyValue("callId", entry.call.callId())
                .log("a reply is not as it should be, and is asked for once more");
        entry.charge(reply.charge());
        entry.correction = again.get();
        entry.attemptsOfModel = 0;
        return askModelOrFallback(again.get());
    }

    /** One model, with its retries, as far as they come with this permit. */
    private End ask(ModelRequest request) throws InterruptedException {
        String key = dispatcher.model.keyFor(request.model());
        if (key == null) {
            return askWithPermission(request, null, null);
        }
        Duration held = dispatcher.heldFor(key);
        if (!held.isZero()) {
            return waitForKey(key, held);
        }
        if (!dispatcher.rates.limits(key)) {
            return askWithPermission(request, key, null);
        }
        if (!entry.asksForRate || !entry.key.equals(key)) {
            return new End.Again(key); // only known now that the request is built: stand in that line
        }
        try {
            return switch (dispatcher.rates.ask(key, RequestTokens.of(request))) {
                case RateLimiter.Granted granted -> {
                    dispatcher.endAsking(entry);
                    yield askWithPermission(request, key, granted);
                }
                case RateLimiter.Refused(Duration wait) -> {
                    dispatcher.hold(key, wait);
                    yield waitForKey(key, wait);
                }
            };
        } catch (ModelCallException e) {
            return failed(e);
        }
    }

    private End waitForKey(String key, Duration wait) {
        return isInTime(wait)
                ? new End.Again(key)
                : failed(new ModelCallException(
                        ModelErrorCode.RATE_LIMITED,
                        "the key " + key + " is used up for another " + wait
                                + ", which is longer than this call may still take",
                        true,
                        wait,
                        null));
    }

    private boolean isInTime(Duration pause) {
        return dispatcher.clock.nanoTime() + pause.toNanos() - entry.deadline < 0;
    }

    /**
     * Asks until there is an outcome, or until the call has to stand in line again.
     *
     * @param key null = there is none
     * @param granted for the first attempt; null = the key is not limited
     */
    private End askWithPermission(ModelRequest request, @Nullable String key, RateLimiter.@Nullable Granted granted)
            throws InterruptedException {
        while (true) {
            if (Thread.interrupted()) {
                if (granted != null) {
                    dispatcher.rates.release(granted);
                }
                throw new InterruptedException(); // nobody wants the reply any more: do not even ask
            }
            try {
                ModelReply reply = attempt(request);
                if (granted != null) {
                    settle(granted, reply.usage());
                }
                if (key != null && reply.nextRequestIn() != null) {
                    dispatcher.hold(key, reply.nextRequestIn());
                }
                return new End.Outcome(new ModelOutcome.Replied(reply, entry.attempts.get(), null, entry.charges));
            } catch (ModelCallException e) {
                entry.charge(e.charge());
                Duration pause = backoff.after(++entry.attemptsOfModel, e.retryAfter());
                String used = e.code() == ModelErrorCode.RATE_LIMITED && e.retryable() ? key : null;
                if (used != null) {
                    dispatcher.hold(used, pause);
                }
                if (!e.retryable() || entry.attemptsOfModel >= dispatcher.limits.maxAttempts() || !isInTime(pause)) {
                    return failed(e);
                }
                LOGGER.atInfo()
                        .addKeyValue("callId", entry.call.callId())
                        .addKeyValue("errorCode", e.code().wireName())
                        .addKeyValue("attempt", entry.attempts.get())
                        .addKeyValue("pauseMs", pause.toMillis())
                        .log("a model call failed and is tried again");
                if (used != null) {
                    return new End.Again(used);
                }
                dispatcher.clock.sleep(pause);
                if (key != null && granted != null) {
                    return new End.Again(key); // each attempt needs a permission of its own
                }
            }
        }
    }

    /** A limiter that breaks costs nobody a reply. */
    private void settle(RateLimiter.Granted granted, ModelReply.Usage used) {
        try {
            dispatcher.rates.settle(granted, used.inputTokens() + used.outputTokens());
        } catch (RuntimeException e) {
            LOGGER.atError().setCause(e).log("what a model call has used is not in the sums of its key's limit");
        }
    }

    private ModelReply attempt(ModelRequest request) throws ModelCallException {
        int attempt = entry.attempts.incrementAndGet();
        StreamListener listener = entry.call.listener();
        if (listener == null) {
            return dispatcher.model.chat(request);
        }
        try {
            if (dispatcher.isWanted(entry)) {
                listener.onAttempt(attempt);
            }
        } catch (RuntimeException e) {
            throw ModelCallException.brokenListener(e);
        }
        return dispatcher.model.stream(request, delta -> {
            if (dispatcher.isWanted(entry)) {
                listener.onDelta(delta);
            }
        });
    }
}
