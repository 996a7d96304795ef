package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.JournalFilter.Labels;
import dev.millrace.gateway.kafka.MemoryCatalogue.Kept;
import dev.millrace.kafka.TopicFollower;
import dev.millrace.kafka.TopicLog;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.MemoryDocument;
import dev.millrace.schemas.MemoryDocument.Refusal;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;

/**
 * Memory as its topic has it, and the way to its one writer. What is told is never older than the question: what
 * anybody was told to be written before it was asked, at any gateway, is in it. Begins to read with the first question.
 * For any thread; calls block.
 */
public final class Memory implements AutoCloseable {

    /** A record may have got a successor between two looks, and not again and again. */
    private static final int MAX_TRIES = 5;

    private final Topics topics;
    private final EventSender sender;
    private final MemoryCatalogue catalogue = new MemoryCatalogue();
    private final Set<Waiter> waiters = ConcurrentHashMap.newKeySet();
    private final TopicFollower follower;
    private final TopicLog records;

    /** Who waits for the answer to an edit. */
    private record Waiter(String namespace, String editId, CompletableFuture<Outcome> outcome) {}

    /** What became of an edit. */
    public sealed interface Outcome {

        /** It is done, and has made this version. */
        record Written(long version) implements Outcome {}

        /** It changed nothing. */
        record Refused(Refusal why) implements Outcome {}
    }

    /**
     * A version with its content.
     *
     * @param content markdown
     */
    public record Content(MemoryVersion about, String content) {}

    /**
     * What a namespace has.
     *
     * @param documents how many
     * @param size of all of them, in bytes
     */
    public record Extent(int documents, long size) {}

    /**
     * Connects when it is asked.
     */
    public Memory(Cluster cluster, EventSender sender) {
        this.topics = cluster.topics();
        this.sender = sender;
        this.records = new TopicLog(cluster.client(), topics.memory(), "millrace-gateway");
        this.follower = new TopicFollower(records, new TopicFollower.Taker() {
            @Override
            public void take(ConsumerRecord<byte[], byte[]> taken) {
                Memory.this.take(taken);
            }

            @Override
            public void beginAnew() {
                catalogue.clear();
            }
        });
    }

    /** Why the topic is not read now, for people; empty = it is, or nobody has asked for anything. */
    public Optional<String> problem() {
        return follower.loop().problem();
    }

    /**
     * What there is, by namespace, in the order of their names.
     *
     * @param after only namespaces after this one; empty = from the first on
     * @param limit at most so many, 1 or more
     */
    public SortedMap<String, Extent> extents(String after, int limit, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        catchUp(deadline(atMost));
        return catalogue.extents(after, limit);
    }

    /**
     * Documents of a namespace as they are now, by path.
     *
     * @param after only paths after this one; empty = from the first on
     * @param limit at most so many, 1 or more
     */
    public List<MemoryVersion> documents(String namespace, String after, int limit, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        catchUp(deadline(atMost));
        return catalogue.documents(namespace, after, limit);
    }

    /** All versions of a document that are kept, the newest first; none if there has never been one. */
    public List<MemoryVersion> history(String namespace, String path, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        catchUp(deadline(atMost));
        return catalogue.history(namespace, path);
    }

    /** The document as it is now; empty if it is not there. */
    public Optional<Content> read(String namespace, String path, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        return content(() -> catalogue.current(namespace, path), atMost);
    }

    /** One version of a document; empty if it is not kept. */
    public Optional<Content> read(String namespace, String path, long version, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        return content(() -> catalogue.version(namespace, path, version), atMost);
    }

    /** One version of a document as this gateway knows it now; empty if it is not kept. */
    public Optional<MemoryVersion> known(String namespace, String path, long version) {
        return catalogue.version(namespace, path, version).map(Kept::about);
    }

    /** The document as this gateway knows it now; empty if it is not there. */
    public Optional<MemoryVersion> known(String namespace, String path) {
        return catalogue.current(namespace, path).map(Kept::about);
    }

    /**
     * Asks the one writer for a MEMORY_EDIT_REQUESTED, and waits for the answer.
     *
     * @param toStore how long the brokers may take to store the request
     * @param patience how long to wait for the answer after that
     * @return empty if there was none in time; the request is stored, and is done when the writer comes to it
     * @throws BrokerUnavailableException if the request may not be stored; it may be repeated with the same id
     */
    public Optional<Outcome> edit(Event edit, Duration toStore, Duration patience)
            throws BrokerUnavailableException, EventTooLargeException, InterruptedException {
        // the answer to an earlier edit of the same id is then behind us
        catchUp(deadline(toStore));
        Waiter waiter = new Waiter(edit.namespace(), edit.id(), new CompletableFuture<>());
        waiters.add(waiter);
        try {
            sender.send(topics.memoryRequests(), edit.namespace(), edit);
            return Optional.of(waiter.outcome().get(patience.toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            return Optional.empty();
        } catch (ExecutionException e) {
            throw new IllegalStateException("an outcome is never a failure", e);
        } finally {
            waiters.remove(waiter);
        }
    }

    private Optional<Content> content(Supplier<Optional<Kept>> wanted, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        long deadline = deadline(atMost);
        for (int tried = 0; tried < MAX_TRIES; tried++) {
            catchUp(deadline);
            Kept kept = wanted.get().orElse(null);
            if (kept == null) {
                return Optional.empty();
            }
            Optional<ConsumerRecord<byte[], byte[]>> found = at(kept, deadline);
            if (found.isPresent() && found.get().value() != null) {
                return Optional.of(new Content(kept.about(), text(found.get())));
            }
        }
        throw new BrokerUnavailableException("the document changes faster than it can be read", null);
    }

    private static String text(ConsumerRecord<byte[], byte[]> found) {
        try {
            return MemoryDocument.fromJson(found.value()).content();
        } catch (MalformedEventException e) {
            throw new IllegalStateException("it was a document when it was catalogued", e);
        }
    }

    private void catchUp(long deadline) throws BrokerUnavailableException, InterruptedException {
        try {
            follower.catchUp(deadline);
        } catch (KafkaException e) {
            throw new BrokerUnavailableException("memory could not be read", e);
        }
    }

    private Optional<ConsumerRecord<byte[], byte[]>> at(Kept kept, long deadline)
            throws BrokerUnavailableException, InterruptedException {
        try {
            return records.at(records.partition(kept.partition()), kept.offset(), deadline);
        } catch (OffsetOutOfRangeException e) {
            return Optional.empty(); // the topic is another one by now
        } catch (KafkaException e) {
            throw new BrokerUnavailableException("memory could not be read", e);
        }
    }

    private static long deadline(Duration atMost) {
        return System.nanoTime() + atMost.toNanos();
    }

    private void take(ConsumerRecord<byte[], byte[]> consumed) {
        catalogue.take(consumed);
        String editId = Labels.text(consumed.headers(), HeaderNames.ANSWER);
        String outcome = Labels.text(consumed.headers(), HeaderNames.OUTCOME);
        MemoryDocument.Key key = editId == null || outcome == null || consumed.key() == null
                ? null
                : MemoryDocument.Key.of(new String(consumed.key(), StandardCharsets.UTF_8));
        if (key != null) {
            outcome(String.valueOf(outcome))
                    .ifPresent(told -> waiters.stream()
                            .filter(waiter -> waiter.editId().equals(editId)
                                    && waiter.namespace().equals(key.namespace()))
                            .forEach(waiter -> waiter.outcome().complete(told)));
        }
    }

    private static Optional<Outcome> outcome(String text) {
        if (text.matches("[0-9]{1,18}")) {
            return Optional.of(new Outcome.Written(Long.parseLong(text)));
        }
        return Refusal.of(text).map(Outcome.Refused::new);
    }

    /** Stops reading. */
    @Override
    public void close() {
        follower.close();
    }
}
