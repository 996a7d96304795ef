package dev.millrace.knowledge.tools;

import dev.millrace.knowledge.entities.EntityExtraction;
import dev.millrace.knowledge.index.StoredMentions;
import dev.millrace.knowledge.ingest.Forgetting;
import dev.millrace.knowledge.ingest.IngestException;
import dev.millrace.requests.NoticeHandler;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds what ENTITY_EXTRACT asks for. A text of which no model says anything becomes a dead letter. */
public final class EntityNotices implements NoticeHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(EntityNotices.class);

    private final EntityExtraction extraction;
    private final Forgetting forgetting;

    public EntityNotices(EntityExtraction extraction, Forgetting forgetting) {
        this.extraction = extraction;
        this.forgetting = forgetting;
    }

    @Override
    public Outcome handle(Event event) throws InterruptedException {
        if (!(event.payload() instanceof Payload.EntityExtract wanted)) {
            return new Outcome.GivenUp(
                    "unexpected_type",
                    "expected an ENTITY_EXTRACT, found a " + event.type().wireName());
        }
        if (forgetting.covers(event)) {
            return new Outcome.Done();
        }
        try {
            StoredMentions found = extraction.take(event, wanted);
            if (forgetting.covers(event)) {
                forgetting.lookAgain();
            }
            LOGGER.atInfo()
                    .addKeyValue("eventId", event.id())
                    .addKeyValue("entities", found.mentions().size())
                    .log("The entities of a text are known");
            return new Outcome.Done();
        } catch (IngestException e) {
            return new Outcome.GivenUp(e.code(), String.valueOf(e.getMessage()));
        }
    }
}
