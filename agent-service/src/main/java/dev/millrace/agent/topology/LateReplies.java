package dev.millrace.agent.topology;

import dev.millrace.agent.core.DiscardReason;
import dev.millrace.engine.ModelUsage;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import java.util.Locale;
import java.util.Optional;

/** Keeps what a reply used that came when nobody waited for it any more: it was paid for like any other. */
final class LateReplies {

    private LateReplies() {}

    /** Whether this is what came of a model call. */
    static boolean isReply(Event event) {
        return event.payload() instanceof Payload.ModelCallOutcome outcome
                && !(outcome instanceof Payload.ModelCallAbandoned);
    }

    /**
     * What goes into the journal in place of such a reply.
     *
     * @param reason why nobody waited for it
     * @return empty if the reply says nothing about what it used
     */
    static Optional<Event> abandoned(Event reply, DiscardReason reason) {
        return ModelUsage.abandoned(reply, reason.name().toLowerCase(Locale.ROOT));
    }
}
