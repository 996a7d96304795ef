package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
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

    /** One of them is shown no more. */
    @Schema(name = "DeadLetterDiscarded")
    public record Discarded(
            String cursor,
            @Nullable String eventId,

            @Schema(examples = "discarded") String status) {}

    /** Which of them are meant; one of the first three is needed. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "DeadLetterFilter")
    public record Filter(
            @Schema(examples = "internal_error") @Nullable String reason,
            @Nullable String taskId,
            @Schema(examples = "MESSAGE_RECEIVED") @Nullable String type,

            @Schema(description = "At most so many, 1 to 200; absent = 200.") @Nullable
            Integer limit,

            @Schema(description = "What next said the time before.") @Nullable
            String cursor) {}

    /** What was sent again. */
    @Schema(name = "DeadLettersRedriven")
    public record AllRedriven(
            @Schema(description = "The oldest first.") List<Redriven> redriven,

            @Schema(description = "Places of those that cannot be: they were on no lane, or were not kept.")
            List<String> kept,

            @Schema(description = "There may be more, from there on; null = there are none.") @Nullable
            String next) {}

    /** What is shown no more. */
    @Schema(name = "DeadLettersDiscarded")
    public record AllDiscarded(
            @Schema(description = "The newest first.") List<Discarded> discarded,

            @Schema(description = "There may be more, from there on; null = there are none.") @Nullable
            String next) {}

    /** Some of them. */
    @Schema(name = "DeadLetterPage")
    public record Page(
            @Schema(description = "The newest first.") List<DeadLetterView> deadLetters,

            @Schema(description = "For ?cursor=; null on the last page.") @Nullable
            String next) {}
}
