package dev.millrace.api;

import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A record that could not be read or was not taken. */
@Schema(name = "DeadLetter", description = "A record that could not be read or was not taken.")
public record DeadLetterView(
        String cursor,
        @Schema(examples = "unknown_task") @Nullable String reason,

        @Schema(description = "What was expected and found, for people.") @Nullable
        String detail,

        @Schema(description = "Unix milliseconds") long timestamp,
        @Nullable String originTopic,
        @Nullable String originPartition,
        @Nullable String originOffset,
        @Nullable String eventId,
        @Nullable String type,
        @Nullable String taskId,
        @Nullable String sessionId,
        String namespace,
        @Nullable String key,

        @Schema(description = "As text; in a list cut at 2000 characters.") @Nullable
        String value,

        int valueBytes) {

    /** One of them is sent again. */
    @Schema(name = "DeadLetterRedriven")
    public record Redriven(
            String cursor,
            @Nullable String eventId,

            @Schema(description = "The lane that it is on again.", examples = "millrace.events.task")
            String topic,

            @Schema(examples = "accepted") String status) {}

    /** Some of them. */
    @Schema(name = "DeadLetterPage")
    public record Page(
            @Schema(description = "The newest first.") List<DeadLetterView> deadLetters,

            @Schema(description = "For ?cursor=; null on the last page.") @Nullable
            String next) {}
}
