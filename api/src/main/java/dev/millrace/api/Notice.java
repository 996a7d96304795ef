package dev.millrace.api;

import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** What the owner of a task should hear of. */
@Schema(
        name = "Notification",
        description = "What the owner of a task should hear of; what it says depends on the type.")
public record Notice(
        @Schema(enumeration = {"completed", "failed", "cancelled", "notify", "approval_needed", "question"})
        String type,

        String taskId,
        @Nullable String sessionId,
        String namespace,
        String eventId,
        @Schema(description = "Unix milliseconds") long timestamp,
        @Nullable Map<String, @Nullable Object> result,
        @Nullable String error,
        @Nullable String code,
        @Nullable String reason,
        @Nullable String message,
        @Nullable String question,

        @Schema(description = "The payload of APPROVAL_REQUESTED") @Nullable
        Map<String, @Nullable Object> approval) {}
