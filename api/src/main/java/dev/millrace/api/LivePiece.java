package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A piece of live text, as far as all types of it have these fields; docs/streaming.md. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@Schema(name = "LiveText", description = "A piece of live text; docs/streaming.md.")
public record LivePiece(
        @Schema(examples = "stream.text") String type,
        String callId,
        int attempt,
        @Nullable String delta) {}
