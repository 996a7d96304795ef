package dev.millrace.agent.projection;

import dev.millrace.schemas.ErrorCode;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How far an event is that was accepted, told from its row. */
final class QueueStatus {

    static final String PENDING = "pending";
    static final String PROCESSING = "processing";
    static final String COMPLETED = "completed";
    static final String FAILED = "failed";
    static final String EXPIRED = "expired";
    static final String OVERWRITTEN = "overwritten";
    static final String CANCELLED = "cancelled";

    /** All that a row can tell. */
    static final Set<String> ALL = Set.of(PENDING, PROCESSING, COMPLETED, FAILED, EXPIRED, OVERWRITTEN, CANCELLED);

    /** Those of tasks that are no state of a task, or not all with that state. */
    private static final Set<String> LISTED_APART = Set.of(FAILED, EXPIRED, OVERWRITTEN, CANCELLED);

    /** What the reason of a cancelled task begins with if a processor has replaced the event that started it. */
    private static final String BY_PROCESSOR = "overwritten by processor ";

    private static final Set<String> FAILURES = Set.of(ErrorCode.PROCESSOR_FAILED.code(), "rule_failed");

    private QueueStatus() {}

    /** The status; {@code null} = nobody has put it in, such as what machines tell of themselves. */
    static @Nullable String of(TaskRow row) {
        String state = row.progress().state();
        if (state == null) {
            return row.alone() == null ? null : ofOutcome(row.alone().outcome());
        }
        TaskRow.Said said = row.progress().said();
        return switch (state) {
            case "idle" -> PENDING;
            case "completed" -> COMPLETED;
            case "failed" -> EXPIRED.equals(said.errorCode()) ? EXPIRED : FAILED;
            case "cancelled" -> said.error() != null && said.error().startsWith(BY_PROCESSOR) ? OVERWRITTEN : CANCELLED;
            default -> PROCESSING;
        };
    }

    /** Whether a task of this status has to stand in a list of its own to be found soon. */
    static boolean isListedApart(String status) {
        return LISTED_APART.contains(status);
    }

    private static String ofOutcome(@Nullable String outcome) {
        if (outcome == null) {
            return COMPLETED;
        }
        return switch (outcome) {
            case EXPIRED -> EXPIRED;
            case OVERWRITTEN -> OVERWRITTEN;
            default -> FAILURES.contains(outcome) ? FAILED : COMPLETED;
        };
    }
}
