package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A task as far as the journal tells. Absent values are {@code null}, unless it says otherwise. */
@Schema(name = "Task", description = "A task as far as the journal tells.")
public record Task(
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

        @Schema(description = "Toolsets that it waits for and that have no worker now; absent if there are none.")
        @JsonInclude(JsonInclude.Include.NON_NULL)
        @Nullable
        List<String> unserved,

        @Schema(
                description = "What else is to be said, such as that nobody works on the calls that it waits for;"
                        + " absent if there is nothing.")
        @JsonInclude(JsonInclude.Include.NON_NULL)
        @Nullable
        String note,

        @Schema(description = "The task that started this one as a part of itself; absent if none did.")
        @JsonInclude(JsonInclude.Include.NON_NULL)
        @Nullable
        String parentTaskId,

        @Schema(description = "The task and event from which this one goes on in another way; absent if it is no fork.")
        @JsonInclude(JsonInclude.Include.NON_NULL)
        @Nullable
        ForkedFrom forkedFrom,

        @Schema(description = "What the reflection on it came to; absent if there was none, or it is not over.")
        @JsonInclude(JsonInclude.Include.NON_NULL)
        @Nullable
        PostReflection postReflection) {

    /** What a reflection came to. */
    @Schema(name = "PostReflection", description = "What a reflection came to.")
    public record PostReflection(
            @Schema(description = "The model's judgement of the task.")
            String assessment,

            @Schema(description = "How many tools it has called.")
            long toolCallsCount) {}

    /** Where a task goes on from in another way. */
    @Schema(name = "ForkedFrom", description = "Where a task goes on from in another way.")
    public record ForkedFrom(
            String taskId,

            @Schema(description = "The event of that task up to which both are the same.")
            String eventId) {}

    /** How much of the input is shown, in characters. */
    public static final int MAX_INPUT = 500;

    /** The same with what its events do not tell. */
    public Task noted(List<String> unservedToolsets, String words) {
        return new Task(
                taskId,
                namespace,
                sessionId,
                taskType,
                agent,
                agentVersion,
                state,
                inputText,
                source,
                priority,
                createdAt,
                updatedAt,
                iterations,
                response,
                error,
                errorCode,
                question,
                usage,
                waitingFor,
                budget,
                callbackUrl,
                transitions,
                partition,
                firstCursor,
                lastCursor,
                unservedToolsets,
                words,
                parentTaskId,
                forkedFrom,
                postReflection);
    }

    /** What somebody wants done. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "TaskRequest", description = "What somebody wants done.")
    public record Request(
            @Schema(
                    required = true,
                    minLength = 1,
                    maxLength = MAX_TEXT,
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
            Map<String, @Nullable Object> metadata,

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
            String id,

            @Schema(
                    description =
                            "Who takes part in the session from now on: agents by name, and user for people, 1 to 20."
                                    + " Without taskType the text goes to those that it mentions with @name. Absent ="
                                    + " those that did before.")
            @Nullable
            List<String> participants,

            @Schema(description = "What the person is called who says it; agents are shown it. Absent = nothing.")
            @Nullable
            String sender) {

        /** Of a session of one agent at a time. */
        public Request(
                String text,
                @Nullable String taskType,
                @Nullable String agent,
                @Nullable String sessionId,
                @Nullable String namespace,
                @Nullable Map<String, @Nullable Object> metadata,
                @Nullable Integer priority,
                @Nullable String model,
                @Nullable String callbackUrl,
                @Nullable Long ttl,
                @Nullable String expiresAt,
                @Nullable String id) {
            this(
                    text,
                    taskType,
                    agent,
                    sessionId,
                    namespace,
                    metadata,
                    priority,
                    model,
                    callbackUrl,
                    ttl,
                    expiresAt,
                    id,
                    null,
                    null);
        }

        /** The longest text, in characters. */
        public static final int MAX_TEXT = 100_000;
    }

    /** The task is stored. */
    @Schema(name = "TaskAccepted", description = "The task is stored and will be worked on.")
    public record Accepted(
            @Schema(description = "The id of the task: that of the event which starts it.")
            String taskId,

            String eventId,
            @Nullable String sessionId,
            @Schema(examples = "accepted") String status,
            Links links) {}

    /** Tokens. */
    @Schema(name = "Usage", description = "Tokens.")
    public record Usage(long inputTokens, long outputTokens) {}

    /** What a task waits for. */
    @Schema(name = "WaitingFor", description = "What a task waits for.")
    public record WaitingFor(
            @Schema(enumeration = {"admission", "model", "tools", "answer", "approval", "resume", "children"})
            String kind,

            List<String> callIds,
            @Nullable String question,
            @Schema(description = "Unix milliseconds") long since,

            @Schema(description = "When it stops waiting by itself, RFC 3339.") @Nullable
            String until) {

        public WaitingFor(
                String kind,
                @Nullable List<String> callIds,
                @Nullable String question,
                long since,
                @Nullable String until) {
            this.kind = kind;
            this.callIds = callIds == null ? List.of() : List.copyOf(callIds);
            this.question = question;
            this.since = since;
            this.until = until;
        }

        /** Nothing but this, since then in Unix milliseconds. */
        public static WaitingFor of(String kind, long since) {
            return new WaitingFor(kind, List.of(), null, since, null);
        }

        /** The same for these calls. */
        public WaitingFor with(List<String> calls) {
            return new WaitingFor(kind, calls, question, since, until);
        }

        /** The same with a question. */
        public WaitingFor asking(String text) {
            return new WaitingFor(kind, callIds, text, since, until);
        }

        /** The same up to then, RFC 3339. */
        public WaitingFor until(@Nullable String time) {
            return new WaitingFor(kind, callIds, question, since, time);
        }
    }

    /** What a task has used and may use; {@code null} = no such limit, or not known. */
    @Schema(name = "Budget", description = "What a task has used and may use; null = no such limit, or not known.")
    public record Budget(
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

    /** A task moved from state to state. */
    @Schema(name = "Move", description = "A task moved from state to state.")
    public record Move(
            String fromState,
            String toState,
            String triggerEventType,
            String triggerEventId,
            @Schema(description = "Unix milliseconds") long timestamp,
            @Schema(description = "Goes into ?after=.") String cursor) {}

    /** A task and how it came there. */
    @Schema(name = "TaskDetails", description = "A task and how it came there.")
    public record Details(
            @JsonUnwrapped Task task,

            @Schema(description = "The last 50 moves, the oldest first; /v1/tasks/{id}/history has all.")
            List<Move> history) {

        /** How many moves are shown with the task. */
        public static final int MAX_HISTORY = 50;
    }

    /** A task that somebody has waited for, as it has ended, asks a question or needs an approval. */
    @Schema(name = "TaskAtRest", description = "A task as it has ended, asks a question or needs an approval.")
    public record AtRest(
            @JsonUnwrapped Details details,

            @Schema(description = "The id of the event that was sent.")
            String eventId,

            Links links) {}

    /** Some tasks. */
    @Schema(name = "TaskPage")
    public record Page(
            @Schema(description = "Newest first.") List<Task> tasks,

            @Schema(description = "For ?cursor=; null on the last page.") @Nullable
            String next) {}

    /** How many tasks there are in each state. */
    @Schema(name = "TaskCounts", description = "How many tasks there are in each state.")
    public record Counts(
            @Schema(
                    description = "By state; a state in which none is has none.",
                    examples = "{\"completed\": 12, \"suspended\": 1}")
            Map<String, Integer> states,

            @Schema(description = "Whether all were counted; if not, these are the newest ones.")
            boolean complete) {}

    /** Some moves of a task. */
    @Schema(name = "MovePage")
    public record MovePage(
            @Schema(description = "The oldest move first.") List<Move> history,

            @Schema(description = "For ?after=; null on the last page.") @Nullable
            String next) {}

    /** A reason. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "Reason")
    public record Reason(
            @Schema(description = "Why, for people.") @Nullable
            String reason) {}

    /** What cancels a task. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "CancelRequest")
    public record CancelRequest(
            @Schema(description = "Why, for people.") @Nullable
            String reason,

            @Schema(description = "The task's conversation, if you know it: then nobody need be asked.") @Nullable
            String sessionId) {}

    /** What a task goes on with. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "NewInput")
    public record NewInput(
            @Schema(description = "The answer, or new input; a completed task needs it.", maxLength = Request.MAX_TEXT)
            @Nullable
            String newInput) {}

    /** A request about a task is stored. */
    @Schema(name = "ControlAccepted", description = "The request is stored; the task machine will decide.")
    public record ControlAccepted(
            String taskId,

            @Schema(description = "The id of the event that was sent.")
            String eventId,

            @Nullable String sessionId,
            @Schema(examples = "accepted") String status,

            @Schema(description = "What you should know.") @Nullable
            String note,

            Links links) {}

    /** A request about all tasks is stored. */
    @Schema(name = "BroadcastAccepted")
    public record BroadcastAccepted(
            @Schema(description = "The id of the event that was sent.")
            String eventId,

            @Schema(examples = "accepted") String status) {}

    /**
     * Where to go on with a task; paths relative to the gateway.
     *
     * @param self the task
     * @param events what happened to it
     * @param history how it moved from state to state
     * @param stream its events as they happen
     */
    @Schema(name = "TaskLinks")
    public record Links(String self, String events, String history, String stream) {
        private static final String DEFAULT_NAMESPACE = "default";

        /** The links of a task. */
        public static Links of(String namespace, String taskId) {
            String self = "/v1/tasks/" + encoded(taskId);
            String query = namespace.equals(DEFAULT_NAMESPACE) ? "" : "?namespace=" + encoded(namespace);
            return new Links(
                    self + query, self + "/events" + query, self + "/history" + query, self + "/stream" + query);
        }

        private static String encoded(String text) {
            return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
        }
    }
}
