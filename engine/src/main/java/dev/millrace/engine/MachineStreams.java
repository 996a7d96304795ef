package dev.millrace.engine;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Topics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.ThreadMetadata;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the topology of a machine: exactly once, with the group protocol that was made for Streams (KIP-1071). */
public final class MachineStreams implements AutoCloseable {

    /**
     * The largest record that a machine writes. A record on a lane has at most 1 MiB; as JSON inside JSON it can
     * double, and control characters take six bytes.
     */
    public static final int MAX_RECORD_BYTES = 8 * 1024 * 1024;

    /** The largest row, key and value together; the rest of {@link #MAX_RECORD_BYTES} is what a changelog adds. */
    public static final int MAX_ROW_BYTES = MAX_RECORD_BYTES - 4 * 1024;

    /**
     * How the changelogs of stores are made: what a row was before it was rewritten or deleted is gone within a day, so
     * that what is forgotten is. Brokers compress them, unlike other topics, which are for clients of any kind: not all
     * of these read Zstandard.
     */
    public static final Map<String, String> CHANGELOG = Map.of(
            TopicConfig.MAX_MESSAGE_BYTES_CONFIG,
            Integer.toString(MAX_RECORD_BYTES),
            TopicConfig.MAX_COMPACTION_LAG_MS_CONFIG,
            Long.toString(Topics.COMPACTION_LAG.toMillis()),
            TopicConfig.COMPRESSION_TYPE_CONFIG,
            "zstd",
            TopicConfig.COMPRESSION_ZSTD_LEVEL_CONFIG,
            "1");

    /** The commit interval of {@link Settings}, for the processor. */
    static final String MACHINE_COMMIT_INTERVAL_MS = "millrace.commit.interval.ms";

    private static final Duration LEAST_COMMIT_INTERVAL = Duration.ofSeconds(2);
    private static final int BATCH_BYTES = 64 * 1024;
    /**
     * What waits for a thread is bounded in records, each of which may have a mebibyte; Streams' own 1000 would be a
     * gigabyte.
     */
    private static final int BUFFERED_RECORDS = 100;

    private static final Logger LOGGER = LoggerFactory.getLogger(MachineStreams.class);
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);
    private static final Duration SETTLING_TIME = Duration.ofSeconds(10);

    private final String machine;
    private final String group;
    private final LocalState localState;
    private final Quarantine quarantine;
    private final KafkaStreams streams;
    private final CompletableFuture<Throwable> damaged = new CompletableFuture<>();
    private volatile @Nullable Long runningSince;
    private volatile @Nullable Throwable fatal;

    /**
     * How the topology runs.
     *
     * @param machine what logs call it
     * @param topics of the installation
     * @param applicationId group, and prefix of internal topics
     * @param stateDir for this instance alone
     * @param threads 1 or more
     * @param commitInterval more than zero
     */
    public record Settings(
            String machine, Topics topics, String applicationId, Path stateDir, int threads, Duration commitInterval) {

        /**
         * Checks what an operator has set.
         *
         * @param prefix of the keys, for the message
         * @throws IllegalArgumentException if a value is out of its range
         */
        public static void require(String prefix, int threads, Duration commitInterval) {
            if (threads < 1) {
                throw new IllegalArgumentException(prefix + ".stream-threads: expected 1 or more, found " + threads);
            }
            if (commitInterval.isNegative() || commitInterval.isZero()) {
                throw new IllegalArgumentException(
                        prefix + ".commit-interval: expected more than zero, found " + commitInterval);
            }
        }
    }

    /**
     * Not started yet; {@code kafka} says how to reach the brokers, and whatever else is to be set beside
     * {@link #config}.
     */
    public MachineStreams(ClientSettings kafka, Settings settings, Topology topology) {
        machine = settings.machine();
        group = settings.applicationId();
        localState = new LocalState(settings.stateDir(), settings.applicationId());
        quarantine = new Quarantine();
        ClientSettings config = config(kafka, settings).with(Quarantine.CONFIG, quarantine);
        Properties properties = new Properties(); // with a clock Streams takes nothing else
        properties.putAll(config.values());
        streams = new KafkaStreams(topology, properties, new MachineClients(), new MachineTime());
        streams.setStateListener((now, before) -> {
            runningSince = now == KafkaStreams.State.RUNNING ? (Long) System.nanoTime() : null;
            LOGGER.atInfo()
                    .addKeyValue("machine", machine)
                    .addKeyValue("state", now)
                    .log("A machine changed its state");
        });
        streams.setUncaughtExceptionHandler(this::onFailure);
    }

    /** The settings of Streams; visible to tests and to the README's claims. */
    public static ClientSettings config(ClientSettings kafka, Settings settings) {
        Duration commitInterval = settings.commitInterval();
        return kafka.with(StreamsConfig.APPLICATION_ID_CONFIG, settings.applicationId())
                .with(StreamsConfig.STATE_DIR_CONFIG, settings.stateDir().toString())
                .with(StreamsConfig.NUM_STREAM_THREADS_CONFIG, settings.threads())
                .with(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2)
                .with(MACHINE_COMMIT_INTERVAL_MS, commitInterval.toMillis())
                // A net: CommitTiming asks for commits before that. Streams counts from its own last commit, not from
                // those, and commits after each punctuation, so that a shorter one is a transaction in each of its
                // turns with nothing to do.
                .with(
                        StreamsConfig.COMMIT_INTERVAL_MS_CONFIG,
                        Math.max(
                                LEAST_COMMIT_INTERVAL.toMillis(),
                                commitInterval.toMillis() * CommitTiming.LONGEST_INTERVALS))
                // what is due is looked for when the poll returns, and this one returns for it
                .with(StreamsConfig.InternalConfig.INTERNAL_CONSUMER_WRAPPER, CommittingConsumer.class)
                // classic groups do not leave on close, so that a restart waits for the session to time out
                .with(StreamsConfig.GROUP_PROTOCOL_CONFIG, "streams")
                .with(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, true)
                // as the broker is set up
                .with(StreamsConfig.REPLICATION_FACTOR_CONFIG, -1)
                // Nobody sees a record before the commit, and that does not wait for the linger. So a transaction goes
                // in few requests, none of which meets the one before while its markers are being written.
                .with(StreamsConfig.producerPrefix(ProducerConfig.LINGER_MS_CONFIG), 100)
                .with(StreamsConfig.producerPrefix(ProducerConfig.BATCH_SIZE_CONFIG), BATCH_BYTES)
                .with(StreamsConfig.producerPrefix(ProducerConfig.MAX_REQUEST_SIZE_CONFIG), MAX_RECORD_BYTES)
                .redactingDeadLetters(StreamsConfig.PRODUCER_PREFIX)
                // the timers' tick; who waits for a record, a commit or what is handed over does not wait for that
                .withDefault(StreamsConfig.POLL_MS_CONFIG, 200)
                // a producer sleeps that long when it has been told which broker coordinates its transactions
                .with(StreamsConfig.producerPrefix(ProducerConfig.RETRY_BACKOFF_MS_CONFIG), 20)
                .with(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest")
                // the next partition is restored when the fetch at the end of the one before has been answered
                .with(StreamsConfig.restoreConsumerPrefix(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG), 50)
                .withDefault(StreamsConfig.BUFFERED_RECORDS_PER_PARTITION_CONFIG, BUFFERED_RECORDS)
                .withDefault(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, RocksSettings.class)
                .with(MachineExceptionHandler.TOPICS, settings.topics())
                .with(StreamsConfig.PRODUCTION_EXCEPTION_HANDLER_CLASS_CONFIG, MachineExceptionHandler.class)
                .with(StreamsConfig.PROCESSING_EXCEPTION_HANDLER_CLASS_CONFIG, MachineExceptionHandler.class)
                .with(StreamsConfig.DESERIALIZATION_EXCEPTION_HANDLER_CLASS_CONFIG, MachineExceptionHandler.class);
    }

    /** Begins to start and returns. Once. */
    public void start() {
        streams.start();
    }

    /** As Kafka Streams has it, for its state and metrics. */
    KafkaStreams streams() {
        return streams;
    }

    /** Whether it takes records: running, with partitions, or settled without any because other instances have them. */
    public boolean ready() {
        Long since = runningSince;
        if (since == null || streams.state() != KafkaStreams.State.RUNNING) {
            return false;
        }
        boolean hasTasks = streams.metadataForLocalThreads().stream()
                .anyMatch(thread -> !thread.activeTasks().isEmpty());
        return hasTasks || System.nanoTime() - since > SETTLING_TIME.toNanos();
    }

    /**
     * The ids of the clients, one of each thread, that have no task, not even as a standby, although it has run for as
     * long as groups take to settle.
     */
    Set<String> idleClients() {
        Long since = runningSince;
        if (since == null || System.nanoTime() - since <= SETTLING_TIME.toNanos()) {
            return Set.of();
        }
        return streams.metadataForLocalThreads().stream()
                .filter(thread ->
                        thread.activeTasks().isEmpty() && thread.standbyTasks().isEmpty())
                .map(ThreadMetadata::consumerClientId)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** The group whose tasks it shares. */
    String group() {
        return group;
    }

    /** Where its state is. */
    LocalState localState() {
        return localState;
    }

    /**
     * Waits for its local state to fail, so that it stopped and another one has to take its place.
     *
     * @return the failure, or {@code null} if there was none for so long
     */
    @Nullable
    Throwable awaitDamage(Duration limit) throws InterruptedException {
        try {
            return damaged.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return null;
        } catch (ExecutionException e) {
            throw new IllegalStateException("never completed in this way", e);
        }
    }

    /** Why it stopped for good; empty while it runs, may still recover, or only its local state failed. */
    public Optional<Throwable> fatal() {
        return Optional.ofNullable(fatal);
    }

    @Override
    public void close() {
        streams.close(CloseOptions.timeout(CLOSE_LIMIT)
                .withGroupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
    }

    private StreamThreadExceptionResponse onFailure(Throwable failure) {
        if (damaged.isDone()) {
            // another machine takes its place, and has its threads anew
            LOGGER.atWarn()
                    .addKeyValue("machine", machine)
                    .setCause(failure)
                    .log("Another stream thread of a machine that stops failed");
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        }
        if (Failures.mayPass(failure)) {
            LOGGER.atWarn()
                    .addKeyValue("machine", machine)
                    .setCause(failure)
                    .log("A stream thread failed and is replaced");
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        }
        if (quarantine.explains(failure)) {
            LOGGER.atError()
                    .addKeyValue("machine", machine)
                    .setCause(failure)
                    .log("A record broke its transaction; a new thread goes on without it");
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        }
        if (Failures.isLocalState(failure)) {
            LOGGER.atWarn()
                    .addKeyValue("machine", machine)
                    .setCause(failure)
                    .log("A machine stops: its state on this disk cannot be used");
            damaged.complete(failure);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        }
        if (Failures.isOtherTopology(failure)) {
            IllegalStateException other = new IllegalStateException(
                    "expected the group " + group
                            + " to be of this version of Millrace, found one of a version with other"
                            + " stores, which Kafka cannot change: go on with that version, or move with millrace export and"
                            + " import to another data folder or another millrace.topics.prefix",
                    failure);
            fatal = other;
            LOGGER.atError()
                    .addKeyValue("machine", machine)
                    .addKeyValue("reason", other.getMessage())
                    .log("A machine stops: its group is of another version");
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        }
        Optional<UnreadableRowException> unreadable = Failures.unreadableRow(failure);
        if (unreadable.isPresent()) {
            fatal = unreadable.get();
            LOGGER.atError()
                    .addKeyValue("machine", machine)
                    .addKeyValue("reason", unreadable.get().getMessage())
                    .log("A machine stops: its rows are of another version");
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        }
        fatal = failure;
        LOGGER.atError()
                .addKeyValue("machine", machine)
                .setCause(failure)
                .log("A machine stops: its state or its access to Kafka is broken");
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }
}
