package dev.millrace.gateway.rest;

import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** The JSON of requests and answers, as the OpenAPI document shows it. */
final class ApiShapes {
    private ApiShapes() {}

    @Schema(name = "TaskRequest", description = "What somebody wants done.")
    record TaskRequest(
            @Schema(
                    required = true,
                    minLength = 1,
                    maxLength = TaskSubmission.MAX_TEXT,
                    examples = "Which files are in the workspace?")
            String text,

            @Schema(description = "The agent that is to do it. Absent = general.", examples = "explore") @Nullable
            String taskType,

            @Schema(description = "The same as taskType; give one of them.") @Nullable
            String agent,

            @Schema(description = "The conversation; tasks of one are done one after the other. Absent = its own.")
            @Nullable
            String sessionId,

            @Schema(description = "The tenant. Absent = default.") @Nullable
            String namespace,

            @Schema(description = "Anything that is to be kept with the task; recorded, not interpreted.") @Nullable
            Map<String, Object> metadata,

            @Schema(description = "Lower goes first, 100 or more. Absent = 100.") @Nullable
            Integer priority,

            @Schema(description = "Name of a configured model. Absent = the agent's own.") @Nullable
            String model,

            @Schema(
                    description = "Where to POST notifications about the task (http or https). Absent = nowhere.",
                    examples = "https://example.org/hooks/millrace")
            @Nullable
            String callbackUrl,

            @Schema(description = "A task that has not begun after so many milliseconds is no longer worth it.")
            @Nullable
            Long ttl,

            @Schema(description = "The same as a moment, RFC 3339; give one of them.") @Nullable
            String expiresAt,

            @Schema(
                    description =
                            "Your own id of this task, so that a repeated request makes no second task. Also as the"
                                    + " header Idempotency-Key. Absent = one is drawn.")
            @Nullable
            String id) {}

    @Schema(name = "TaskAccepted", description = "The task is stored and will be worked on.")
    record TaskAccepted(
            @Schema(description = "The id of the task: that of the event which starts it.")
            String taskId,

            String eventId,
            @Nullable String sessionId,
            @Schema(examples = "accepted") String status,
            TaskLinks links) {}

    @Schema(name = "Task", description = "A task as far as the journal tells.")
    record Task(
            String taskId,
            String namespace,
            @Nullable String sessionId,

            @Schema(description = "The agent that was asked for; once it has begun the one that works on it.")
            String taskType,

            @Schema(description = "The agent that works on it; null = it has not begun.") @Nullable
            String agent,

            @Schema(description = "Of that agent's definition, on which the task stays.", examples = "3c237af36b37")
            @Nullable
            String agentVersion,

            @Schema(
                    enumeration = {
                        "accepted",
                        "idle",
                        "reasoning",
                        "acting",
                        "suspended",
                        "completed",
                        "failed",
                        "cancelled"
                    })
            String state,

            @Schema(description = "What was asked, cut at 500 characters.")
            String inputText,

            String source,
            int priority,
            @Schema(description = "Unix milliseconds") long createdAt,
            @Schema(description = "Unix milliseconds") long updatedAt,
            int iterations,

            @Schema(description = "The answer; null until there is one.") @Nullable
            String response,

            @Schema(description = "Why it failed or was cancelled, for people.") @Nullable
            String error,

            @Nullable String errorCode,

            @Schema(description = "What it asks while it is suspended.") @Nullable
            String question,

            Usage usage,

            @Schema(description = "Null once it has ended.") @Nullable
            WaitingFor waitingFor,

            @Nullable Budget budget,
            @Nullable String callbackUrl,

            @Schema(description = "How often it has moved from state to state.")
            int transitions,

            int partition,

            @Schema(description = "The place of its first event in the journal.") @Nullable
            String firstCursor,

            @Schema(description = "The place of its last event in the journal.") @Nullable
            String lastCursor,

            @Schema(
                    description = "What else is to be said, such as that nobody works on the calls that it waits for;"
                            + " absent if there is nothing.")
            @Nullable
            String note,

            @Schema(description = "Toolsets that it waits for and that have no worker now; absent if there are none.")
            @Nullable
            List<String> unserved) {}

    @Schema(name = "TaskDetails", description = "A task and how it came there.")
    record TaskDetails(
            String taskId,
            String namespace,
            @Nullable String sessionId,
            String taskType,
            @Nullable String agent,
            @Nullable String agentVersion,
            String state,
            String inputText,
            String source,
            int priority,
            long createdAt,
            long updatedAt,
            int iterations,
            @Nullable String response,
            @Nullable String error,
            @Nullable String errorCode,
            @Nullable String question,
            Usage usage,
            @Nullable WaitingFor waitingFor,
            @Nullable Budget budget,
            @Nullable String callbackUrl,
            int transitions,
            int partition,
            @Nullable String firstCursor,
            @Nullable String lastCursor,

            @Schema(description = "The last 50 moves, the oldest first; /v1/tasks/{id}/history has all.")
            List<Move> history,

            @Schema(
                    description = "What else is to be said, such as that nobody works on the calls that it waits for;"
                            + " absent if there is nothing.")
            @Nullable
            String note,

            @Schema(description = "Toolsets that it waits for and that have no worker now; absent if there are none.")
            @Nullable
            List<String> unserved) {}

    @Schema(name = "Move", description = "A task moved from state to state.")
    record Move(
            String fromState,
            String toState,
            String triggerEventType,
            String triggerEventId,
            @Schema(description = "Unix milliseconds") long timestamp,
            @Schema(description = "Goes into ?after=.") String cursor) {}

    @Schema(name = "MovePage")
    record MovePage(
            @Schema(description = "The oldest move first.") List<Move> history,

            @Schema(description = "For ?after=; null on the last page.") @Nullable
            String next) {}

    @Schema(name = "WaitingFor", description = "What a task waits for.")
    record WaitingFor(
            @Schema(enumeration = {"admission", "model", "tools", "answer", "approval", "resume", "children"})
            String kind,

            List<String> callIds,
            @Nullable String question,
            @Schema(description = "Unix milliseconds") long since,

            @Schema(description = "When it stops waiting by itself, RFC 3339.") @Nullable
            String until) {}

    @Schema(name = "Budget", description = "What a task has used and may use; null = no such limit, or not known.")
    record Budget(
            @Nullable Long iterations,
            @Nullable Long maxIterations,
            @Nullable Long inputTokens,
            @Nullable Long outputTokens,
            @Nullable Long maxTokens,

            @Schema(description = "Millionths of a US dollar") @Nullable
            Long costMicros,

            @Schema(description = "Millionths of a US dollar") @Nullable
            Long maxCostMicros,

            @Schema(description = "When its life time ends, RFC 3339") @Nullable
            String expiresAt) {}

    @Schema(name = "Reason")
    record Reason(
            @Schema(description = "Why, for people.") @Nullable
            String reason) {}

    @Schema(name = "CancelRequest")
    record CancelRequest(
            @Schema(description = "Why, for people.") @Nullable
            String reason,

            @Schema(description = "The task's conversation, if you know it: then nobody need be asked.") @Nullable
            String sessionId) {}

    @Schema(name = "NewInput")
    record NewInput(
            @Schema(
                    description = "The answer, or new input; a completed task needs it.",
                    maxLength = TaskSubmission.MAX_TEXT)
            @Nullable
            String newInput) {}

    @Schema(name = "ControlAccepted", description = "The request is stored; the task machine will decide.")
    record ControlAccepted(
            String taskId,

            @Schema(description = "The id of the event that was sent.")
            String eventId,

            @Nullable String sessionId,
            @Schema(examples = "accepted") String status,

            @Schema(description = "What you should know.") @Nullable
            String note,

            TaskLinks links) {}

    @Schema(name = "BroadcastAccepted")
    record BroadcastAccepted(
            @Schema(description = "The id of the event that was sent.")
            String eventId,

            @Schema(examples = "accepted") String status) {}

    @Schema(name = "Decision", description = "What somebody decided about a tool call.")
    record Decision(
            @Schema(
                    required = true,
                    enumeration = {"approve", "reject"})
            String decision,

            @Schema(
                    description =
                            "All arguments to run it with in place of those that were asked for, by the tool's schema;"
                                    + " only with approve.")
            @Nullable
            Map<String, Object> params,

            @Schema(description = "Why; of a rejection the model sees it too.") @Nullable
            String reason,

            @Schema(description = "Who decides, for the record.") @Nullable
            String decidedBy) {}

    @Schema(name = "Approval", description = "A tool call that waits for a decision.")
    record Approval(
            String callId,
            String taskId,
            @Nullable String sessionId,
            String namespace,
            String toolName,
            Map<String, Object> params,
            @Nullable String taskType,

            @Schema(
                    description =
                            "Why it needs an approval: the condition that holds, or why it cannot be decided. null"
                                    + " = every call of the tool needs one.",
                    examples = "condition `args.amount > 100` cannot be decided: amount is a text (\"59.90\") (no such"
                            + " overload)")
            @Nullable
            String reason,

            @Schema(description = "Unix milliseconds") long requestedAt,

            @Schema(description = "When it is decided without anybody, RFC 3339.") @Nullable
            String expiresAt,

            String eventId,
            String cursor) {}

    @Schema(name = "ApprovalPage")
    record ApprovalPage(
            @Schema(description = "The one that has waited longest first.")
            List<Approval> approvals,

            @Schema(description = "For ?cursor=; null on the last page.") @Nullable
            String next) {}

    @Schema(name = "DeadLetter", description = "A record that could not be read or was not taken.")
    record DeadLetter(
            String cursor,
            @Schema(examples = "unknown_task") @Nullable String reason,

            @Schema(description = "What was expected and found, for people.") @Nullable
            String detail,

            @Schema(description = "Unix milliseconds") long timestamp,
            @Nullable String originTopic,
            @Nullable String originPartition,
            @Nullable String originOffset,
            @Nullable String eventId,
            @Nullable String type,
            @Nullable String taskId,
            @Nullable String sessionId,
            String namespace,
            @Nullable String key,

            @Schema(description = "As text, cut at 2000 characters.") @Nullable
            String value,

            int valueBytes) {}

    @Schema(name = "DeadLetterPage")
    record DeadLetterPage(
            @Schema(description = "The newest first.") List<DeadLetter> deadLetters,

            @Schema(description = "For ?cursor=; null on the last page.") @Nullable
            String next) {}

    @Schema(name = "Decided")
    record Decided(
            String decision,
            @Nullable String decidedBy,
            @Nullable String reason,
            @Schema(description = "Unix milliseconds") long at) {}

    @Schema(name = "ApprovalDetails", description = "A tool call that waits, or waited, for a decision.")
    record ApprovalDetails(
            String callId,
            String taskId,
            @Nullable String sessionId,
            String namespace,
            String toolName,
            Map<String, Object> params,
            @Nullable String taskType,
            @Nullable String reason,
            long requestedAt,
            @Nullable String expiresAt,
            String eventId,
            String cursor,
            boolean open,
            String taskState,
            @Nullable Decided decided) {}

    @Schema(
            name = "Notification",
            description = "What the owner of a task should hear of; what it says depends on the type.")
    record NotificationShape(
            @Schema(enumeration = {"completed", "failed", "cancelled", "notify", "approval_needed", "question"})
            String type,

            String taskId,
            @Nullable String sessionId,
            String namespace,
            String eventId,
            @Schema(description = "Unix milliseconds") long timestamp,
            @Nullable Map<String, Object> result,
            @Nullable String error,
            @Nullable String code,
            @Nullable String reason,
            @Nullable String message,
            @Nullable String question,

            @Schema(description = "The payload of APPROVAL_REQUESTED") @Nullable
            Map<String, Object> approval) {}

    @Schema(name = "Usage", description = "Tokens.")
    record Usage(long inputTokens, long outputTokens) {}

    @Schema(name = "TaskPage")
    record TaskPage(
            @Schema(description = "Newest first.") List<Task> tasks,

            @Schema(description = "For ?cursor=; null on the last page.") @Nullable
            String next) {}

    @Schema(name = "JournalEntry", description = "An event with its place in the journal.")
    record Entry(
            String id,
            @Schema(examples = "TASK_CREATED") String type,
            @Schema(description = "Unix milliseconds") long timestamp,
            String source,
            @Nullable String taskId,
            @Nullable String sessionId,
            String namespace,
            String correlationId,

            @Schema(description = "The event that caused this one; absent on a root.") @Nullable
            String parentEventId,

            @Nullable Integer priority,
            int effectivePriority,
            Map<String, Object> payload,

            @Schema(description = "<partition>:<offset>; goes into ?after= and Last-Event-ID.", examples = "3:1042")
            String cursor) {}

    @Schema(name = "EventPage")
    record EventPage(
            List<Entry> events,

            @Schema(description = "For ?after=; null on the last page.") @Nullable
            String next,

            @Schema(description = "On the last page: nothing of this task is missing up to this place.") @Nullable
            String upTo) {}

    @Schema(name = "Chain")
    record Chain(
            @Schema(description = "The root first, the event that was asked for last.")
            List<Entry> chain,

            @Schema(description = "The cursor of the page with what comes before; null = there is no more.") @Nullable
            String next) {}

    @Schema(name = "EventsAccepted")
    record EventsAccepted(
            @Schema(description = "Ids in the order of the request.")
            List<String> accepted) {}
}
