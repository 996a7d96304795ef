package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A tool call that waits for a decision. Absent values are {@code null}. */
@Schema(name = "Approval", description = "A tool call that waits for a decision.")
public record Approval(
        String callId,
        String taskId,
        @Nullable String sessionId,
        String namespace,
        String toolName,
        @Schema(type = SchemaType.OBJECT) Map<?, ?> params,
        @Nullable String taskType,

        @Schema(
                description = "Why it needs an approval: the condition that holds, or why it cannot be decided. null"
                        + " = every call of the tool needs one.",
                examples = "condition `args.amount > 100` cannot be decided: amount is a text (\"59.90\") (no such"
                        + " overload)")
        @Nullable
        String reason,

        @Schema(description = "Unix milliseconds") long requestedAt,

        @Schema(description = "When it is decided without anybody, RFC 3339.") @Nullable
        String expiresAt,

        String eventId,
        String cursor) {

    /** What somebody decides. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "Decision", description = "What somebody decided about a tool call.")
    public record Decision(
            @Schema(
                    required = true,
                    enumeration = {"approve", "reject"})
            String decision,

            @Schema(
                    description =
                            "All arguments to run it with in place of those that were asked for, by the tool's schema;"
                                    + " only with approve.")
            @Nullable
            Map<String, @Nullable Object> params,

            @Schema(description = "Why; of a rejection the model sees it too.") @Nullable
            String reason,

            @Schema(description = "Who decides, for the record.") @Nullable
            String decidedBy) {}

    /** What somebody decided. */
    @Schema(name = "Decided")
    public record Decided(
            String decision,
            @Nullable String decidedBy,
            @Nullable String reason,
            @Schema(description = "Unix milliseconds") long at) {}

    /** A tool call that waits, or waited, for a decision. */
    @Schema(name = "ApprovalDetails", description = "A tool call that waits, or waited, for a decision.")
    public record Details(
            @JsonUnwrapped Approval approval,
            @Schema(description = "Whether it still waits.") boolean open,
            String taskState,
            @Nullable Decided decided) {}

    /** Some open approvals. */
    @Schema(name = "ApprovalPage")
    public record Page(
            @Schema(description = "The one that has waited longest first.")
            List<Approval> approvals,

            @Schema(description = "For ?cursor=; null on the last page.") @Nullable
            String next) {}
}
