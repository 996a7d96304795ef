package dev.millrace.llm;

import java.util.Optional;

/**
 * Looks at the reply to a call before it counts. Called once for each call at most, on the call's own virtual thread.
 */
@FunctionalInterface
public interface ReplyReview {

    /** Takes every reply as it is. */
    ReplyReview NONE = (request, reply) -> Optional.empty();

    /**
     * What to ask in place of taking this reply; empty = it is taken. The answer to that is taken whatever it says, and
     * the first one is charged; if that fails, the call fails.
     */
    Optional<ModelRequest> again(ModelRequest request, ModelReply reply);
}
