package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** What became of a webhook that is believed. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@Schema(name = "WebhookAnswer")
public record WebhookAnswer(
        @Schema(description = "Of the event; the same for the same delivery. Absent = it was left out.") @Nullable
        String eventId,

        @Schema(description = "false = the source is set to leave such events out.")
        boolean accepted) {}
