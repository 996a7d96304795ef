package dev.millrace.agent.projection;

import dev.millrace.agent.SessionOrigin;
import dev.millrace.api.Approval;
import dev.millrace.api.NamespaceList;
import dev.millrace.api.QueueItem;
import dev.millrace.api.Session;
import dev.millrace.api.Task;
import dev.millrace.engine.RocksSettings;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicId;
import dev.millrace.kafka.TopicIdentity;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.Topics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * All tasks and events of the journal on local disk. Each instance has the whole of it, so any may be asked. What the
 * folder holds may be thrown away at any time between two runs: it is built again from the journal. It is thrown away
 * if it was built from another journal, of another cluster or one that was deleted and made again, also while this
 * runs. For any thread.
 */
public final class TaskProjection implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(TaskProjection.class);

    private static final int MAX_NAMESPACES = 10_000;
    private static final Duration FIRST_RETRY = Duration.ofMillis(500);
    private static final Duration LAST_RETRY = Duration.ofSeconds(30);
    /** How often is looked whether the journal is still the same. */
    private static final Duration LOOK = Duration.ofSeconds(5);

    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

    private final StreamsConfig config;
    private final Topics topics;
    private final Duration retention;
    private final ProjectedJournal journal;
    private final Path store;
    private final AppliedOffsets applied = new AppliedOffsets();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread supervisor;
    private volatile @Nullable KafkaStreams streams;
    private volatile @Nullable Throwable stoppedBy;

    /**
     * Does nothing yet, see {@link #start}.
     *
     * @param kafka how to reach the brokers: {@code bootstrap.servers} and whatever security needs
     * @param stateDir the folder for the store; for this instance alone
     * @param retention how long a task is kept after its last event; zero or less = for ever
     */
    public TaskProjection(ClientSettings kafka, Topics topics, Path stateDir, Duration retention) {
        this.topics = topics;
        this.retention = retention;
        this.config = new StreamsConfig(config(kafka, topics, stateDir).values());
        this.store = stateDir.resolve(applicationId(topics)).resolve("global");
        this.journal = new ProjectedJournal(
                TopicIdentity.of(kafka, topics.journal()), stateDir.resolve(applicationId(topics) + ".journal.json"));
        this.supervisor = Thread.ofPlatform().daemon().name("projection").unstarted(this::run);
    }

    private static ClientSettings config(ClientSettings kafka, Topics topics, Path stateDir) {
        return kafka.with(StreamsConfig.APPLICATION_ID_CONFIG, applicationId(topics))
                .with(StreamsConfig.STATE_DIR_CONFIG, stateDir.toString())
                .withDefault(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, RocksSettings.class)
                .with(StreamsConfig.GLOBAL_CONSUMER_PREFIX + ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed")
                // at the start a partition is read when the fetch at the end of the one before has been answered
                .with(StreamsConfig.GLOBAL_CONSUMER_PREFIX + ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 250)
                .with(StreamsConfig.GLOBAL_CONSUMER_PREFIX + ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 1_000);
    }

    private static String applicationId(Topics topics) {
        return topics.prefix() + "projection";
    }

    /**
     * Begins to follow the journal and returns at once; {@link #ready} tells when it has caught up. While the brokers
     * or the topic are away it tries again, with growing pauses. A second call does nothing.
     */
    public synchronized void start() {
        if (supervisor.getState() == Thread.State.NEW) {
            supervisor.start();
        }
    }

    /** Whether questions are answered: it has caught up with the journal once and follows it. */
    public boolean ready() {
        KafkaStreams running = streams;
        return running != null && running.state() == KafkaStreams.State.RUNNING;
    }

    /** Empty if questions are answered; else what it waits for, or what stopped it last, for people. */
    public Optional<String> notReady() {
        if (ready()) {
            return Optional.empty();
        }
        if (supervisor.getState() == Thread.State.TERMINATED && closed.getCount() > 0) {
            return Optional.of("its thread has ended");
        }
        Throwable cause = stoppedBy;
        return Optional.of(cause == null ? "the journal, to catch up with" : "begins again after " + cause);
    }

    /**
     * A task and how it came there.
     *
     * @return empty if the journal has told nothing about such a task
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Optional<Task.Details> task(String namespace, String taskId) {
        // whether an id is a task's is asked for each event that starts one: mostly it is not, and that is soon seen
        return askStore(rows -> ProjectionReader.knows(rows, namespace, taskId)
                ? new ProjectionReader(rows).details(namespace, taskId)
                : Optional.empty());
    }

    /**
     * The tools that calls of a task are for, as far as its last events tell.
     *
     * @param callIds the calls
     * @return names of tools, in no order; none for calls that were asked for long ago
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Set<String> toolsOf(String namespace, String taskId, Collection<String> callIds) {
        return ask(reader -> reader.toolsOf(namespace, taskId, callIds));
    }

    /**
     * How a task moved from state to state, the oldest move first.
     *
     * @param after only what comes after this place; {@code null} = from the beginning
     * @param limit at most so many, 1 or more
     * @return empty if there is no such task
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Optional<Task.MovePage> history(String namespace, String taskId, @Nullable JournalCursor after, int limit) {
        return ask(reader -> reader.history(namespace, taskId, after, limit));
    }

    /**
     * Tool calls that wait for a decision, the one that has waited longest first.
     *
     * @throws IllegalArgumentException if {@link ApprovalQuery#after} is not what a page said
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Approval.Page approvals(ApprovalQuery query) {
        return ask(reader -> reader.approvals(query));
    }

    /**
     * A tool call that waits, or waited, for a decision.
     *
     * @return empty if the journal has told of no such call
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Optional<Approval.Details> approval(String namespace, String callId) {
        return ask(reader -> reader.approval(namespace, callId));
    }

    /**
     * Tasks, newest first.
     *
     * @throws IllegalArgumentException if {@link TaskQuery#before} is not what a page said
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Task.Page tasks(TaskQuery query) {
        return ask(reader -> reader.tasks(query));
    }

    /**
     * How many there are in each state, of those that this query would list on all its pages.
     *
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Task.Counts counts(TaskQuery query) {
        return ask(reader -> reader.counts(query));
    }

    /**
     * What was accepted, the newest first.
     *
     * @throws IllegalArgumentException if {@link QueueQuery#before} is not what a page said
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public QueueItem.Page queue(QueueQuery query) {
        return askStore(rows -> new QueueReader(rows).items(query));
    }

    /**
     * How far an event is.
     *
     * @return empty if the journal has told nothing of it
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Optional<QueueItem> queueItem(String namespace, String eventId) {
        return askStore(rows -> new QueueReader(rows).item(namespace, eventId));
    }

    /**
     * An event that was accepted, whole.
     *
     * @return empty if the journal has told nothing of it
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Optional<Event> accepted(String namespace, String eventId) {
        return askStore(rows -> new QueueReader(rows).event(namespace, eventId));
    }

    /**
     * Sessions of a namespace, the one in which something happened last first.
     *
     * @param limit at most so many, 1 or more
     * @param before what a page said is {@link Session.Page#next}; {@code null} = the first page
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Session.Page sessions(String namespace, int limit, @Nullable String before) {
        return askOfSessions(reader -> reader.sessions(namespace, limit, before));
    }

    /**
     * The namespaces in which there are tasks or sessions, by name; at most {@value #MAX_NAMESPACES} of each.
     *
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public NamespaceList namespaces() {
        return new NamespaceList(List.copyOf(askOfSessions(reader -> reader.namespaces(MAX_NAMESPACES))), null);
    }

    /**
     * One session.
     *
     * @return empty if the journal has told nothing of it
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Optional<Session> session(String namespace, String sessionId) {
        return askOfSessions(reader -> reader.session(namespace, sessionId));
    }

    /**
     * The session of an origin in which something happened last.
     *
     * @param name what senders call the origin
     * @return empty if none is known
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Optional<String> newestSession(String namespace, SessionOrigin origin, String name) {
        return askOfSessions(reader -> reader.newest(namespace, origin, name));
    }

    /**
     * What was said in a session: the newest that is wanted, the oldest of that first.
     *
     * @param span between which moments, in Unix milliseconds, both included
     * @param before none from this place of the journal on; {@code null} = the newest
     * @return empty if the journal has told nothing of the session
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Optional<Session.Messages> messages(
            String namespace, String sessionId, Span span, int limit, @Nullable JournalCursor before) {
        return askOfSessions(reader -> reader.messages(
                new SessionReader.MessageQuery(namespace, sessionId, limit, span.from(), span.to(), before)));
    }

    /** From one moment to another, in Unix milliseconds. */
    public record Span(long from, long to) {
        /** Whenever. */
        public static final Span ALWAYS = new Span(Long.MIN_VALUE, Long.MAX_VALUE);
    }

    /**
     * What happened to a task, in journal order.
     *
     * @param after only what comes after this place; {@code null} = from the beginning
     * @param limit at most so many, 1 or more
     * @return empty if there is no such task
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Optional<EventPage> events(String namespace, String taskId, @Nullable JournalCursor after, int limit) {
        return events(namespace, taskId, after, limit, ProjectionReader.MAX_PAGE_BYTES);
    }

    /**
     * The same.
     *
     * @param maxBytes about how large the page may be if it has more than one event; no page is larger than {@value
     *     ProjectionReader#MAX_PAGE_BYTES}
     */
    public Optional<EventPage> events(
            String namespace, String taskId, @Nullable JournalCursor after, int limit, int maxBytes) {
        return ask(reader -> reader.events(namespace, taskId, after, limit, maxBytes));
    }

    /**
     * An event and what led to it. It begins later than at the root if an event of the chain is no longer (or was
     * never) in the journal, or on a later page.
     *
     * @param limit at most so many, 1 or more
     * @return empty if there is no such event
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public Optional<ChainPage> chain(String namespace, String eventId, int limit) {
        return ask(reader -> reader.chain(namespace, eventId, limit));
    }

    /**
     * What model calls have used, added up.
     *
     * @param now the wall clock in Unix milliseconds
     * @throws IllegalArgumentException if the answer would be too long
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public UsageReport usage(UsageQuery query, long now) {
        return ask(reader -> reader.usage(query, now));
    }

    /**
     * Blocks until what stands at this place of the journal can be asked for, at most so long.
     *
     * @return whether it can
     * @throws ProjectionNotReadyException see {@link #ready}
     */
    public boolean await(JournalCursor cursor, Duration atMost) throws InterruptedException {
        boolean stored = askStore(rows -> ProjectionReader.position(rows, cursor.partition())
                .map(position -> position.offset() >= cursor.offset())
                .orElse(false));
        return stored || applied.await(cursor, atMost);
    }

    /** Records of the journal that were taken since the start. */
    public long appliedRecords() {
        return applied.appliedCount();
    }

    /** Records of the journal that were no events and were passed over, since the start. */
    public long malformedRecords() {
        return applied.malformedCount();
    }

    /** Records of the journal that a defect kept from being taken, since the start. */
    public long skippedRecords() {
        return applied.skippedCount();
    }

    /** Stops following and closes the store, within seconds. */
    @Override
    public void close() {
        closed.countDown();
        supervisor.interrupt();
        try {
            supervisor.join(CLOSE_LIMIT.plusSeconds(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private <T> T ask(Function<ProjectionReader, T> question) {
        return askStore(rows -> question.apply(new ProjectionReader(rows)));
    }

    private <T> T askOfSessions(Function<SessionReader, T> question) {
        return askStore(rows -> question.apply(new SessionReader(rows)));
    }

    private <T> T askStore(Function<ReadOnlyKeyValueStore<Bytes, byte[]>, T> question) {
        KafkaStreams running = streams;
        if (running == null || running.state() != KafkaStreams.State.RUNNING) {
            throw new ProjectionNotReadyException(null);
        }
        try {
            return question.apply(running.store(StoreQueryParameters.fromNameAndType(
                    ProjectionTopology.STORE, QueryableStoreTypes.keyValueStore())));
        } catch (InvalidStateStoreException e) {
            throw new ProjectionNotReadyException(e);
        }
    }

    /**
     * Keeps one KafkaStreams running: it gives up when its store no longer fits the journal, or has no topic to read.
     */
    private void run() {
        try {
            keepRunning();
        } finally {
            journal.close();
        }
    }

    private void keepRunning() {
        Duration pause = FIRST_RETRY;
        while (closed.getCount() > 0) {
            long startedAt = System.nanoTime();
            try {
                TopicId now = journal.now().orElse(null);
                if (now == null) {
                    stoppedBy =
                            new KafkaException("the journal is not there, or the brokers do not say which one it is");
                    LOGGER.atInfo().log("The projection waits for the journal");
                } else if (runOnce(now)) {
                    pause = FIRST_RETRY;
                    continue;
                }
            } catch (RuntimeException | LinkageError e) {
                stoppedBy = e;
                LOGGER.atWarn().setCause(e).log("The projection of the journal could not be made and tries again");
            } catch (InterruptedException e) {
                return;
            }
            boolean lasted = System.nanoTime() - startedAt > LAST_RETRY.toNanos();
            pause = lasted
                    ? FIRST_RETRY
                    : pause.multipliedBy(2).compareTo(LAST_RETRY) < 0 ? pause.multipliedBy(2) : LAST_RETRY;
            try {
                if (closed.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Whether it ended because the journal is another one by now. */
    private boolean runOnce(TopicId followed) {
        CountDownLatch stopped = new CountDownLatch(1);
        SweepingClients clients = new SweepingClients();
        KafkaStreams started =
                new KafkaStreams(ProjectionTopology.build(topics, applied, retention, clients::tell), config, clients);
        started.setUncaughtExceptionHandler(e -> {
            stoppedBy = e;
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        started.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.ERROR || now == KafkaStreams.State.NOT_RUNNING) {
                stopped.countDown();
            }
        });
        try {
            clearFor(followed, started);
            streams = started;
            started.start(); // returns once the store has caught up
            stoppedBy = null;
            LOGGER.info("The projection of the journal is ready");
            while (!stopped.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
                TopicId now = journal.now().orElse(followed);
                if (!now.equals(followed)) {
                    stoppedBy = new KafkaException(followed.changedInto(now));
                    return true;
                }
            }
        } catch (RuntimeException | LinkageError e) {
            stoppedBy = e;
            if (closed.getCount() > 0) {
                LOGGER.atWarn().setCause(e).log("The projection of the journal could not start and tries again");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            streams = null;
            boolean interrupted = Thread.interrupted(); // or close would not wait
            started.close(CLOSE_LIMIT);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return false;
    }

    /** Deletes what was built from another journal. */
    private void clearFor(TopicId followed, KafkaStreams notStarted) {
        applied.beginAnew(); // what the store says itself is what counts
        journal.objection(followed).ifPresent(objection -> {
            LOGGER.atLevel(Files.isDirectory(store) ? Level.WARN : Level.INFO)
                    .addKeyValue("reason", objection)
                    .log("The projection is built from the beginning of the journal; what was there is deleted");
            notStarted.cleanUp();
            journal.is(followed);
        });
    }
}
