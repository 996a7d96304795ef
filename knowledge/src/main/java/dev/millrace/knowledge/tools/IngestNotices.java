package dev.millrace.knowledge.tools;

import dev.millrace.api.KnowledgeView;
import dev.millrace.kafka.ForgottenFollower;
import dev.millrace.knowledge.ingest.Ingest;
import dev.millrace.knowledge.ingest.IngestException;
import dev.millrace.knowledge.ingest.Source;
import dev.millrace.requests.NoticeHandler;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes in what RAG_INGEST asks for. What cannot be taken in says so in its status, and becomes a dead letter. */
public final class IngestNotices implements NoticeHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(IngestNotices.class);
    private static final Duration READ_LIMIT = Duration.ofSeconds(10);

    private final Ingest ingest;
    private final ForgottenFollower forgotten;

    public IngestNotices(Ingest ingest, ForgottenFollower forgotten) {
        this.ingest = ingest;
        this.forgotten = forgotten;
    }

    @Override
    public Outcome handle(Event event) throws InterruptedException {
        if (!(event.payload() instanceof Payload.RagIngest asked)) {
            return new Outcome.GivenUp(
                    "unexpected_type",
                    "expected a RAG_INGEST, found a " + event.type().wireName());
        }
        if (isForgotten(event)) {
            return new Outcome.Done();
        }
        Payload.RagIngest.Chunking chunking = asked.chunking();
        try {
            KnowledgeView.Document document = ingest.take(new Ingest.Order(
                    event.namespace(),
                    asked.collection(),
                    new Source(asked.source()),
                    asked.title(),
                    asked.metadata(),
                    Boolean.TRUE.equals(asked.forceReindex()),
                    chunking == null
                            ? null
                            : new KnowledgeView.Chunking(chunking.strategy(), chunking.size(), chunking.overlap()),
                    new Ingest.Asked(event.taskId(), event.sessionId(), event.timestamp())));
            LOGGER.atInfo()
                    .addKeyValue("documentId", document.id())
                    .addKeyValue("chunks", document.chunks())
                    .log("A document is known");
            return new Outcome.Done();
        } catch (IngestException e) {
            return new Outcome.GivenUp(e.code(), String.valueOf(e.getMessage()));
        }
    }

    private boolean isForgotten(Event event) throws InterruptedException {
        long at = event.timestamp().toEpochMilli();
        return forgotten.upToNow(READ_LIMIT).has(event.namespace(), event.taskId(), event.sessionId(), at)
                || forgotten.known().hasMemory(event.namespace(), at);
    }
}
