package dev.millrace.knowledge.ingest;

import dev.millrace.api.KnowledgeView;
import dev.millrace.kafka.ForgottenFollower;
import dev.millrace.knowledge.embed.EmbeddingException;
import dev.millrace.knowledge.entities.EntityExtraction;
import dev.millrace.knowledge.index.EntityIndex;
import dev.millrace.knowledge.index.KnowledgeIndex;
import dev.millrace.knowledge.index.StoredMentions;
import dev.millrace.knowledge.kafka.KnowledgeFollower;
import dev.millrace.knowledge.kafka.KnowledgeKeys;
import dev.millrace.knowledge.kafka.KnowledgeWriter;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgottenSet;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes away what has been forgotten: of a task or a session the documents that were asked for in it, of the memory of
 * a namespace or all of it every document, and likewise the texts whose entities are known. What each of several
 * instances removes is gone for all of them. Called again and again, by one thread.
 */
public final class Forgetting {

    private static final Logger LOGGER = LoggerFactory.getLogger(Forgetting.class);
    private static final Duration READ_LIMIT = Duration.ofSeconds(5);

    private final ForgottenFollower forgotten;
    private final KnowledgeIndex index;
    private final KnowledgeFollower follower;
    private final KnowledgeWriter writer;
    private final EntityExtraction extraction;
    private final AtomicBoolean again = new AtomicBoolean();
    private long seen = -1;

    public Forgetting(
            ForgottenFollower forgotten,
            KnowledgeIndex index,
            KnowledgeFollower follower,
            KnowledgeWriter writer,
            EntityExtraction extraction) {
        this.extraction = extraction;
        this.forgotten = forgotten;
        this.index = index;
        this.follower = follower;
        this.writer = writer;
    }

    /** Whether something of then must not be known any more. */
    public boolean covers(Event event) throws InterruptedException {
        long at = event.timestamp().toEpochMilli();
        ForgottenSet now = forgotten.upToNow(READ_LIMIT);
        return now.has(event.namespace(), event.taskId(), event.sessionId(), at)
                || now.hasMemory(event.namespace(), at);
    }

    /** Something was written that may have been forgotten meanwhile: the next {@link #look} looks at everything. */
    public void lookAgain() {
        again.set(true);
    }

    /** Takes away what has been forgotten since the last time, and once what there is. */
    public void look() {
        try {
            // it is followed from the first time on
            ForgottenSet now = seen < 0 ? forgotten.upToNow(READ_LIMIT) : forgotten.known();
            long changes = now.changes();
            if (!again.getAndSet(false) && changes == seen) {
                return;
            }
            follower.upToNow();
            KnowledgeWriter.Change change = new KnowledgeWriter.Change();
            for (KnowledgeView.Document document : index.allDocuments()) {
                if (isForgotten(now, document)) {
                    String key = KnowledgeKeys.document(document.namespace(), document.id());
                    change.remove(List.of(key)).remove(index.chunkKeys(key));
                }
            }
            List<StoredMentions> texts = new EntityIndex(index)
                    .allMentions().stream()
                            .filter(text ->
                                    isForgotten(now, text.namespace(), text.taskId(), text.sessionId(), text.askedAt()))
                            .toList();
            if (!texts.isEmpty()) {
                extraction.remove(change, texts);
            }
            if (!change.isEmpty()) {
                follower.await(writer.write(change));
                LOGGER.info("Forgotten documents are gone");
            }
            seen = changes;
        } catch (KafkaException | UncheckedIOException | EmbeddingException e) {
            again.set(true);
            LOGGER.atWarn()
                    .addKeyValue("cause", e.toString())
                    .log("What is forgotten could not be looked at; again soon");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean isForgotten(ForgottenSet now, KnowledgeView.Document document) {
        return isForgotten(now, document.namespace(), document.taskId(), document.sessionId(), document.askedAt());
    }

    private static boolean isForgotten(
            ForgottenSet now, String namespace, @Nullable String taskId, @Nullable String sessionId, String askedAt) {
        long at = Instant.parse(askedAt).toEpochMilli();
        return now.has(namespace, taskId, sessionId, at) || now.hasMemory(namespace, at);
    }
}
