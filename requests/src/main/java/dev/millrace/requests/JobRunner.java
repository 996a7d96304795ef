package dev.millrace.requests;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.kafka.DeadLetters;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/** Does one job from the record to its acknowledged reply. Runs on the job's own virtual thread. */
final class JobRunner {
    private static final Logger LOGGER = LoggerFactory.getLogger(RequestWorker.class);

    private final Topics topics;
    private final int maxDeliveries;
    private final RequestHandler handler;
    private final Outbox outbox;
    private final Counters counters;

    JobRunner(WorkerSettings settings, RequestHandler handler, Outbox outbox, Counters counters) {
        this.topics = settings.topics();
        this.maxDeliveries = settings.maxDeliveries();
        this.handler = handler;
        this.outbox = outbox;
        this.counters = counters;
    }

    /**
     * Does the job and settles it.
     *
     * @param workDone called once, as soon as another job may start: the reply may still be on its way then
     */
    void run(Job job, Runnable workDone) {
        Once done = new Once(workDone);
        AcknowledgeType outcome = AcknowledgeType.RELEASE;
        long begun = System.nanoTime();
        try {
            outcome = process(job, done);
        } catch (InterruptedException e) {
            counters.returned();
        } finally {
            // also when an Error ends this thread: the request then goes back and is counted as delivered once more
            done.run();
            job.settle(outcome);
            counters.ended(meaning(outcome), Duration.ofNanos(System.nanoTime() - begun));
        }
    }

    private static WorkerMetrics.Outcome meaning(AcknowledgeType outcome) {
        return switch (outcome) {
            case ACCEPT -> WorkerMetrics.Outcome.REPLIED;
            case REJECT -> WorkerMetrics.Outcome.DEAD_LETTERED;
            case RELEASE, RENEW -> WorkerMetrics.Outcome.RETURNED;
        };
    }

    private static Duration waited(Job job) {
        long ms = System.currentTimeMillis() - job.consumed().timestamp();
        return Duration.ofMillis(Math.max(0, ms));
    }

    private AcknowledgeType process(Job job, Once done) throws InterruptedException {
        counters.taken(job.deliveryCount(), waited(job));
        Request request;
        try {
            request = read(job);
        } catch (MalformedEventException e) {
            LOGGER.atWarn()
                    .addKeyValue("topic", job.consumed().topic())
                    .addKeyValue("partition", job.consumed().partition())
                    .addKeyValue("offset", job.consumed().offset())
                    .addKeyValue("errorCode", e.code())
                    .log("A request cannot be read and becomes a dead letter");
            deadLetter(job, e.code(), e.getMessage());
            return AcknowledgeType.REJECT;
        }
        if (job.deliveryCount() >= maxDeliveries) {
            String why = "the request was delivered " + job.deliveryCount()
                    + " times and no worker has answered it; expected fewer than " + maxDeliveries;
            about(LOGGER.atWarn(), request).log("A request was delivered too often and is given up");
            reply(request, new Reply.Failed(Replies.DELIVERY_LIMIT, why, 0));
            deadLetter(job, Replies.DELIVERY_LIMIT, why);
            return AcknowledgeType.REJECT;
        }
        Reply reply = handle(request);
        done.run();
        reply(request, reply);
        return AcknowledgeType.ACCEPT;
    }

    private static Request read(Job job) throws MalformedEventException {
        ConsumerRecord<byte[], byte[]> consumed = job.consumed();
        Event event = EventCodec.fromRecord(
                consumed.headers(), consumed.value(), Instant.ofEpochMilli(Math.max(0, consumed.timestamp())));
        return Request.of(event, job.deliveryCount());
    }

    private Reply handle(Request request) throws InterruptedException {
        long start = System.nanoTime();
        try {
            return handler.handle(request);
        } catch (RuntimeException e) {
            about(LOGGER.atError(), request).setCause(e).log("The handler of a request threw an exception");
            return new Reply.Failed(
                    Replies.INTERNAL_ERROR, "internal error: " + e.getClass().getSimpleName(), millisSince(start));
        }
    }

    private void reply(Request request, Reply reply) throws InterruptedException {
        try {
            send(event(request, reply));
        } catch (RecordTooLargeException e) {
            about(LOGGER.atWarn(), request).log("A reply is too large for a record");
            send(Replies.toEvent(
                    request,
                    new Reply.Failed(
                            Replies.RESULT_TOO_LARGE,
                            "the result is too large: expected at most " + Topics.MAX_EVENT_BYTES
                                    + " bytes with everything around it",
                            reply.durationMs()),
                    Instant.now()));
        }
        counters.replied();
    }

    private static Event event(Request request, Reply reply) {
        try {
            return Replies.toEvent(request, reply, Instant.now());
        } catch (IllegalArgumentException e) {
            about(LOGGER.atError(), request).setCause(e).log("The result of a handler is no JSON");
            return Replies.toEvent(
                    request,
                    new Reply.Failed(
                            Replies.INTERNAL_ERROR, "internal error: the result is no JSON", reply.durationMs()),
                    Instant.now());
        }
    }

    private void send(Event event) throws InterruptedException {
        ProducerRecord<String, byte[]> reply = EventCodec.toRecord(topics.lane(event.lane()), event);
        outbox.send(new ProducerRecord<>(
                reply.topic(),
                null,
                reply.timestamp(),
                reply.key().getBytes(StandardCharsets.UTF_8),
                reply.value(),
                reply.headers()));
    }

    private void deadLetter(Job job, String reason, @Nullable String detail) throws InterruptedException {
        outbox.send(DeadLetters.deadLetter(topics, job.consumed(), reason, detail));
        counters.deadLettered();
    }

    private static LoggingEventBuilder about(LoggingEventBuilder log, Request request) {
        return log.addKeyValue("taskId", request.event().taskId())
                .addKeyValue("callId", request.callId())
                .addKeyValue("toolName", request.toolName());
    }

    private static long millisSince(long startNanos) {
        return (System.nanoTime() - startNanos) / 1_000_000;
    }

    /** Runs something at most once. For one thread. */
    private static final class Once implements Runnable {
        private final Runnable action;
        private boolean ran;

        Once(Runnable action) {
            this.action = action;
        }

        @Override
        public void run() {
            if (!ran) {
                ran = true;
                action.run();
            }
        }
    }
}
