package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import dev.millrace.engine.HeldRows;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.MalformedEventException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the projection's store, also while the store is built anew: what the records of a poll tell is worked out one
 * after the other and written at once, so that others see all of it or nothing. After a crash some records come again;
 * every write is such that doing it again changes nothing.
 */
final class JournalProcessor implements Processor<byte[], byte[], Void, Void>, SweepingClients.Polls {
    private static final Pattern DATE = Pattern.compile("[0-9]{1,15}");
    private static final Logger LOGGER = LoggerFactory.getLogger(JournalProcessor.class);

    private final String storeName;
    private final AppliedOffsets applied;
    private final Duration retention;
    private final Consumer<SweepingClients.Polls> begins;
    private final Map<Integer, JournalCursor> reached = new HashMap<>();
    /** Of the poll, how many records are still to come. */
    private int toCome;

    private @Nullable ProcessorContext<Void, Void> context;
    private @Nullable HeldRows store;
    private @Nullable RetentionSweep sweep;
    private @Nullable UsageLedger usage;
    private @Nullable ForgetSweep forgetting;
    private @Nullable RecentRows recent;
    private boolean began;

    /**
     * For one thread.
     *
     * @param applied is told about every record
     * @param retention how long a task is kept after its last event; zero or less = for ever
     */
    JournalProcessor(String storeName, AppliedOffsets applied, Duration retention) {
        this(storeName, applied, retention, polls -> {});
    }

    /**
     * The same.
     *
     * @param begins is given this when it begins, to be told of polls; if nobody tells, each record is one
     */
    JournalProcessor(
            String storeName, AppliedOffsets applied, Duration retention, Consumer<SweepingClients.Polls> begins) {
        this.storeName = storeName;
        this.applied = applied;
        this.retention = retention;
        this.begins = begins;
    }

    @Override
    public void init(ProcessorContext<Void, Void> newContext) {
        context = newContext;
        store = new HeldRows(newContext.getStateStore(storeName));
        recent = new RecentRows(store);
        sweep = new RetentionSweep(store, recent, retention);
        usage = new UsageLedger(store);
        forgetting = new ForgetSweep(store, recent);
        begins.accept(this);
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
        if (context == null
                || store == null
                || sweep == null
                || usage == null
                || forgetting == null
                || recent == null) {
            throw new IllegalStateException("process before init");
        }
        RecordMetadata metadata = context.recordMetadata()
                .orElseThrow(() -> new IllegalStateException("a record of the journal without its place"));
        JournalCursor cursor = new JournalCursor(metadata.partition(), metadata.offset());
        long now = context.currentSystemTimeMs();
        try {
            Event event =
                    EventCodec.fromRecord(record.headers(), record.value(), Instant.ofEpochMilli(record.timestamp()));
            JournalEntry entry = new JournalEntry(cursor, event);
            Header outcome = record.headers().lastHeader(HeaderNames.OUTCOME);
            String word = outcome == null ? null : new String(outcome.value(), StandardCharsets.UTF_8);
            TaskRow row = write(store, recent, entry, new Telling(word, dateOf(record, event), now));
            usage.add(entry, row, record.timestamp());
            forgetting.take(entry);
        } catch (KafkaException e) {
            throw e; // the store, not the record
        } catch (RuntimeException | StackOverflowError e) {
            // what was written of it stays; doing it again changes nothing, and so does leaving it out
            applied.skipped();
            recent.forget();
            LOGGER.atError()
                    .addKeyValue("topic", metadata.topic())
                    .addKeyValue("partition", metadata.partition())
                    .addKeyValue("offset", metadata.offset())
                    .setCause(e)
                    .log("A defect kept a record of the journal from being taken; the projection goes on without it");
        } catch (MalformedEventException e) {
            applied.malformed();
            LOGGER.atWarn()
                    .addKeyValue("partition", metadata.partition())
                    .addKeyValue("offset", metadata.offset())
                    .addKeyValue("errorCode", e.code())
                    .log("The journal holds a record that is no event; the projection goes on without it");
        }
        reached.put(cursor.partition(), cursor);
        applied.taken();
        began = true;
        toCome--;
        if (toCome <= 0) {
            writeRows();
            sweepSome();
        }
    }

    @Override
    public void begins() {
        writeRows(); // of records that Kafka Streams has passed over none has been the last
        sweepSome();
    }

    @Override
    public void brought(int records) {
        toCome = records;
    }

    private void writeRows() {
        if (store == null || recent == null || usage == null || reached.isEmpty()) {
            return;
        }
        recent.write(defect -> {
            applied.skipped();
            LOGGER.atError().setCause(defect).log("A defect kept a task from being shown as it is");
        });
        usage.write();
        // readers take it as the promise that everything up to here is in the store
        for (JournalCursor cursor : reached.values()) {
            store.put(
                    ProjectionKeys.position(cursor.partition()),
                    ByteBuffer.allocate(Long.BYTES).putLong(cursor.offset()).array());
        }
        store.write();
        reached.values().forEach(applied::advance);
        reached.clear();
    }

    /**
     * Removes some of what is forgotten or too old. To be called again and again by the thread that calls
     * {@link #process}, also while nothing comes; before the first record it does nothing, since Kafka Streams has no
     * place for it then.
     */
    void sweepSome() {
        if (began && context != null && store != null && sweep != null && forgetting != null) {
            try {
                forgetting.goOn();
                sweep.run(context.currentSystemTimeMs());
                store.write();
            } catch (KafkaException e) {
                throw e;
            } catch (RuntimeException e) {
                LOGGER.atError().setCause(e).log("A defect kept old tasks from being removed from the projection");
            }
        }
    }

    /**
     * When an event happened, as far as that decides anything: when it came onto its lane, if somebody else has sent
     * it, else when it was made by a machine, which is not after it was recorded.
     */
    private static long dateOf(Record<byte[], byte[]> record, Event event) {
        Header received = record.headers().lastHeader(HeaderNames.RECEIVED);
        String text = received == null || received.value() == null
                ? ""
                : new String(received.value(), StandardCharsets.US_ASCII);
        long made = Math.max(0, Math.min(event.timestamp().toEpochMilli(), record.timestamp()));
        return DATE.matcher(text).matches() ? Math.min(Long.parseLong(text), Math.max(0, record.timestamp())) : made;
    }

    /**
     * How an event is told.
     *
     * @param outcome why nothing followed from it, such as that it came after its expiry; {@code null} = something did
     * @param happened when, in Unix milliseconds
     * @param now the wall clock, in Unix milliseconds
     */
    private record Telling(@Nullable String outcome, long happened, long now) {
        boolean effective() {
            return outcome == null;
        }

        /** Whether it counts as something that was said in its session: not if it was replaced. */
        boolean said() {
            return !HeaderNames.OVERWRITTEN.equals(outcome);
        }
    }

    /** Writes what an event tells. */
    private TaskRow write(KeyValueStore<Bytes, byte[]> rows, RecentRows recent, JournalEntry entry, Telling telling) {
        long now = telling.now();
        TaskName name = TaskRow.nameOf(entry.event());
        TaskRow before = recent.get(name);
        if (TaskRow.isAnothers(before, entry)) {
            return TaskRow.after(null, entry, now);
        }
        Bytes eventKey = ProjectionKeys.event(name, entry.cursor());
        rows.put(eventKey, EventJson.write(entry.event()));
        Pointers.byPlace(entry).stream()
                .filter(key -> telling.said() || !ProjectionKeys.isMessage(key))
                .forEach(key -> rows.put(key, eventKey.get()));
        if (telling.effective()) {
            Pointers.toDecision(entry).ifPresent(key -> rows.putIfAbsent(key, eventKey.get()));
        }

        JournalEntry dated =
                new JournalEntry(entry.cursor(), entry.event().at(Instant.ofEpochMilli(telling.happened())));
        TaskRow after =
                telling.effective() ? TaskRow.after(before, dated, now) : TaskRow.afterNothing(before, dated, now);
        if (before == null) {
            rows.put(ProjectionKeys.due(now, name), new byte[0]);
            after = after.putIn(entry.event(), telling.outcome());
        }
        recent.put(before, after);
        SessionRow.take(rows, entry.event(), telling.happened(), now);
        Pointers.toRequest(entry).ifPresent(key -> rows.putIfAbsent(key, eventKey.get()));
        return after;
    }
}
