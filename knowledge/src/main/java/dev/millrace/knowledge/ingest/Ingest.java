package dev.millrace.knowledge.ingest;

import dev.millrace.api.KnowledgeView;
import dev.millrace.knowledge.core.Chunk;
import dev.millrace.knowledge.core.ChunkSettings;
import dev.millrace.knowledge.core.Chunker;
import dev.millrace.knowledge.core.ParsedDocument;
import dev.millrace.knowledge.embed.Embedder;
import dev.millrace.knowledge.embed.EmbeddingException;
import dev.millrace.knowledge.index.KnowledgeIndex;
import dev.millrace.knowledge.index.StoredChunk;
import dev.millrace.knowledge.kafka.KnowledgeFollower;
import dev.millrace.knowledge.kafka.KnowledgeKeys;
import dev.millrace.knowledge.kafka.KnowledgeWriter;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Payload;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes documents in. The chunks of a version of a document, and that it is the one that searches see, are written in
 * one transaction; before that nothing of it is seen, and what was there before is. A document that has not changed is
 * left alone, and says only that it was looked at. The same order twice gives the same records. For any thread.
 */
public final class Ingest {

    /** Name of the collection where none is named. */
    public static final String DEFAULT_COLLECTION = Payload.RagIngest.DEFAULT_COLLECTION;

    private static final Logger LOGGER = LoggerFactory.getLogger(Ingest.class);

    /** So many texts are embedded in one go. */
    private static final int BATCH = 100;

    private static final int LOCKS = 64;
    private static final int MAX_TITLE = 300;
    private static final int MAX_ERROR = 1_000;

    private final Parts parts;
    private final Settings settings;
    private final Clock clock;
    private final Lock[] locks =
            Stream.generate(ReentrantLock::new).limit(LOCKS).toArray(Lock[]::new);

    /** What it works with. */
    public record Parts(
            Fetcher fetcher,
            Embedder embedder,
            KnowledgeIndex index,
            KnowledgeFollower follower,
            KnowledgeWriter writer) {}

    /**
     * Bounds.
     *
     * @param chunking where a document says nothing about it
     * @param maxChunks of one document
     */
    public record Settings(ChunkSettings chunking, int maxChunks) {}

    /**
     * What is to be taken in.
     *
     * @param title {@code null} = what the document calls itself
     * @param chunking as {@link ChunkSettings#with} takes it; {@code null} = as the installation has it
     * @param asked who wants it
     */
    public record Order(
            String namespace,
            String collection,
            Source source,
            @Nullable String title,
            @Nullable Map<String, @Nullable Object> metadata,
            boolean force,
            KnowledgeView.@Nullable Chunking chunking,
            Asked asked) {

        /** The id of the document. */
        public String documentId() {
            return source.documentId(collection);
        }

        String key() {
            return KnowledgeKeys.document(namespace, documentId());
        }
    }

    /**
     * Who wants a document taken in.
     *
     * @param taskId {@code null} = no task
     * @param sessionId {@code null} = no session
     */
    public record Asked(@Nullable String taskId, @Nullable String sessionId, Instant at) {}

    public Ingest(Parts parts, Settings settings, Clock clock) {
        this.parts = parts;
        this.settings = settings;
        this.clock = clock;
    }

    /**
     * Takes a document in.
     *
     * @return it as it is now, seen by searches
     * @throws IngestException if it cannot be; the document says so as well, and what was there before still is
     * @throws KafkaException if the brokers are not there; what was there before still is
     * @throws UncheckedIOException if the index cannot be read or written; likewise
     */
    public KnowledgeView.Document take(Order order) throws IngestException, InterruptedException {
        return take(order, null);
    }

    /** The same for what has already come. */
    public KnowledgeView.Document take(Order order, Fetcher.@Nullable Fetched sent)
            throws IngestException, InterruptedException {
        Lock lock = locks[Math.floorMod(order.key().hashCode(), LOCKS)];
        lock.lockInterruptibly();
        try {
            // what another instance has written is part of what is there
            parts.follower().upToNow();
            KnowledgeView.Document before = parts.index().find(order.key()).orElse(null);
            try {
                return take(
                        order, sent == null ? parts.fetcher().fetch(order.namespace(), order.source()) : sent, before);
            } catch (IngestException e) {
                throw failed(order, before, e);
            } catch (EmbeddingException e) {
                throw failed(order, before, new IngestException("embedding_failed", String.valueOf(e.getMessage())));
            } catch (KafkaException | UncheckedIOException e) {
                // of no document; whoever asked comes again
                throw e;
            } catch (RuntimeException | VirtualMachineError e) {
                LOGGER.atError()
                        .addKeyValue("documentId", order.documentId())
                        .setCause(e)
                        .log("A defect kept a document from being taken in");
                String detail = "internal error: " + e.getClass().getSimpleName();
                throw failed(order, before, new IngestException("internal_error", detail));
            }
        } finally {
            lock.unlock();
        }
    }

    private KnowledgeView.Document take(Order order, Fetcher.Fetched fetched, KnowledgeView.@Nullable Document before)
            throws IngestException, EmbeddingException, InterruptedException {
        if (fetched.bytes().length > parts.fetcher().maxBytes()) {
            throw parts.fetcher().tooLarge();
        }
        ChunkSettings chunking = chunking(order);
        String hash = Ids.hash(HexFormat.of().formatHex(fetched.bytes()));
        String version = Ids.hash(hash
                        + '\n'
                        + chunking.fingerprint()
                        + '\n'
                        + parts.embedder().model()
                        + '\n'
                        + Objects.requireNonNullElse(order.title(), ""))
                .substring(0, 16);
        if (before != null && version.equals(before.version()) && !order.force()) {
            return write(
                    before.status().equals("indexed")
                            ? before.checked(order.asked().at().toString())
                            : indexed(order, before, before.chunks()));
        }
        write(new KnowledgeWriter.Change().document(processing(order, before)));
        ParsedDocument parsed = Parsers.parse(fetched);
        String title = title(order, parsed);
        int most = Math.clamp(settings.maxChunks() + 1L, 0, Integer.MAX_VALUE);
        List<Chunk> chunks = new Chunker(chunking).chunks(parsed, most);
        if (chunks.size() > settings.maxChunks()) {
            throw new IngestException(
                    "too_many_chunks",
                    "expected at most " + settings.maxChunks() + " chunks, found more; larger ones are fewer");
        }
        List<float[]> vectors = new ArrayList<>();
        for (int from = 0; from < chunks.size(); from += BATCH) {
            vectors.addAll(parts.embedder()
                    .embed(chunks.subList(from, Math.min(chunks.size(), from + BATCH)).stream()
                            .map(chunk -> chunk.inContext(title))
                            .toList()));
        }
        KnowledgeWriter.Change change = new KnowledgeWriter.Change();
        for (int i = 0; i < chunks.size(); i++) {
            Chunk chunk = chunks.get(i);
            change.chunk(new StoredChunk(
                    order.namespace(),
                    order.collection(),
                    order.documentId(),
                    version,
                    chunk.number(),
                    title,
                    order.source().shown(),
                    chunk.section(),
                    chunk.text(),
                    parts.embedder().model(),
                    vectors.get(i)));
        }
        KnowledgeView.Document document = document(order, title, "indexed", hash, version, chunks.size(), null);
        change.document(document).remove(parts.index().chunkKeys(order.key()));
        write(change);
        return document;
    }

    private ChunkSettings chunking(Order order) throws IngestException {
        KnowledgeView.Chunking asked = order.chunking();
        try {
            return asked == null
                    ? settings.chunking()
                    : settings.chunking().with(asked.strategy(), asked.size(), asked.overlap());
        } catch (IllegalArgumentException e) {
            throw new IngestException("bad_chunking", String.valueOf(e.getMessage()));
        }
    }

    private static String title(Order order, ParsedDocument parsed) {
        String title = order.title() != null ? order.title() : parsed.title();
        String found = title == null || title.isBlank() ? order.source().shown() : title.strip();
        return found.length() <= MAX_TITLE ? found : found.substring(0, MAX_TITLE);
    }

    /**
     * Takes a document away, with all of its chunks.
     *
     * @return it as it was; {@code null} = there is none
     */
    public KnowledgeView.@Nullable Document remove(String namespace, String documentId) throws InterruptedException {
        parts.follower().upToNow();
        String key = KnowledgeKeys.document(namespace, documentId);
        KnowledgeView.Document before = parts.index().find(key).orElse(null);
        if (before != null) {
            write(new KnowledgeWriter.Change()
                    .remove(List.of(key))
                    .remove(parts.index().chunkKeys(key)));
        }
        return before;
    }

    private KnowledgeView.Document write(KnowledgeView.Document document) throws InterruptedException {
        write(new KnowledgeWriter.Change().document(document));
        return document;
    }

    private void write(KnowledgeWriter.Change change) throws InterruptedException {
        parts.follower().await(parts.writer().write(change));
    }

    private KnowledgeView.Document processing(Order order, KnowledgeView.@Nullable Document before) {
        return as(order, before, "processing", null);
    }

    /** The failure, of which the document now says that it was. */
    private IngestException failed(Order order, KnowledgeView.@Nullable Document before, IngestException failure)
            throws InterruptedException {
        String text = failure.code() + ": " + failure.getMessage();
        String error = text.length() <= MAX_ERROR ? text : text.substring(0, MAX_ERROR);
        write(new KnowledgeWriter.Change().document(as(order, before, "failed", error)));
        return failure;
    }

    private KnowledgeView.Document indexed(Order order, KnowledgeView.Document before, int chunks) {
        return document(order, before.title(), "indexed", before.hash(), before.version(), chunks, null);
    }

    private KnowledgeView.Document as(
            Order order, KnowledgeView.@Nullable Document before, String status, @Nullable String error) {
        return before == null
                ? document(
                        order,
                        order.title() == null ? order.source().shown() : order.title(),
                        status,
                        null,
                        null,
                        0,
                        error)
                : document(order, before.title(), status, before.hash(), before.version(), before.chunks(), error);
    }

    private KnowledgeView.Document document(
            Order order,
            String title,
            String status,
            @Nullable String hash,
            @Nullable String version,
            int chunks,
            @Nullable String error) {
        return new KnowledgeView.Document(
                order.documentId(),
                order.namespace(),
                order.collection(),
                order.source().shown(),
                title,
                status,
                hash,
                version,
                chunks,
                version == null ? null : parts.embedder().model(),
                error,
                order.asked().taskId(),
                order.asked().sessionId(),
                order.metadata(),
                order.asked().at().toString(),
                clock.instant().toString(),
                status.equals("processing") ? null : order.asked().at().toString());
    }
}
