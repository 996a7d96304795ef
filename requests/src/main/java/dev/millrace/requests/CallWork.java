package dev.millrace.requests;

import dev.millrace.kafka.PromptProducer;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/** Tool calls: each is answered with exactly one reply. */
final class CallWork implements JobRunner.Work {
    private static final Logger LOGGER = LoggerFactory.getLogger(RequestWorker.class);

    /** For the log. */
    private static final String REPLY = "a reply";

    private final Topics topics;
    private final int maxDeliveries;
    private final RequestHandler handler;
    private final PromptProducer<byte[], byte[]> outbox;

    CallWork(WorkerSettings settings, RequestHandler handler, PromptProducer<byte[], byte[]> outbox) {
        this.topics = settings.topics();
        this.maxDeliveries = settings.maxDeliveries();
        this.handler = handler;
        this.outbox = outbox;
    }

    @Override
    public AcknowledgeType process(Job job, Runnable workDone) throws InterruptedException {
        Request request;
        try {
            request = Request.of(job.event(), job.deliveryCount());
        } catch (MalformedEventException e) {
            job.about(LOGGER.atWarn())
                    .addKeyValue("errorCode", e.code())
                    .log("A request cannot be read and becomes a dead letter");
            deadLetter(job, e.code(), e.getMessage());
            return AcknowledgeType.REJECT;
        }
        if (job.deliveryCount() >= maxDeliveries) {
            String why = "the request was delivered " + job.deliveryCount()
                    + " times and no worker has answered it; expected fewer than " + maxDeliveries;
            about(LOGGER.atWarn(), request).log("A request was delivered too often and is given up");
            reply(request, new Reply.Failed(ReplyEvents.DELIVERY_LIMIT, why, 0));
            deadLetter(job, ReplyEvents.DELIVERY_LIMIT, why);
            return AcknowledgeType.REJECT;
        }
        Reply reply = handle(handler, request);
        workDone.run();
        reply(request, reply);
        return AcknowledgeType.ACCEPT;
    }

    /** What a handler says to a request, whatever it throws. */
    static Reply handle(RequestHandler handler, Request request) throws InterruptedException {
        long start = System.nanoTime();
        try {
            return handler.handle(request);
        } catch (RuntimeException e) {
            about(LOGGER.atError(), request).setCause(e).log("The handler of a request threw an exception");
            return new Reply.Failed(
                    ReplyEvents.INTERNAL_ERROR,
                    "internal error: " + e.getClass().getSimpleName(),
                    millisSince(start));
        }
    }

    private void reply(Request request, Reply reply) throws InterruptedException {
        try {
            outbox.send(message(request, reply), REPLY);
        } catch (RecordTooLargeException e) {
            about(LOGGER.atWarn(), request).log("A reply is too large for a record");
            Reply.Failed tooLarge = new Reply.Failed(
                    ReplyEvents.RESULT_TOO_LARGE,
                    "the result is too large: expected at most " + Topics.MAX_EVENT_BYTES
                            + " bytes with everything around it",
                    reply.durationMs());
            outbox.send(message(request, tooLarge), REPLY);
        }
    }

    /** The reply as a record that its reader will take; else the call would wait for an answer that nobody can read. */
    private ProducerRecord<byte[], byte[]> message(Request request, Reply reply) {
        String why;
        try {
            ProducerRecord<byte[], byte[]> message = encoded(ReplyEvents.toEvent(request, reply, Instant.now()));
            Event read = EventCodec.fromRecord(message.headers(), message.value(), Instant.now());
            List<String> problems = EventSchemas.problems(read);
            if (problems.isEmpty()) {
                return message;
            }
            why = problems.getFirst();
        } catch (MalformedEventException | IllegalArgumentException e) {
            why = String.valueOf(e.getMessage());
        }
        about(LOGGER.atError(), request)
                .addKeyValue("reason", why)
                .log("The result of a handler is no JSON of an event");
        return encoded(ReplyEvents.toEvent(request, noJson(reply, why), Instant.now()));
    }

    /** What is said in place of a result that no event may hold. */
    static Reply noJson(Reply reply, String why) {
        return new Reply.Failed(
                ReplyEvents.INTERNAL_ERROR,
                "internal error: the result is no JSON that an event may hold: " + why,
                reply.durationMs());
    }

    private ProducerRecord<byte[], byte[]> encoded(Event event) {
        ProducerRecord<String, byte[]> reply = EventCodec.toRecord(topics.lane(event.lane()), event);
        return new ProducerRecord<>(
                reply.topic(),
                null,
                reply.timestamp(),
                reply.key().getBytes(StandardCharsets.UTF_8),
                reply.value(),
                reply.headers());
    }

    private void deadLetter(Job job, String reason, @Nullable String detail) throws InterruptedException {
        outbox.send(DeadLetters.deadLetter(topics, job.consumed(), reason, detail), "a dead letter");
    }

    private static LoggingEventBuilder about(LoggingEventBuilder log, Request request) {
        return log.addKeyValue("taskId", request.event().taskId())
                .addKeyValue("callId", request.callId())
                .addKeyValue("toolName", request.toolName());
    }

    private static long millisSince(long startNanos) {
        return (System.nanoTime() - startNanos) / 1_000_000;
    }
}
