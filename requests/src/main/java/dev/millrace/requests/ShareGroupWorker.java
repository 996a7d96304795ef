package dev.millrace.requests;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.PromptProducer;
import dev.millrace.schemas.Backoff;
import dev.millrace.schemas.Topics;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A worker on a Kafka share group (KIP-932) with as many share consumers as the slowness of the jobs asks for. One
 * thread looks after the whole: it sets the group up, makes consumers when {@link PollTurns} needs them, and asks now
 * and then whether the broker is there.
 */
final class ShareGroupWorker implements RequestWorker {
    private static final Logger LOGGER = LoggerFactory.getLogger(RequestWorker.class);

    private static final Duration IDLE = Duration.ofSeconds(60);
    private static final Duration ASK_EVERY = Duration.ofSeconds(5);
    private static final Duration NUDGE_EVERY = Duration.ofMillis(5);
    /**
     * What a poll can get stuck on comes right after a request, so in quiet times it need not be looked for so often.
     */
    private static final Duration QUIET = Duration.ofMillis(100);

    private static final Duration READY_FOR = Duration.ofSeconds(15);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
    /** How long an interrupted job may take to come back. */
    private static final Duration AFTER_INTERRUPT = Duration.ofSeconds(3);

    private final WorkerSettings settings;
    private final WorkerMeters meters;
    private final PollTurns turns;
    private final ShareGroup group;
    private final PromptProducer<byte[], byte[]> outbox;
    private final JobRunner runner;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final List<Running> takers = new CopyOnWriteArrayList<>();
    private final Thread caretaker;
    private volatile @Nullable Pool pool;
    private volatile long answeredAt;

    private record Running(Taker taker, Thread thread) {}

    private ShareGroupWorker(
            WorkerSettings settings,
            Function<PromptProducer<byte[], byte[]>, JobRunner.Work> purpose,
            MeterRegistry registry) {
        this.settings = settings;
        this.meters = new WorkerMeters(registry, settings.toolset());
        this.turns = new PollTurns(settings.maxConcurrent(), IDLE, System::nanoTime);
        ClientSettings sending = settings.kafka()
                .prompt(settings.group() + "-replies")
                .with(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Topics.MAX_COPY_BYTES);
        this.outbox = new PromptProducer<>(sending, new ByteArraySerializer(), new ByteArraySerializer());
        this.group = new ShareGroup(settings);
        this.runner = new JobRunner(purpose.apply(outbox), meters);
        this.caretaker = Thread.ofPlatform().name(settings.group() + "-pool").unstarted(this::lookAfter);
    }

    /** Starts one; {@code purpose} makes what is done with a record, whose replies go into the outbox. */
    static ShareGroupWorker start(
            WorkerSettings settings,
            Function<PromptProducer<byte[], byte[]>, JobRunner.Work> purpose,
            MeterRegistry registry) {
        ShareGroupWorker worker = new ShareGroupWorker(settings, purpose, registry);
        worker.caretaker.start();
        return worker;
    }

    @Override
    public boolean isReady() {
        Pool current = pool;
        return current != null
                && !turns.isClosed()
                && turns.seats() > 0
                && !current.isPausing()
                && System.nanoTime() - answeredAt < READY_FOR.toNanos();
    }

    @Override
    public void close() {
        if (closing.getCount() == 0) {
            return;
        }
        closing.countDown();
        turns.close();
        takers.forEach(running -> running.taker().stopPolling());
        caretaker.interrupt();
        boolean interrupted = false;
        try {
            caretaker.join(AFTER_INTERRUPT);
            if (!awaitEnd(settings.grace())) {
                LOGGER.atInfo()
                        .addKeyValue("running", turns.running())
                        .log("The grace period is over, running requests go back to the topic");
                Pool current = pool;
                if (current != null) {
                    current.interruptJobs();
                }
                if (!awaitEnd(AFTER_INTERRUPT)) {
                    LOGGER.atWarn()
                            .addKeyValue("running", turns.running())
                            .log("Requests do not heed their interruption, their locks go with the connection");
                }
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        outbox.close();
        group.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitEnd(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        for (Running running : takers) {
            long left = end - System.nanoTime();
            // zero would be taken for "without end"
            if (!running.thread().join(Duration.ofNanos(Math.max(left, 1)))) {
                return false;
            }
        }
        // a consumer that failed has left its jobs behind
        Pool current = pool;
        while (current != null && !current.isIdle()) {
            if (end - System.nanoTime() <= 0) {
                return false;
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
        return true;
    }

    private void lookAfter() {
        try {
            Pool prepared = prepare();
            pool = prepared;
            while (!turns.isClosed()) {
                boolean quiet = turns.quiet().compareTo(QUIET) > 0;
                int size = turns.awaitNeed(quiet ? QUIET : NUDGE_EVERY);
                if (size > 0) {
                    add(prepared, size);
                }
                takers.forEach(running -> running.taker().nudge());
                askBroker();
            }
        } catch (InterruptedException e) {
            LOGGER.debug("Stopping");
        }
    }

    /** Sets the group up, however long the broker or the topic is away. */
    private Pool prepare() throws InterruptedException {
        Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, settings.group());
        for (int attempt = 1; true; attempt++) {
            try {
                int partitions = group.prepare();
                answeredAt = System.nanoTime();
                LOGGER.atInfo()
                        .addKeyValue("topic", settings.topic())
                        .addKeyValue("group", settings.group())
                        .addKeyValue("maxConcurrent", settings.maxConcurrent())
                        .log("Taking requests");
                return new Pool(settings, turns, runner, partitions);
            } catch (KafkaException e) {
                LOGGER.atLevel(attempt == 1 ? Level.WARN : Level.DEBUG)
                        .addKeyValue("topic", settings.topic())
                        .addKeyValue("reason", e.toString())
                        .log("Cannot take requests yet, trying until it works");
            }
            if (closing.await(backoff.after(attempt, null).toNanos(), TimeUnit.NANOSECONDS)) {
                throw new InterruptedException("closing");
            }
        }
    }

    private void add(Pool current, int size) throws InterruptedException {
        if (current.isPausing()) {
            boolean unused = closing.await(200, TimeUnit.MILLISECONDS);
            return;
        }
        takers.removeIf(running -> !running.thread().isAlive());
        PollTurns.Seat seat = turns.enter(size);
        try {
            Taker taker = new Taker(current, seat);
            Thread thread =
                    Thread.ofPlatform().name(settings.group() + "-taker").start(taker);
            takers.add(new Running(taker, thread));
        } catch (KafkaException e) {
            turns.leave(seat);
            current.failed(e);
        }
    }

    private void askBroker() throws InterruptedException {
        long since = System.nanoTime() - answeredAt;
        if (since < ASK_EVERY.toNanos()) {
            return;
        }
        if (group.isReachable()) {
            if (since > READY_FOR.toNanos()) {
                LOGGER.info("Kafka answers again");
            }
            answeredAt = System.nanoTime();
            group.backlog().ifPresent(meters::backlog);
        } else if (since > READY_FOR.toNanos() && since < READY_FOR.toNanos() + 2 * ASK_EVERY.toNanos()) {
            LOGGER.warn("Kafka does not answer; requests are taken again when it does");
        }
    }
}
