package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** More of an answer, in the plainest form; docs/streaming.md. */
@Schema(name = "Token", description = "More of an answer, in the plainest form; docs/streaming.md.")
public record PlainToken(
        @Schema(examples = "TOKEN") String type,
        @Schema(description = "Unix milliseconds") long timestamp,
        @Nullable String taskId,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String namespace,
        String token,
        boolean isComplete,

        @Schema(description = "The conversation.") @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
        String threadId,

        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String agentName,
        @Nullable String callId,
        @Nullable Long attempt) {}
