package dev.millrace.knowledge.ingest;

import dev.millrace.knowledge.index.KnowledgeIndex;
import dev.millrace.knowledge.kafka.MemoryReader;
import dev.millrace.schemas.MemoryDocument;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes in what agents remember, as documents that only a search of memory finds. */
public final class MemoryIngest implements MemoryReader.Taker {

    /** What the source of a document of memory begins with; its path follows. */
    public static final String SOURCE = "memory://";

    private static final Logger LOGGER = LoggerFactory.getLogger(MemoryIngest.class);

    private final Ingest ingest;

    public MemoryIngest(Ingest ingest) {
        this.ingest = ingest;
    }

    @Override
    public void changed(MemoryDocument document) throws InterruptedException {
        try {
            ingest.take(
                    new Ingest.Order(
                            document.namespace(),
                            KnowledgeIndex.MEMORY,
                            new Source(SOURCE + document.path()),
                            document.path(),
                            null,
                            false,
                            null,
                            new Ingest.Asked(null, null, document.updated())),
                    new Fetcher.Fetched(
                            document.path(), null, document.content().getBytes(StandardCharsets.UTF_8)));
        } catch (IngestException e) {
            // its document says so, and the next change of it is another try
            LOGGER.atWarn()
                    .addKeyValue("errorCode", e.code())
                    .log("A document of memory cannot be found by its meaning");
        }
    }

    @Override
    public void removed(String namespace, String path) throws InterruptedException {
        ingest.remove(namespace, new Source(SOURCE + path).documentId(KnowledgeIndex.MEMORY));
    }
}
