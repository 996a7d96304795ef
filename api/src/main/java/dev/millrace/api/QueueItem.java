package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** An event that was accepted, as something that is worked on. Absent values are left out. */
@Schema(name = "QueueItem", description = "An event that was accepted, as something that is worked on.")
@JsonInclude(JsonInclude.Include.NON_NULL)
public record QueueItem(
        @Schema(description = "Of the event.") String id,

        @Schema(description = "The session.") @Nullable String threadId,

        String type,
        Map<String, @Nullable Object> payload,

        @Schema(
                enumeration = {
                    "pending",
                    "processing",
                    "completed",
                    "failed",
                    "expired",
                    "overwritten",
                    "cancelled",
                    "dead_letter"
                })
        String status,

        @Schema(description = "Higher goes first: 1000 less the priority of the event.")
        int priority,

        @Schema(description = "How long after its date it is still wanted, in milliseconds; absent = always.") @Nullable
        Long ttl,

        @Schema(description = "Of the W3C trace that it belongs to, else its correlation id.") @Nullable
        String traceId,

        @Nullable String parentEventId,
        String namespace,
        @Schema(description = "Unix milliseconds") long createdAt,
        @Schema(description = "Unix milliseconds") long updatedAt,

        @Schema(description = "The task that it has started or was for.") @Nullable
        String taskId,

        @Schema(description = "What it waits for, since when and until when.")
        Task.@Nullable WaitingFor waitingFor,

        @Schema(description = "Why it came to this, as a stable word.", examples = "processor_failed") @Nullable
        String reason,

        @Schema(description = "The same for people.") @Nullable
        String error,

        @Schema(description = "Its place among the dead letters.") @Nullable
        String deadLetter) {

    /** What priorities are taken from, so that higher goes first. */
    public static final int HIGHEST = 1_000;

    /**
     * What is to be put in.
     *
     * @param id {@code null} = a new one; the same id a second time changes nothing
     * @param priority higher goes first, at most 900; {@code null} = as the type has it
     * @param ttl in milliseconds, 1 or more; {@code null} = it is wanted for ever
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "QueueRequest")
    public record Request(
            @Schema(description = "Absent = a new one. The same one a second time changes nothing.") @Nullable
            String id,

            @Schema(examples = "MESSAGE_RECEIVED") @Nullable String type,
            @Nullable Map<String, @Nullable Object> payload,

            @Schema(description = "Higher goes first, at most 900; absent = as the type has it.") @Nullable
            Integer priority,

            @Schema(description = "For how long it is wanted, in milliseconds, 1 or more; absent = for ever.") @Nullable
            Long ttl,

            @Schema(description = "The event that has led to it.") @Nullable
            String parentEventId,

            @Nullable String namespace) {

        /** The same in this namespace. */
        public Request inNamespace(@Nullable String name) {
            return new Request(id, type, payload, priority, ttl, parentEventId, name);
        }
    }

    /** Another payload for what is tried again. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "QueueRetry")
    public record Retry(
            @Schema(description = "In place of what it was; absent = as it was.") @Nullable
            Map<String, @Nullable Object> payload) {}

    /** Some of them. */
    @Schema(name = "QueuePage")
    public record Page(
            @Schema(description = "The newest first.") List<QueueItem> items,

            @Schema(description = "For ?cursor=; null on the last page.") @Nullable
            String next) {}

    /** One that was put in. */
    @Schema(name = "QueuedItem")
    public record Queued(
            String id,
            @Nullable String threadId,
            @Schema(examples = "pending") String status,

            @Schema(description = "The event of which this is another try; absent = of none.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            String retryOf) {}
}
