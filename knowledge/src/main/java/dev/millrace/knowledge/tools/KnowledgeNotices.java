package dev.millrace.knowledge.tools;

import dev.millrace.requests.NoticeHandler;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;

/** Hands what comes to who knows what to do: documents to be taken in, and texts whose entities are to be found. */
public final class KnowledgeNotices implements NoticeHandler {

    private final NoticeHandler documents;
    private final NoticeHandler entities;

    public KnowledgeNotices(NoticeHandler documents, NoticeHandler entities) {
        this.documents = documents;
        this.entities = entities;
    }

    @Override
    public Outcome handle(Event event) throws InterruptedException {
        return event.payload() instanceof Payload.EntityExtract ? entities.handle(event) : documents.handle(event);
    }
}
