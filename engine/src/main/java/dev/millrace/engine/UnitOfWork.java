package dev.millrace.engine;

import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.record.AbstractRecords;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.internals.CachedStateStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one record or one tick leads to: all of it is kept, or nothing. Records that are sent wait for the end and are
 * measured before; rows that are written wait as well, or their old value is remembered. So a defect of ours, or a
 * record that fits no topic, costs the unit in which it happens, and the transaction goes on with the next one. For one
 * stream thread and one store of rows.
 */
public final class UnitOfWork {

    private static final Logger LOGGER = LoggerFactory.getLogger(UnitOfWork.class);

    private final ProcessorContext<byte[], Outgoing> context;
    private final Map<String, Integer> limits;
    private final Quarantine quarantine;
    private final Rows rows;
    private final Runnable undone;
    /** What rows were that had to be written sooner, for a range to have them. */
    private final Map<Bytes, byte @Nullable []> before = new HashMap<>();

    private final List<Record<byte[], Outgoing>> outgoing = new ArrayList<>();
    private final List<Runnable> effects = new ArrayList<>();
    private boolean open;

    /** What is done in a unit. */
    @FunctionalInterface
    public interface Work {

        /**
         * Reads rows, writes them, sends.
         *
         * @throws MalformedEventException if the record is no event
         * @throws RejectedRecordException if it cannot be taken
         */
        void run() throws MalformedEventException, RejectedRecordException;
    }

    /**
     * Why nothing of a unit was kept.
     *
     * @param reason a stable word, lower snake case
     * @param detail what was expected and found, for people
     * @param defect whether this is unexpected; if not, the record was refused
     */
    public record Undone(String reason, @Nullable String detail, boolean defect) {}

    /**
     * Units over these rows.
     *
     * @param rows are to be read and written by {@link #rows()} from now on
     * @param undone called after a unit was undone that may have changed what is known of the rows in memory; reads it
     *     anew
     */
    public UnitOfWork(
            ProcessorContext<byte[], Outgoing> context,
            Topics topics,
            KeyValueStore<Bytes, byte[]> rows,
            Runnable undone) {
        this.context = context;
        this.limits = topics.all().stream()
                .collect(Collectors.toUnmodifiableMap(Topics.Topic::name, Topics.Topic::maxMessageBytes));
        this.quarantine = Quarantine.of(context);
        this.rows = new Rows(rows);
        this.undone = undone;
        leaveOutWhatNeverWas(rows);
    }

    /**
     * Has the cache of Kafka Streams write no deletion of a row that the store does not have: most of what a task
     * deletes was put since the last commit. It asks the store first if it has a listener, and only then.
     */
    private static void leaveOutWhatNeverWas(KeyValueStore<Bytes, byte[]> rows) {
        if (rows instanceof CachedStateStore<?, ?> cached) {
            cached.setFlushListener(row -> {}, false);
        }
    }

    /** The rows; they can be read at any time, and written within a unit. */
    public KeyValueStore<Bytes, byte[]> rows() {
        return rows;
    }

    /**
     * Does this and keeps it, or undoes it.
     *
     * @return empty if it was kept
     * @throws KafkaException if Kafka or the store failed, which undoes the whole transaction
     * @throws UnreadableRowException if a row is of another version, which stops the instance
     */
    public Optional<Undone> attempt(Work work) {
        if (open) {
            throw new IllegalStateException("expected the unit before to have ended");
        }
        open = true;
        try {
            work.run();
        } catch (MalformedEventException e) {
            return Optional.of(undo(new Undone(e.code(), e.getMessage(), false)));
        } catch (RejectedRecordException e) {
            return Optional.of(undo(new Undone(e.reason(), e.getMessage(), false)));
        } catch (KafkaException | UnreadableRowException e) {
            throw e;
        } catch (RecordTooLargeForTopicException e) {
            return Optional.of(undo(e, ErrorCode.RECORD_TOO_LARGE, String.valueOf(e.getMessage())));
        } catch (RefusedByTopicException e) {
            return Optional.of(undo(e, e.code(), String.valueOf(e.getMessage())));
        } catch (RuntimeException | StackOverflowError e) {
            return Optional.of(undo(e, ErrorCode.INTERNAL_ERROR, String.valueOf(e)));
        } finally {
            open = false;
        }
        keep();
        return Optional.empty();
    }

    /** Does this as soon as the unit is kept, and never if it is undone: what is told to other threads, say. */
    public void whenKept(Runnable effect) {
        requireOpen();
        effects.add(effect);
    }

    /**
     * Sends a record if the unit is kept.
     *
     * @throws RecordTooLargeForTopicException if its topic does not take it
     * @throws RefusedByTopicException if its topic has refused it before
     */
    void send(Record<byte[], Outgoing> record) {
        requireOpen();
        String topic = record.value().topic();
        Integer known = limits.get(topic);
        int limit = known == null ? Topics.MAX_EVENT_BYTES : known;
        int size = size(record);
        if (size > limit) {
            throw new RecordTooLargeForTopicException("a record for " + topic, limit, size);
        }
        byte[] value = record.value().value();
        if (known == null && value != null) {
            // the topic of a toolset is as its owner has made it
            quarantine.sending(topic, record.key(), value);
        }
        outgoing.add(record);
    }

    /** Refuses the record that is being taken if it has broken a transaction before. */
    void requireSound() throws RejectedRecordException {
        Optional<RejectedRecordException> before = context.recordMetadata().flatMap(quarantine::of);
        if (before.isPresent()) {
            throw before.get();
        }
    }

    /** Whether this record fits into this topic of the catalogue. */
    boolean fits(Record<byte[], Outgoing> record) {
        return size(record) <= limits.getOrDefault(record.value().topic(), Topics.MAX_EVENT_BYTES);
    }

    /** As brokers measure it, in a batch of its own and not compressed. */
    private static int size(Record<byte[], Outgoing> record) {
        return AbstractRecords.estimateSizeInBytesUpperBound(
                RecordBatch.CURRENT_MAGIC_VALUE,
                CompressionType.NONE,
                record.key(),
                record.value().value(),
                record.headers().toArray());
    }

    private void keep() {
        List<Record<byte[], Outgoing>> records = List.copyOf(outgoing);
        List<Runnable> after = List.copyOf(effects);
        rows.write();
        forgetAll();
        records.forEach(context::forward);
        after.forEach(Runnable::run);
    }

    private Undone undo(Throwable failure, ErrorCode code, String detail) {
        LOGGER.atError()
                .addKeyValue("errorCode", code.code())
                .addKeyValue("taskId", context.taskId())
                .addKeyValue(
                        "origin", context.recordMetadata().map(Object::toString).orElse("a timer"))
                .setCause(failure)
                .log("A unit of work broke and was undone; the next one is taken");
        return undo(new Undone(code.code(), detail, true));
    }

    private Undone undo(Undone why) {
        boolean touched = rows.isAnyHeld() || !before.isEmpty() || !outgoing.isEmpty() || !effects.isEmpty();
        rows.drop();
        rows.restore(before);
        forgetAll();
        if (touched || why.defect()) {
            undone.run();
        }
        return why;
    }

    private void forgetAll() {
        before.clear();
        outgoing.clear();
        effects.clear();
    }

    private void requireOpen() {
        if (!open) {
            throw new IllegalStateException("expected a unit of work to have begun");
        }
    }

    /** The rows as this unit has them. */
    private final class Rows extends HeldRows {

        Rows(KeyValueStore<Bytes, byte[]> store) {
            super(store);
        }

        @Override
        public void put(Bytes key, byte @Nullable [] value) {
            requireOpen();
            int size = key.get().length + (value == null ? 0 : value.length);
            if (size > MachineStreams.MAX_ROW_BYTES) {
                throw new RecordTooLargeForTopicException("a row of " + name(), MachineStreams.MAX_ROW_BYTES, size);
            }
            super.put(key, value);
        }

        @Override
        protected void writtenSooner(Bytes key) {
            if (!before.containsKey(key)) {
                before.put(key, stored(key));
            }
        }
    }
}
