package dev.millrace.api;

import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A tool as on the definitions topic; docs/events.md. */
@Schema(name = "Tool", description = "As on the definitions topic; docs/events.md.")
public record ToolView(
        String name,
        String description,

        @Schema(description = "JSON Schema of the arguments")
        Map<String, @Nullable Object> parameters,

        @Schema(description = "Whose request topic gets the calls.")
        String toolset,

        long timeoutMs,

        @Schema(
                description = "What a call does to the world.",
                enumeration = {"READ_ONLY", "IDEMPOTENT", "DESTRUCTIVE"})
        String sideEffects,

        @Schema(description = "\"never\", \"always\" or {\"when\": expression}")
        Object approval,

        @Nullable Long approvalExpiryMs,

        @Schema(enumeration = {"reject", "approve"}) String onExpiry,

        @Nullable Map<String, @Nullable Object> retry) {

    /** All tools. */
    @Schema(name = "Tools")
    public record All(List<ToolView> tools) {}
}
