package dev.millrace.requests;

import dev.millrace.kafka.Interrupts;
import dev.millrace.kafka.PromptProducer;
import dev.millrace.schemas.Backoff;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Events that nobody waits for an answer to: each ends as done or as a dead letter. Outages are waited out. */
final class NoticeWork implements JobRunner.Work {
    private static final Logger LOGGER = LoggerFactory.getLogger(RequestWorker.class);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final Topics topics;
    private final int maxDeliveries;
    private final NoticeHandler handler;
    private final PromptProducer<byte[], byte[]> outbox;

    NoticeWork(WorkerSettings settings, NoticeHandler handler, PromptProducer<byte[], byte[]> outbox) {
        this.topics = settings.topics();
        this.maxDeliveries = settings.maxDeliveries();
        this.handler = handler;
        this.outbox = outbox;
    }

    @Override
    public AcknowledgeType process(Job job, Runnable workDone) throws InterruptedException {
        NoticeHandler.Outcome outcome = outcome(job);
        workDone.run();
        return switch (outcome) {
            case NoticeHandler.Outcome.Done done -> AcknowledgeType.ACCEPT;
            case NoticeHandler.Outcome.GivenUp(String code, String detail) -> {
                job.about(LOGGER.atWarn()).addKeyValue("errorCode", code).log("A notice becomes a dead letter");
                outbox.send(DeadLetters.deadLetter(topics, job.consumed(), code, detail), "a dead letter");
                yield AcknowledgeType.REJECT;
            }
        };
    }

    private NoticeHandler.Outcome outcome(Job job) throws InterruptedException {
        if (job.deliveryCount() >= maxDeliveries) {
            return new NoticeHandler.Outcome.GivenUp(
                    ReplyEvents.DELIVERY_LIMIT,
                    "the notice was delivered " + job.deliveryCount() + " times and no worker has finished with it");
        }
        Backoff backoff = new Backoff(
                FIRST_PAUSE,
                LONGEST_PAUSE,
                job.consumed().partition() + "@" + job.consumed().offset());
        for (int attempt = 1; true; attempt++) {
            try {
                return handler.handle(job.event());
            } catch (MalformedEventException e) {
                return new NoticeHandler.Outcome.GivenUp(e.code(), String.valueOf(e.getMessage()));
            } catch (InterruptException e) {
                throw Interrupts.of(e);
            } catch (RuntimeException e) {
                if (!isOutage(e)) {
                    job.about(LOGGER.atError()).setCause(e).log("The handler of a notice threw an exception");
                    return new NoticeHandler.Outcome.GivenUp(
                            ReplyEvents.INTERNAL_ERROR,
                            "internal error: " + e.getClass().getSimpleName());
                }
                Duration pause = backoff.after(attempt, null);
                job.about(LOGGER.atWarn())
                        .addKeyValue("cause", e.toString())
                        .addKeyValue("pauseMs", pause.toMillis())
                        .log("What a notice needs is not there now; trying again");
                Thread.sleep(pause);
            }
        }
    }

    /** Whether it is over some day with the notice as it is: brokers are away, or a disk is full. */
    private static boolean isOutage(RuntimeException failure) {
        if (!(failure instanceof KafkaException || failure instanceof UncheckedIOException)) {
            return false;
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof RecordTooLargeException
                    || cause instanceof RecordBatchTooLargeException
                    || cause instanceof SerializationException) {
                return false;
            }
        }
        return true;
    }
}
