package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.api.Task.Counts;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** One thing that is done with many tasks. Absent values are {@code null}. */
public final class TaskBulk {

    /** More are not done in one request. */
    public static final int MOST = 200;

    private TaskBulk() {}

    /** What is done with which of them. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "TaskBulkRequest", description = "What is done with which tasks: ids, or else a filter.")
    public record Request(
            @Schema(enumeration = {"cancel", "suspend", "resume"}) @Nullable
            String action,

            @Schema(description = "These, 1 to 200.") @Nullable
            List<String> ids,

            @Schema(description = "All that it matches; {} = all of the namespace.") @Nullable
            Filter filter,

            @Schema(description = "Why, for people; not with resume.") @Nullable
            String reason,

            @Schema(description = "Whether nothing is to be done: the answer says what would be.") @Nullable
            Boolean dryRun,

            @Schema(description = "With a filter: at most so many, 1 to 200; absent = 200.") @Nullable
            Integer limit,

            @Schema(description = "With a filter: what next said the time before.") @Nullable
            String cursor) {}

    /** Which tasks are meant, as in GET /v1/tasks; {@code null} = that does not matter. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "TaskBulkFilter", description = "As in GET /v1/tasks; absent = that does not matter.")
    public record Filter(
            @Nullable String state,
            @Nullable String waitingFor,
            @Nullable String sessionId,
            @Nullable String agent,
            @Nullable String errorCode,
            @Nullable String text,
            @Nullable String parentTaskId,
            @Nullable String forkedFrom,
            @Nullable String createdAfter,
            @Nullable String createdBefore) {}

    /** What became of each. */
    @Schema(name = "TaskBulkOutcome", description = "What became of each, or would.")
    public record Outcome(
            String action,

            boolean dryRun,

            @Schema(description = "Of a dry run: how many are meant, over all pages; else null.") @Nullable
            Counts matched,

            @Schema(description = "In the order of ids; with a filter the newest first.")
            List<Item> items,

            @Schema(description = "For cursor: there may be more, from there on; null = there are none.") @Nullable
            String next) {

        public Outcome {
            items = List.copyOf(items);
        }
    }

    /** What became of one. */
    @Schema(name = "TaskBulkItem")
    public record Item(
            String taskId,

            @Schema(description = "As it was known before; null = nobody knows the task.") @Nullable
            String state,

            @Schema(
                    enumeration = {"accepted", "possible", "refused"},
                    description = "accepted: the request is stored, and the journal tells what it led to; possible: it"
                            + " would be, in a dry run.")
            String status,

            @Schema(description = "The event that asks for it; null = none was sent.") @Nullable
            String eventId,

            @Schema(description = "Why it was refused, such as not_suspendable; else null.", examples = "task_ended")
            @Nullable
            String code,

            @Schema(description = "The same for people.") @Nullable
            String detail) {}
}
