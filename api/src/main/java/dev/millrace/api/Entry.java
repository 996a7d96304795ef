package dev.millrace.api;

import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** An event with its place in the journal. */
@Schema(name = "JournalEntry", description = "An event with its place in the journal.")
public record Entry(
        String id,
        @Schema(examples = "TASK_CREATED") String type,
        @Schema(description = "Unix milliseconds") long timestamp,
        String source,
        @Nullable String taskId,
        @Nullable String sessionId,
        String namespace,
        String correlationId,

        @Schema(description = "The event that caused this one; absent on a root.") @Nullable
        String parentEventId,

        @Nullable Integer priority,
        int effectivePriority,
        Map<String, @Nullable Object> payload,

        @Schema(description = "<partition>:<offset>; goes into ?after= and Last-Event-ID.", examples = "3:1042")
        String cursor) {

    /** Some events of a task, in the order of the journal. */
    @Schema(name = "EventPage")
    public record Page(
            List<Entry> events,

            @Schema(description = "For ?after=; null on the last page.") @Nullable
            String next,

            @Schema(description = "On the last page: nothing of this task is missing up to this place.") @Nullable
            String upTo) {}

    /** An event and what led to it. */
    @Schema(name = "Chain")
    public record Chain(
            @Schema(description = "The root first, the event that was asked for last.")
            List<Entry> chain,

            @Schema(description = "The cursor of the page with what comes before; null = there is no more.") @Nullable
            String next) {}

    /** Events are stored. */
    @Schema(name = "EventsAccepted")
    public record Accepted(
            @Schema(description = "Ids in the order of the request.")
            List<String> accepted) {}
}
