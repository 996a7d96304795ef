package dev.millrace.agent.rest;

import dev.millrace.agent.projection.TaskTraits;
import jakarta.ws.rs.QueryParam;
import org.jspecify.annotations.Nullable;

/** The parameters that say which tasks are meant, besides those that there are lists for. */
public class TraitParameters {

    @QueryParam("agent")
    @Nullable
    String agent;

    @QueryParam("errorCode")
    @Nullable
    String errorCode;

    @QueryParam("text")
    @Nullable
    String text;

    @QueryParam("parentTaskId")
    @Nullable
    String parentTaskId;

    @QueryParam("forkedFrom")
    @Nullable
    String forkedFrom;

    @QueryParam("createdAfter")
    @Nullable
    String createdAfter;

    @QueryParam("createdBefore")
    @Nullable
    String createdBefore;

    TaskTraits traits() {
        return new TaskTraits(
                blankToNull(agent),
                blankToNull(errorCode),
                blankToNull(text),
                blankToNull(parentTaskId),
                blankToNull(forkedFrom),
                UsageParameters.moment("createdAfter", blankToNull(createdAfter)),
                UsageParameters.moment("createdBefore", blankToNull(createdBefore)));
    }

    private static @Nullable String blankToNull(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }
}
