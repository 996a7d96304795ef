package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** What model calls have used. */
@Schema(name = "UsageReport")
public record UsageAnswer(
        @Schema(description = "When the first hour begins that is in the sums.", examples = "2026-01-31T08:00:00Z")
        String from,

        @Schema(description = "When the last one ends.", examples = "2026-02-01T00:00:00Z")
        String to,

        UsageSums total,

        @Schema(
                description = "Only with groupBy: a sum for each combination that there is, with namespace,"
                        + " sessionId, taskId, agent, model, hour or day beside it; null = not known, or none.")
        @Nullable
        List<Group> groups) {

    /** What one group used; only what it is told apart by is there. */
    @Schema(name = "UsageGroup")
    public record Group(
            @Nullable String namespace,
            @Nullable String sessionId,
            @Nullable String taskId,
            @Nullable String agent,
            @Nullable String model,
            @Nullable String hour,
            @Nullable String day,
            @JsonUnwrapped UsageSums sums) {}
}
