package dev.millrace.knowledge.kafka;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.RecordLoop;
import dev.millrace.kafka.TopicId;
import dev.millrace.kafka.TopicIdentity;
import dev.millrace.kafka.TopicLog;
import dev.millrace.knowledge.index.EntityIndex;
import dev.millrace.knowledge.index.KnowledgeIndex;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the index as the topic is. It goes on where the index was committed last, and builds all of it again if the
 * index is lost or the topic is another one. The topic has one partition. For any thread.
 */
public final class KnowledgeFollower implements AutoCloseable {

    private static final String OFFSET = "offset";
    private static final String FORMAT = "format";
    /** Of what is in the index; another one is built anew. */
    private static final String CURRENT_FORMAT = "2";

    private static final String TOPIC = "topic";
    private static final String AT = "at";

    private static final Duration COMMIT_EVERY = Duration.ofSeconds(5);
    /** So that an index that is followed is never too old. */
    private static final Duration COMMIT_AT_LEAST_EVERY = Duration.ofHours(1);
    /** What was deleted longer ago may have left no trace on the topic; well within {@link Topics#COMPACTION_LAG}. */
    private static final Duration MAX_AGE = Duration.ofHours(12);

    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);

    private final KnowledgeIndex index;
    private final EntityIndex entities;
    private final TopicLog log;
    private final RecordLoop loop;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition moved = lock.newCondition();
    /** Everything before it is in the index, and seen by searches. Guarded by the lock. */
    private long seen = -1;
    /** Where the topic ended when its reading began. Guarded by the lock. */
    private long goal = Long.MAX_VALUE;

    /** Follows nothing yet. */
    public KnowledgeFollower(ClientSettings kafka, Topics topics, KnowledgeIndex index) {
        this.index = index;
        this.entities = new EntityIndex(index);
        this.log = new TopicLog(kafka, topics.knowledge(), "millrace-knowledge");
        this.loop = new RecordLoop("knowledge-index", () -> log.open("index"), log.identity(), new Work());
    }

    /** Begins. */
    public void start() {
        loop.start();
    }

    /** Why it does not read now, for people; empty = it does. */
    public Optional<String> problem() {
        return loop.problem();
    }

    /** Whether the index has what was on the topic when its reading began. */
    public boolean isCaughtUp() {
        lock.lock();
        try {
            return seen >= goal;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns once searches see everything before this offset.
     *
     * @throws KafkaException if that takes longer than ten seconds
     */
    public void await(long offset) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = ANSWER_LIMIT.toNanos();
            while (seen < offset && left > 0) {
                left = moved.awaitNanos(left);
            }
            if (seen < offset) {
                throw new KafkaException("the index is behind its topic: at " + seen + ", wanted " + offset);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns once searches see everything that is on the topic now. */
    public void upToNow() throws InterruptedException {
        await(log.ends(System.nanoTime() + ANSWER_LIMIT.toNanos()).values().stream()
                .mapToLong(Long::longValue)
                .max()
                .orElse(0));
    }

    private void move(long to, long end) {
        lock.lock();
        try {
            seen = to;
            goal = end;
            moved.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private final class Work implements RecordLoop.Work {
        private long committedAtNanos = System.nanoTime();
        private boolean uncommitted;
        private long end = Long.MAX_VALUE;
        private String topic = "";
        /** Of the index, not of a record; nothing was taken since. */
        private @Nullable UncheckedIOException failure;

        @Override
        public void begin(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> reached) {
            List<TopicPartition> partitions = log.partitions(consumer, ANSWER_LIMIT);
            if (partitions.size() != 1) {
                throw new KafkaException("the topic " + log.topic() + ": expected one partition, found "
                        + partitions.size() + ", which have no order among them");
            }
            TopicPartition only = partitions.getFirst();
            consumer.assign(partitions);
            failure = null;
            topic = topicId();
            Long position = reached.get(only);
            if (position == null) {
                position = committedPosition(index.committed());
            }
            end = consumer.endOffsets(partitions).getOrDefault(only, 0L);
            if (position == null || position > end) {
                // there is nothing, or what there is is of another topic
                index.clear();
                consumer.seekToBeginning(partitions);
            } else {
                consumer.seek(only, position);
            }
        }

        private String topicId() {
            try (TopicIdentity identity = log.identity()) {
                TopicId id = identity.find().orElseThrow(() -> new KafkaException("the topic is not there"));
                return id.clusterId() + '/' + id.id();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptException(e);
            }
        }

        private @Nullable Long committedPosition(Map<String, String> committed) {
            boolean fits = CURRENT_FORMAT.equals(committed.get(FORMAT))
                    && topic.equals(committed.get(TOPIC))
                    && Instant.parse(committed.getOrDefault(AT, Instant.EPOCH.toString()))
                            .isAfter(Instant.now().minus(MAX_AGE));
            return fits ? Long.valueOf(committed.getOrDefault(OFFSET, "0")) : null;
        }

        @Override
        public void beginAnew() {
            index.clear();
            index.commit(Map.of());
            move(-1, Long.MAX_VALUE);
        }

        @Override
        public void take(ConsumerRecord<byte[], byte[]> taken) throws MalformedEventException {
            if (taken.key() == null) {
                throw new MalformedEventException("bad_key", "expected a key, found none");
            }
            if (failure != null) {
                return;
            }
            uncommitted = true;
            try {
                put(new String(taken.key(), StandardCharsets.UTF_8), taken);
            } catch (UncheckedIOException e) {
                failure = e;
            }
        }

        private void put(String key, ConsumerRecord<byte[], byte[]> taken) throws MalformedEventException {
            if (taken.value() == null) {
                index.remove(key);
            } else if (key.startsWith(KnowledgeKeys.DOCUMENT)) {
                index.put(key, KnowledgeRecords.document(taken.value()));
            } else if (key.startsWith(KnowledgeKeys.CHUNK)) {
                index.put(key, KnowledgeRecords.documentOf(key), KnowledgeRecords.chunk(key, taken.value()));
            } else if (key.startsWith(KnowledgeKeys.ENTITY)) {
                entities.put(key, KnowledgeRecords.entity(taken.value()));
            } else if (key.startsWith(KnowledgeKeys.MENTIONS)) {
                entities.put(key, KnowledgeRecords.mentions(taken.value()));
            }
            // what a later version writes is left to it
        }

        @Override
        public void looked(Consumer<byte[], byte[]> consumer, boolean foundAny) {
            if (failure != null) {
                // a disk that is full costs no record: all of them are read again
                throw failure;
            }
            long position = position(consumer);
            if (foundAny) {
                index.refresh();
            }
            move(position, end);
            long sinceCommit = System.nanoTime() - committedAtNanos;
            if ((uncommitted && sinceCommit >= COMMIT_EVERY.toNanos())
                    || sinceCommit >= COMMIT_AT_LEAST_EVERY.toNanos()) {
                commit(position);
            }
        }

        @Override
        public void ending(Consumer<byte[], byte[]> consumer) {
            if (failure != null) {
                return;
            }
            commit(position(consumer));
        }

        private void commit(long position) {
            index.commit(Map.of(
                    FORMAT,
                    CURRENT_FORMAT,
                    TOPIC,
                    topic,
                    OFFSET,
                    Long.toString(position),
                    AT,
                    Instant.now().toString()));
            committedAtNanos = System.nanoTime();
            uncommitted = false;
        }

        private static long position(Consumer<byte[], byte[]> consumer) {
            return consumer.position(consumer.assignment().iterator().next());
        }
    }

    /** Commits the index and stops, within seconds. */
    @Override
    public void close() {
        loop.close();
        log.close();
    }
}
