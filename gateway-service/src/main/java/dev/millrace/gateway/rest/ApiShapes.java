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

            @Schema(description = "Lower goes first, 0 or more. Absent = 100.") @Nullable
            Integer priority,

            @Schema(description = "Name of a configured model. Absent = the agent's own.") @Nullable
            String model,

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
            String taskType,

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
            int partition,

            @Schema(description = "The place of its first event in the journal.") @Nullable
            String firstCursor,

            @Schema(description = "The place of its last event in the journal.") @Nullable
            String lastCursor) {}

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
            List<Entry> chain) {}

    @Schema(name = "EventsAccepted")
    record EventsAccepted(
            @Schema(description = "Ids in the order of the request.")
            List<String> accepted) {}

    @Schema(name = "Agents")
    record Agents(List<Agent> agents) {}

    @Schema(name = "Agent")
    record Agent(String name, String description, List<String> tools) {}
}
