package dev.millrace.schemas;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an event says: a record for each type of the catalogue, so that nobody reads a known field by its name. What the
 * fields mean, their ranges and units stand in the JSON Schema of the type, and so in {@code docs/events.md}; a test
 * holds each record to its schema. A component that may be absent is nullable, a list is
 * empty then. Times are texts as RFC 3339
 * has them, or numbers of Unix milliseconds where the name ends in {@code At}. Immutable all the way down.
 *
 * <p>Fields that a record does not have are not lost: {@link Event#fields()} has everything that the sender wrote.
 */
public sealed interface Payload {

    /** What starts a task, or goes to one that waits. */
    sealed interface TaskInput extends Payload {
        /** What to do, in plain words. */
        @Nullable
        String text();

        /** The same, under whichever name it came. */
        default @Nullable String said() {
            return text();
        }

        /** Makes the text from the payload, see {@link InputTemplate}. */
        default @Nullable String template() {
            return null;
        }

        /** The agent that is to work. */
        @Nullable
        String taskType();

        /** Whatever the sender wants to find again. */
        @Nullable
        JsonObject metadata();

        /** Where the owner wants to be told what becomes of the task. */
        @Nullable
        String callbackUrl();

        /** Who waits for the task, if a task started it. */
        default @Nullable Parent parent() {
            return null;
        }
    }

    /** A request to forget, and what has come of it. See {@link ForgetScope}. */
    sealed interface Forgetting extends Payload {
        /** How much, {@link ForgetScope.Kind#wireName}. */
        String scope();

        /** The task, of a scope that is one. */
        @Nullable
        String taskId();

        /** The session, of a scope that is one. */
        @Nullable
        String sessionId();

        /** The request that all of it goes back to; absent in a request that goes back to no other. */
        @Nullable
        String forgetId();
    }

    /** What came of a model call. */
    sealed interface ModelCallOutcome extends Payload {
        /** The call. */
        String callId();

        /** What it used, and the failed attempts of the same model with it. */
        @Nullable
        Usage usage();

        /** What attempts of other models used. */
        List<FailedAttempt> failedAttempts();

        /** The model that {@link #usage} is of. */
        @Nullable
        String model();

        /** The agent that the call was made for. */
        @Nullable
        String agent();
    }

    /**
     * Live text, of the types of {@link StreamType}: what is told of a model's reply while it is being made.
     *
     * <p>Pieces of one attempt are numbered without holes; an attempt that has begun makes void what came of those
     * before.
     */
    sealed interface LiveText extends Payload {
        /** The model call. */
        String callId();

        /** Which attempt at it, 1 or more. */
        long attempt();

        /** The place within the attempt, from 0. */
        long seq();
    }

    /**
     * Of a type that is in no catalogue, or not as its type's schema has it.
     *
     * @param fields JSON values, see {@link Event#fields()}
     */
    record Unknown(@JsonValue JsonObject fields) implements Payload {
        public Unknown {
            requireNonNull(fields, "fields");
        }
    }

    /**
     * Of the types of {@link BackgroundEnd}, which the task machine sends to the parent of a sub-task in the
     * background. Other people may send events of these types that mean something else.
     *
     * @param taskSessionId the conversation that the sub-task had of its own; {@code null} = none
     * @param state {@link BackgroundEnd#state} of one that had; else {@code null}
     */
    record BackgroundTaskEnded(
            @Nullable String callId,
            @Nullable String taskId,
            @Nullable Object result,
            @Nullable String error,
            @Nullable Usage usage,
            @Nullable String taskSessionId,
            @Nullable String state)
            implements Payload {
        public BackgroundTaskEnded {
            result = JsonValues.frozen(result);
        }
    }

    /** Of {@link KnownEventType#SYSTEM_STARTED}. */
    record SystemStarted(
            @Nullable String instance, @Nullable String version) implements Payload {}

    /** Of {@link KnownEventType#SYSTEM_SHUTTING_DOWN}. */
    record SystemShuttingDown(
            @Nullable String instance, @Nullable String reason) implements Payload {}

    /** Of {@link KnownEventType#TASK_CANCEL_REQUESTED}. */
    record TaskCancelRequested(
            @Nullable String reason, @Nullable Boolean interrupt) implements Payload {
        /** Without a trace in the session. */
        public TaskCancelRequested(@Nullable String reason) {
            this(reason, null);
        }
    }

    /** Of {@link KnownEventType#FORGET_REQUESTED}. */
    record ForgetRequested(
            String scope,
            @Nullable String taskId,
            @Nullable String sessionId,
            @Nullable String forgetId,
            @Nullable String reason)
            implements Forgetting {
        public ForgetRequested {
            requireNonNull(scope, "scope");
        }
    }

    /** Of {@link KnownEventType#HEARTBEAT}. */
    record Heartbeat(
            String instance,
            @Nullable String version,
            @Nullable Long uptimeMs,
            @Nullable Long activeTasks,
            @Nullable Long waitingTasks)
            implements Payload {
        public Heartbeat {
            requireNonNull(instance, "instance");
        }
    }

    /** Of {@link KnownEventType#MESSAGE_RECEIVED}. */
    record MessageReceived(
            @Nullable String text,
            @Nullable String content,
            List<Image> images,
            List<Message> history,
            @Nullable String taskType,
            @Nullable JsonObject metadata,
            @Nullable String model,
            @Nullable String callbackUrl,
            @Nullable Parent parent,
            @Nullable Observed observed,
            @Nullable Fork fork,
            @Nullable Sender sender,
            @Nullable Conversation thread)
            implements TaskInput {
        /** What was neither handed over by a rule nor forked. */
        public MessageReceived(
                @Nullable String text,
                @Nullable String content,
                List<Image> images,
                List<Message> history,
                @Nullable String taskType,
                @Nullable JsonObject metadata,
                @Nullable String model,
                @Nullable String callbackUrl,
                @Nullable Parent parent) {
            this(text, content, images, history, taskType, metadata, model, callbackUrl, parent, null);
        }

        /** What was not forked. */
        public MessageReceived(
                @Nullable String text,
                @Nullable String content,
                List<Image> images,
                List<Message> history,
                @Nullable String taskType,
                @Nullable JsonObject metadata,
                @Nullable String model,
                @Nullable String callbackUrl,
                @Nullable Parent parent,
                @Nullable Observed observed) {
            this(text, content, images, history, taskType, metadata, model, callbackUrl, parent, observed, null);
        }

        /** What says nothing of its sender or of who takes part. */
        public MessageReceived(
                @Nullable String text,
                @Nullable String content,
                List<Image> images,
                List<Message> history,
                @Nullable String taskType,
                @Nullable JsonObject metadata,
                @Nullable String model,
                @Nullable String callbackUrl,
                @Nullable Parent parent,
                @Nullable Observed observed,
                @Nullable Fork fork) {
            this(
                    text,
                    content,
                    images,
                    history,
                    taskType,
                    metadata,
                    model,
                    callbackUrl,
                    parent,
                    observed,
                    fork,
                    null,
                    null);
        }

        public MessageReceived {
            images = listOrEmpty(images);
            history = listOrEmpty(history);
        }

        /** The same for this agent, in a conversation. */
        public MessageReceived to(String agent, @Nullable Sender by, Conversation in) {
            return new MessageReceived(
                    text,
                    content,
                    images,
                    history,
                    agent,
                    metadata,
                    model,
                    callbackUrl,
                    parent,
                    observed,
                    fork,
                    by,
                    in);
        }

        @Override
        public @Nullable String said() {
            return text == null ? content : text;
        }
    }

    /** Of {@link KnownEventType#WEBHOOK_TRIGGERED}. */
    record WebhookTriggered(
            @Nullable String text,
            @Nullable String template,
            @Nullable Object body,
            @Nullable String taskType,
            @Nullable JsonObject metadata,
            @Nullable String callbackUrl)
            implements TaskInput {
        public WebhookTriggered {
            body = JsonValues.frozen(body);
        }
    }

    /** Of {@link KnownEventType#SCHEDULE_FIRED}. */
    record ScheduleFired(
            @Nullable String text,
            @Nullable String template,
            @Nullable Object body,
            @Nullable String taskType,
            @Nullable JsonObject metadata,
            @Nullable String callbackUrl)
            implements TaskInput {
        public ScheduleFired {
            body = JsonValues.frozen(body);
        }
    }

    /** Of {@link KnownEventType#TASK_CREATED}. */
    record TaskCreated(
            String inputText,
            String source,
            @Nullable JsonObject inputMetadata,
            String taskType,
            @Nullable String agentVersion)
            implements Payload {
        public TaskCreated {
            requireNonNull(inputText, "inputText");
            requireNonNull(source, "source");
            requireNonNull(taskType, "taskType");
        }
    }

    /** Of {@link KnownEventType#TASK_STATE_CHANGED}. */
    record TaskStateChanged(
            String fromState,
            String toState,
            String triggerEventType,
            String triggerEventId,
            @Nullable WaitingFor waitingFor,
            @Nullable Budget budget)
            implements Payload {
        public TaskStateChanged {
            requireNonNull(fromState, "fromState");
            requireNonNull(toState, "toState");
            requireNonNull(triggerEventType, "triggerEventType");
            requireNonNull(triggerEventId, "triggerEventId");
        }
    }

    /** Of {@link KnownEventType#TASK_COMPLETED}. */
    record TaskCompleted(Result result, @Nullable Usage usage) implements Payload {
        public TaskCompleted {
            requireNonNull(result, "result");
        }
    }

    /** Of {@link KnownEventType#TASK_FAILED}. */
    record TaskFailed(
            String error,
            String code,
            @Nullable Long iterations,
            @Nullable Usage usage) implements Payload {
        public TaskFailed {
            requireNonNull(error, "error");
            requireNonNull(code, "code");
        }
    }

    /** Of {@link KnownEventType#TASK_SUSPENDED}. */
    record TaskSuspended(@Nullable String reason, @Nullable String question) implements Payload {}

    /** Of {@link KnownEventType#TASK_RESUMED}. */
    record TaskResumed(@Nullable String newInput, @Nullable Parent parent) implements Payload {}

    /** Of {@link KnownEventType#TASK_NOTIFY}. */
    record TaskNotify(
            String message,
            @Nullable String channelId,
            @Nullable String replyTo) implements Payload {
        public TaskNotify {
            requireNonNull(message, "message");
        }

        /** For the owner of the task. */
        public TaskNotify(String message) {
            this(message, null, null);
        }
    }

    /** Of {@link KnownEventType#APPROVAL_REQUESTED}. */
    record ApprovalRequested(
            String callId,
            String toolCallId,
            String toolName,
            JsonObject params,
            @Nullable String taskType,
            @Nullable String expiresAt,
            @Nullable String reason)
            implements Payload {
        public ApprovalRequested {
            requireNonNull(callId, "callId");
            requireNonNull(toolCallId, "toolCallId");
            requireNonNull(toolName, "toolName");
            requireNonNull(params, "params");
        }
    }

    /** Of {@link KnownEventType#APPROVAL_DECIDED}. */
    record ApprovalDecided(
            String callId,
            String decision,
            @Nullable JsonObject params,
            @Nullable String reason,
            @Nullable String decidedBy)
            implements Payload {
        public ApprovalDecided {
            requireNonNull(callId, "callId");
            requireNonNull(decision, "decision");
        }
    }

    /** Of {@link KnownEventType#TASK_CANCELLED}. */
    record TaskCancelled(
            @Nullable String reason,
            @Nullable String response,
            @Nullable String notice) implements Payload {
        /** Without a trace in the session. */
        public TaskCancelled(@Nullable String reason) {
            this(reason, null, null);
        }
    }

    /** Of {@link KnownEventType#TASKS_FORGOTTEN}. */
    record TasksForgotten(
            String scope,
            @Nullable String taskId,
            @Nullable String sessionId,
            String forgetId,
            long requestedAt,
            long partition,
            long partitions,
            @Nullable Long tasks,
            @Nullable Long cancelled,
            @Nullable Long children)
            implements Forgetting {
        public TasksForgotten {
            requireNonNull(scope, "scope");
            requireNonNull(forgetId, "forgetId");
        }
    }

    /** Of {@link KnownEventType#REASON_DONE}. */
    record ReasonDone(
            String callId,

            @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable
            String response,

            @Nullable String approach,
            @Nullable Boolean needsClarification,
            @JsonInclude(JsonInclude.Include.ALWAYS) List<RequestedCall> toolCalls,
            List<Step> steps,
            @Nullable String model,
            @Nullable String finishReason,
            @Nullable Usage usage,
            List<FailedAttempt> failedAttempts,
            @Nullable String agent,
            @Nullable Fallback fallback,
            @Nullable String reasoning,
            @Nullable Long contextWindow,
            @Nullable String continuation)
            implements ModelCallOutcome {
        public ReasonDone {
            requireNonNull(callId, "callId");
            toolCalls = listOrEmpty(toolCalls);
            steps = listOrEmpty(steps);
            failedAttempts = listOrEmpty(failedAttempts);
        }
    }

    /** Of {@link KnownEventType#CONTEXT_COMPACTED}. */
    record ContextCompacted(
            String callId,
            String summary,
            @Nullable String request,
            @Nullable Long keptFrom,
            @Nullable String model,
            @Nullable String finishReason,
            @Nullable Usage usage,
            @Nullable Fallback fallback,
            List<FailedAttempt> failedAttempts,
            @Nullable String agent)
            implements ModelCallOutcome {
        public ContextCompacted {
            requireNonNull(callId, "callId");
            requireNonNull(summary, "summary");
            failedAttempts = listOrEmpty(failedAttempts);
        }
    }

    /** Of {@link KnownEventType#MODEL_CALL_REQUESTED}. */
    record ModelCallRequested(
            String callId,
            long iteration,
            @Nullable String model,
            @Nullable String purpose) implements Payload {
        public ModelCallRequested {
            requireNonNull(callId, "callId");
        }
    }

    /** Of {@link KnownEventType#MODEL_CALL_FAILED}. */
    record ModelCallFailed(
            String callId,
            String code,
            String error,
            @Nullable Boolean retryable,
            @Nullable String model,
            @Nullable Usage usage,
            List<FailedAttempt> failedAttempts,
            @Nullable String agent)
            implements ModelCallOutcome {
        public ModelCallFailed {
            requireNonNull(callId, "callId");
            requireNonNull(code, "code");
            requireNonNull(error, "error");
            failedAttempts = listOrEmpty(failedAttempts);
        }
    }

    /** Of {@link KnownEventType#MODEL_CALL_ABANDONED}. */
    record ModelCallAbandoned(
            String callId,
            String code,
            @Nullable Long repliedAt,
            @Nullable String model,
            @Nullable Usage usage,
            List<FailedAttempt> failedAttempts,
            @Nullable String agent)
            implements ModelCallOutcome {
        public ModelCallAbandoned {
            requireNonNull(callId, "callId");
            requireNonNull(code, "code");
            failedAttempts = listOrEmpty(failedAttempts);
        }
    }

    /** Of {@link KnownEventType#STEP_COMPLETED}. */
    record StepCompleted(long stepIndex, long actionsCount) implements Payload {}

    /** Of {@link KnownEventType#REFLECTION_COMPLETE}. */
    record ReflectionComplete(
            long factsWritten,
            boolean hasEpisode,
            long toolCallsCount,
            String assessment,
            @Nullable Usage usage,
            @JsonInclude(JsonInclude.Include.ALWAYS) List<ModelCall> modelCalls)
            implements Payload {
        public ReflectionComplete {
            requireNonNull(assessment, "assessment");
            modelCalls = listOrEmpty(modelCalls);
        }
    }

    /** Of {@link KnownEventType#REFLECTION_FAILED}. */
    record ReflectionFailed(
            String code,
            String error,
            @Nullable Long factsWritten,
            @Nullable Boolean hasEpisode,
            @Nullable Long toolCallsCount,
            @Nullable Usage usage,
            @JsonInclude(JsonInclude.Include.ALWAYS) List<ModelCall> modelCalls)
            implements Payload {
        public ReflectionFailed {
            requireNonNull(code, "code");
            requireNonNull(error, "error");
            modelCalls = listOrEmpty(modelCalls);
        }
    }

    /** Of {@link KnownEventType#MEMORY_FORGOTTEN}. */
    record MemoryForgotten(
            String scope,
            @Nullable String taskId,
            @Nullable String sessionId,
            String forgetId,
            @Nullable Long documents,
            @Nullable Long reflections,
            List<ModelCall> modelCalls)
            implements Forgetting {
        public MemoryForgotten {
            requireNonNull(scope, "scope");
            requireNonNull(forgetId, "forgetId");
            modelCalls = listOrEmpty(modelCalls);
        }
    }

    /** Of {@link KnownEventType#NEED_MORE_INFO}. */
    record NeedMoreInfo(
            String callId,
            String question,
            @Nullable String toolCallId,

            @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable
            String response,

            @Nullable String approach,
            @Nullable Boolean needsClarification,
            @JsonInclude(JsonInclude.Include.ALWAYS) List<RequestedCall> toolCalls,
            @Nullable String model,
            @Nullable String finishReason,
            @Nullable Usage usage,
            List<FailedAttempt> failedAttempts,
            @Nullable String agent,
            @Nullable Fallback fallback,
            @Nullable String reasoning,
            @Nullable Long contextWindow,
            @Nullable String continuation)
            implements ModelCallOutcome {
        public NeedMoreInfo {
            requireNonNull(callId, "callId");
            requireNonNull(question, "question");
            toolCalls = listOrEmpty(toolCalls);
            failedAttempts = listOrEmpty(failedAttempts);
        }
    }

    /** Of {@link KnownEventType#TOOL_CALL_REQUESTED}. */
    record ToolCallRequested(
            String callId,
            String toolCallId,
            String toolName,
            JsonObject params,
            @Nullable String taskType,
            @Nullable Long stepIndex,
            @Nullable Long timeoutMs)
            implements Payload {
        public ToolCallRequested {
            requireNonNull(callId, "callId");
            requireNonNull(toolCallId, "toolCallId");
            requireNonNull(toolName, "toolName");
            requireNonNull(params, "params");
        }
    }

    /** Of {@link KnownEventType#TOOL_CALL_COMPLETED}. */
    record ToolCallCompleted(
            String callId,
            String toolName,

            @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable
            Object result,

            @Nullable Long durationMs,
            @Nullable Usage usage)
            implements Payload {
        public ToolCallCompleted {
            requireNonNull(callId, "callId");
            requireNonNull(toolName, "toolName");
            result = JsonValues.frozen(result);
        }
    }

    /** Of {@link KnownEventType#TOOL_CALL_FAILED}. */
    record ToolCallFailed(
            String callId,
            String toolName,
            String error,
            String code,
            @Nullable Long durationMs,
            @Nullable Usage usage) implements Payload {
        public ToolCallFailed {
            requireNonNull(callId, "callId");
            requireNonNull(toolName, "toolName");
            requireNonNull(error, "error");
            requireNonNull(code, "code");
        }
    }

    /** Of {@link KnownEventType#REFLECTION_REQUESTED}. */
    record ReflectionRequested(
            String taskId,
            String input,

            @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable
            String response,

            long iterations,
            long actionsCount,
            @Nullable String steps)
            implements Payload {
        public ReflectionRequested {
            requireNonNull(taskId, "taskId");
            requireNonNull(input, "input");
        }
    }

    /** Of {@link KnownEventType#MEMORY_EDIT_REQUESTED}. */
    record MemoryEditRequested(
            String path,
            @Nullable String content,
            @Nullable Boolean exists,
            List<String> ifMatch,
            List<String> ifNoneMatch,
            @Nullable String editedBy)
            implements Payload {
        public MemoryEditRequested {
            requireNonNull(path, "path");
            ifMatch = listOrEmpty(ifMatch);
            ifNoneMatch = listOrEmpty(ifNoneMatch);
        }
    }

    /** Of {@link KnownEventType#RAG_INGEST}. */
    record RagIngest(
            String source,
            @Nullable String namespace,
            @Nullable String title,
            @Nullable JsonObject metadata,
            @Nullable Boolean forceReindex,
            @Nullable Chunking chunking)
            implements Payload {
        public RagIngest {
            requireNonNull(source, "source");
        }

        /** The collection of a document that names none. */
        public static final String DEFAULT_COLLECTION = "default";

        /** The collection that the document goes into. */
        public String collection() {
            return namespace == null ? DEFAULT_COLLECTION : namespace;
        }

        /** The id of the document: the same for the same source in the same collection of a namespace. */
        public String documentId() {
            return documentId(collection(), source);
        }

        /** The id of a document from there. 32 lower-case hex characters. */
        public static String documentId(String collection, String source) {
            return Ids.hash(collection + '\n' + source).substring(0, 32);
        }

        /** How the document is cut; what is absent is as the installation has it. */
        public record Chunking(
                @Nullable String strategy,
                @Nullable Long size,
                @Nullable Long overlap) {}
    }

    /** Of {@link KnownEventType#ENTITY_EXTRACT}. */
    record EntityExtract(
            String content,
            String sourceType,
            String sourceId,
            @Nullable String namespace) implements Payload {
        public EntityExtract {
            requireNonNull(content, "content");
            requireNonNull(sourceType, "sourceType");
            requireNonNull(sourceId, "sourceId");
        }
    }

    /** Of {@link KnownEventType#NOTIFICATION_REQUESTED}. */
    record NotificationRequested(
            String callbackUrl,
            String type,
            String taskId,
            @Nullable String sessionId,
            @Nullable String namespace,
            String eventId,
            long timestamp,
            @Nullable JsonObject result,
            @Nullable String error,
            @Nullable String code,
            @Nullable String reason,
            @Nullable String message,
            @Nullable String question,
            @Nullable JsonObject approval)
            implements Payload {
        public NotificationRequested {
            requireNonNull(callbackUrl, "callbackUrl");
            requireNonNull(type, "type");
            requireNonNull(taskId, "taskId");
            requireNonNull(eventId, "eventId");
        }
    }

    /** Of {@link StreamType#START}. */
    record StreamStart(
            String callId,
            long attempt,
            long seq,
            @Nullable String agentName,
            @Nullable String model) implements LiveText {
        public StreamStart {
            requireNonNull(callId, "callId");
        }
    }

    /** Of {@link StreamType#RESTART}. */
    record StreamRestart(
            String callId,
            long attempt,
            long seq,
            String reason,
            @Nullable String agentName,
            @Nullable String model) implements LiveText {
        public StreamRestart {
            requireNonNull(callId, "callId");
            requireNonNull(reason, "reason");
        }
    }

    /** Of {@link StreamType#TEXT} and {@link StreamType#REASONING}. */
    record StreamDelta(String callId, long attempt, long seq, String delta) implements LiveText {
        public StreamDelta {
            requireNonNull(callId, "callId");
            requireNonNull(delta, "delta");
        }
    }

    /** Of {@link StreamType#TOOL_CALL}. */
    record StreamToolCall(
            String callId,
            long attempt,
            long seq,
            long index,
            @Nullable String toolCallId,
            @Nullable String toolName,
            String delta)
            implements LiveText {
        public StreamToolCall {
            requireNonNull(callId, "callId");
            requireNonNull(delta, "delta");
        }
    }

    /** Of {@link StreamType#COMPLETED}. */
    record StreamCompleted(
            String callId,
            long attempt,
            long seq,
            @Nullable String model,
            @Nullable String finishReason,
            @Nullable Usage usage)
            implements LiveText {
        public StreamCompleted {
            requireNonNull(callId, "callId");
        }
    }

    /** Of {@link StreamType#ERROR}. */
    record StreamError(String callId, long attempt, long seq, String code, String error) implements LiveText {
        public StreamError {
            requireNonNull(callId, "callId");
            requireNonNull(code, "code");
            requireNonNull(error, "error");
        }
    }

    /** A picture; {@code data} is base64. */
    record Image(String mediaType, String data) {
        public Image {
            requireNonNull(mediaType, "mediaType");
            requireNonNull(data, "data");
        }
    }

    /** Who says something: a person, an agent or another system. */
    record Sender(
            @Nullable String type,
            @Nullable String name,
            @Nullable String id) {

        /** The {@link #type} of agents. */
        public static final String AGENT = "agent";
    }

    /** Who takes part in a conversation, and where in it something was said that others are given. */
    record Conversation(List<String> participants, @Nullable String spokenIn) {
        public Conversation {
            participants = listOrEmpty(participants);
        }
    }

    /** What was said before. */
    record Message(String role, String text, List<Image> images) {
        public Message {
            requireNonNull(role, "role");
            requireNonNull(text, "text");
            images = listOrEmpty(images);
        }
    }

    /**
     * The task that this one goes on from in another way, and what had been said there; the text of the message stands
     * between the two.
     */
    record Fork(String taskId, String eventId, List<TranscriptMessage> before, List<TranscriptMessage> after) {
        public Fork {
            requireNonNull(taskId, "taskId");
            requireNonNull(eventId, "eventId");
            before = listOrEmpty(before);
            after = listOrEmpty(after);
        }
    }

    /** An entry of a task's transcript. */
    record TranscriptMessage(
            String role,
            @Nullable String text,
            List<Image> images,
            List<TranscriptCall> toolCalls,
            @Nullable String toolCallId,
            @Nullable String toolName,
            @Nullable Boolean isError,
            @Nullable String request,
            @Nullable String continuation) {
        public TranscriptMessage {
            requireNonNull(role, "role");
            images = listOrEmpty(images);
            toolCalls = listOrEmpty(toolCalls);
        }
    }

    /** A tool call in a transcript. */
    record TranscriptCall(String toolCallId, String toolName, JsonObject arguments) {
        public TranscriptCall {
            requireNonNull(toolCallId, "toolCallId");
            requireNonNull(toolName, "toolName");
            requireNonNull(arguments, "arguments");
        }
    }

    /** The task that started this one, and what it grants. */
    record Parent(
            String taskId,
            @Nullable String sessionId,
            String callId,
            @Nullable Boolean background,
            List<String> agents,
            @Nullable Long maxTokens,
            @Nullable Long maxCostMicros,
            @Nullable Long maxLifeTimeMs,
            @Nullable Errand errand) {
        public Parent {
            requireNonNull(taskId, "taskId");
            requireNonNull(callId, "callId");
            agents = listOrEmpty(agents);
        }
    }

    /** An event that a rule has handed to an agent, and how that is to be told of it. */
    record Observed(
            String eventId,
            String type,
            String time,
            String rule,
            @Nullable String systemPrompt,
            @Nullable String guide,
            @Nullable String toolName,
            @Nullable JsonObject event,
            @Nullable OpeningCall call,
            @Nullable Long retries,
            @Nullable Failure failure) {
        public Observed {
            requireNonNull(eventId, "eventId");
            requireNonNull(type, "type");
            requireNonNull(time, "time");
            requireNonNull(rule, "rule");
        }

        /** The same for another attempt, after this one. */
        public Observed after(Failure now) {
            return new Observed(eventId, type, time, rule, systemPrompt, guide, toolName, event, call, retries, now);
        }
    }

    /** The tool call that is all the work of a task. */
    record OpeningCall(String tool, JsonObject arguments) {
        public OpeningCall {
            requireNonNull(tool, "tool");
            requireNonNull(arguments, "arguments");
        }
    }

    /**
     * What became of the attempt before.
     *
     * @param attempts how many have failed, 1 or more
     * @param error why the last one did, for people
     */
    record Failure(long attempts, String error) {
        public Failure {
            requireNonNull(error, "error");
        }
    }

    /**
     * How a task works that has a conversation of its own.
     *
     * @param description what it is about, for people
     * @param forgotten whether everything of it is forgotten when it has ended; {@code null} = no
     */
    record Errand(String description, @Nullable Boolean forgotten) {
        public Errand {
            requireNonNull(description, "description");
        }

        /** Whether everything of it is forgotten when it has ended. */
        public boolean leavesNothing() {
            return Boolean.TRUE.equals(forgotten);
        }
    }

    /** What a task waits for. */
    record WaitingFor(
            String kind,
            List<String> callIds,
            @Nullable String question,
            @Nullable String until) {
        public WaitingFor {
            requireNonNull(kind, "kind");
            callIds = listOrEmpty(callIds);
        }
    }

    /** What a task has used, and what it may use at most; a limit that is absent does not exist. */
    record Budget(
            @Nullable Long iterations,
            @Nullable Long maxIterations,
            @Nullable Long inputTokens,
            @Nullable Long outputTokens,
            @Nullable Long maxTokens,
            @Nullable Long costMicros,
            @Nullable Long maxCostMicros,
            @Nullable String expiresAt) {}

    /** What a completed task has come to. */
    record Result(
            String taskId,
            String input,

            @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable
            String response,

            long iterations) {
        public Result {
            requireNonNull(taskId, "taskId");
            requireNonNull(input, "input");
        }
    }

    /** Tokens, cost in millionths of a US dollar, and attempts of one or many model calls. */
    record Usage(
            long inputTokens,
            long outputTokens,
            @Nullable Long cachedInputTokens,
            @Nullable Long reasoningTokens,
            @Nullable Long costMicros,
            @Nullable Long attempts,
            @Nullable Long uncountedAttempts) {}

    /** A tool call as the model asks for it. */
    record RequestedCall(
            String toolCallId,
            String toolName,
            JsonObject arguments,
            @Nullable String malformedArguments) {
        public RequestedCall {
            requireNonNull(toolCallId, "toolCallId");
            requireNonNull(toolName, "toolName");
            requireNonNull(arguments, "arguments");
        }
    }

    /** A step of what the model wants to do next. */
    record Step(
            long index,
            @Nullable String description,
            String actionType,
            @Nullable String toolName) {
        public Step {
            requireNonNull(actionType, "actionType");
        }
    }

    /** What an attempt used that gave no reply. */
    record FailedAttempt(String model, Usage usage) {
        public FailedAttempt {
            requireNonNull(model, "model");
            requireNonNull(usage, "usage");
        }
    }

    /** Why another model than the first stepped in. */
    record Fallback(String code, String error) {
        public Fallback {
            requireNonNull(code, "code");
            requireNonNull(error, "error");
        }
    }

    /** A model call that no other event tells of. */
    record ModelCall(
            String callId,
            @Nullable Long repliedAt,
            @Nullable String code,
            @Nullable String model,
            Usage usage,
            List<FailedAttempt> failedAttempts,
            @Nullable String agent) {
        public ModelCall {
            requireNonNull(callId, "callId");
            requireNonNull(usage, "usage");
            failedAttempts = listOrEmpty(failedAttempts);
        }
    }

    private static <T> List<T> listOrEmpty(@Nullable List<T> list) {
        return list == null ? List.of() : List.copyOf(list);
    }
}
