package dev.millrace.api;

import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** A process that answers. */
@Schema(name = "Health", description = "A process that answers.")
public record HealthAnswer(
        @Schema(examples = "ok") String status,

        @Schema(description = "Its clock, Unix milliseconds.")
        long timestamp,

        @Schema(description = "Of the program.") String version) {}
