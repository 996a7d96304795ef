package dev.millrace.schemas;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The catalogue of the types that Millrace itself gives a meaning. {@code docs/events.md} and
 * {@code docs/asyncapi.yaml} are generated from it. Names and codes never change once released.
 */
public enum KnownEventType implements EventType {
    SYSTEM_STARTED(
            0,
            Payload.SystemStarted.class,
            "An instance of the agent service has started; without an instance: tasks are admitted again."),
    SYSTEM_SHUTTING_DOWN(
            1,
            Payload.SystemShuttingDown.class,
            "An instance stops; without an instance: running tasks go on, and nothing new is admitted."),
    TASK_CANCEL_REQUESTED(
            50, Payload.TaskCancelRequested.class, "Someone wants the task named in ce_subject to end as cancelled."),
    FORGET_REQUESTED(
            60,
            Payload.ForgetRequested.class,
            "Someone wants a task, a session, the memory of a namespace, or all of it to be forgotten."),
    HEARTBEAT(90, Payload.Heartbeat.class, "An instance is alive."),

    MESSAGE_RECEIVED(
            100,
            Payload.MessageReceived.class,
            "A person or system says something: the start of a task, or an answer to a suspended one.") {
        @Override
        public List<String> aliases() {
            return List.of("NEW_MESSAGE", "user_query");
        }
    },
    WEBHOOK_TRIGGERED(110, Payload.WebhookTriggered.class, "Another system called a webhook; starts a task."),
    SCHEDULE_FIRED(
            120,
            Payload.ScheduleFired.class,
            "A schedule is due; starts a task. Sent by schedules (docs/schedules.md), or by whoever has a scheduler of"
                    + " another kind."),

    TASK_CREATED(
            200, Payload.TaskCreated.class, "A task exists and has its id; the root of everything that the task does."),
    TASK_STATE_CHANGED(210, Payload.TaskStateChanged.class, "A task moved from one state to another."),
    TASK_COMPLETED(220, Payload.TaskCompleted.class, "A task ended with a result."),
    TASK_FAILED(230, Payload.TaskFailed.class, "A task ended with an error."),
    TASK_SUSPENDED(240, Payload.TaskSuspended.class, "A task is to wait, or waits, until it is resumed."),
    TASK_RESUMED(250, Payload.TaskResumed.class, "A suspended task goes on, or a completed one takes new input."),
    TASK_NOTIFY(260, Payload.TaskNotify.class, "A running task tells its owner something."),
    APPROVAL_REQUESTED(270, Payload.ApprovalRequested.class, "A tool call waits for a person's decision."),
    APPROVAL_DECIDED(275, Payload.ApprovalDecided.class, "A person approved, edited or rejected a tool call."),
    TASK_CANCELLED(280, Payload.TaskCancelled.class, "A task ended because someone cancelled it."),
    TASKS_FORGOTTEN(
            290,
            Payload.TasksForgotten.class,
            "The task machine has removed what it knew of forgotten tasks, on one partition."),

    REASON_DONE(300, Payload.ReasonDone.class, "A model answered: with text, with tool calls, or both."),
    CONTEXT_COMPACTED(
            305,
            Payload.ContextCompacted.class,
            "A model summed up the older part of a conversation that was about to fill its window."),
    MODEL_CALL_REQUESTED(310, Payload.ModelCallRequested.class, "The machine asks for a model call. Journal only."),
    MODEL_CALL_FAILED(
            320, Payload.ModelCallFailed.class, "A model call failed for good, after the caller's own retries."),
    MODEL_CALL_ABANDONED(
            325,
            Payload.ModelCallAbandoned.class,
            "Nobody waited for this model call any more; what it used is counted all the same."),
    STEP_COMPLETED(335, Payload.StepCompleted.class, "A step that is no tool call is done."),
    REFLECTION_COMPLETE(345, Payload.ReflectionComplete.class, "The reflection on an ended task is done."),
    REFLECTION_FAILED(
            347,
            Payload.ReflectionFailed.class,
            "The reflection on an ended task was given up; the task is as it was."),
    MEMORY_FORGOTTEN(
            348, Payload.MemoryForgotten.class, "The memory machine has removed forgotten documents and reflections."),
    NEED_MORE_INFO(350, Payload.NeedMoreInfo.class, "The model asks the person a question before it goes on."),

    TOOL_CALL_REQUESTED(
            400,
            Payload.ToolCallRequested.class,
            "A tool is to run. On a request topic it is work, in the journal it is a record."),
    TOOL_CALL_COMPLETED(410, Payload.ToolCallCompleted.class, "A tool ran and has a result."),
    TOOL_CALL_FAILED(420, Payload.ToolCallFailed.class, "A tool did not run, or said no; the model sees the error."),

    REFLECTION_REQUESTED(500, Payload.ReflectionRequested.class, "An ended task is worth reflecting on."),
    MEMORY_EDIT_REQUESTED(
            505,
            Payload.MemoryEditRequested.class,
            "A person wants a document of memory to be as they say. On requests.memory only."),
    RAG_INGEST(510, Payload.RagIngest.class, "A document is to be indexed."),
    ENTITY_EXTRACT(520, Payload.EntityExtract.class, "A text is to be searched for entities."),
    NOTIFICATION_REQUESTED(
            530,
            Payload.NotificationRequested.class,
            "The owner of a task is to be told something at the task's callback URL.");

    static final Map<String, KnownEventType> BY_NAME = byName();

    private final int code;
    private final Class<? extends Payload> payload;
    private final String summary;

    KnownEventType(int code, Class<? extends Payload> payload, String summary) {
        this.code = code;
        this.payload = payload;
        this.summary = summary;
    }

    @Override
    public String wireName() {
        return name();
    }

    @Override
    public int code() {
        return code;
    }

    /** What an event of this type says, field by field. */
    public Class<? extends Payload> payload() {
        return payload;
    }

    /** What an event of this type says, in one sentence. */
    public String summary() {
        return summary;
    }

    /** Other names under which the same thing is accepted; never written. */
    public List<String> aliases() {
        return List.of();
    }

    /**
     * Whether only Millrace itself writes it, to the journal or a request topic; on a lane it is refused. Everything
     * else is taken from anyone.
     */
    public boolean machineOnly() {
        return switch (this) {
            case TASK_CREATED,
                    TASK_STATE_CHANGED,
                    TASK_COMPLETED,
                    TASK_NOTIFY,
                    TASK_CANCELLED,
                    TASKS_FORGOTTEN,
                    MODEL_CALL_REQUESTED,
                    STEP_COMPLETED,
                    TOOL_CALL_REQUESTED,
                    REFLECTION_REQUESTED,
                    MEMORY_EDIT_REQUESTED,
                    APPROVAL_REQUESTED,
                    NOTIFICATION_REQUESTED -> true;
            case SYSTEM_STARTED,
                    SYSTEM_SHUTTING_DOWN,
                    TASK_CANCEL_REQUESTED,
                    FORGET_REQUESTED,
                    HEARTBEAT,
                    MESSAGE_RECEIVED,
                    WEBHOOK_TRIGGERED,
                    SCHEDULE_FIRED,
                    TASK_FAILED,
                    TASK_SUSPENDED,
                    TASK_RESUMED,
                    APPROVAL_DECIDED,
                    REASON_DONE,
                    CONTEXT_COMPACTED,
                    MODEL_CALL_FAILED,
                    MODEL_CALL_ABANDONED,
                    REFLECTION_COMPLETE,
                    REFLECTION_FAILED,
                    MEMORY_FORGOTTEN,
                    NEED_MORE_INFO,
                    TOOL_CALL_COMPLETED,
                    TOOL_CALL_FAILED,
                    RAG_INGEST,
                    ENTITY_EXTRACT -> false;
        };
    }

    private static Map<String, KnownEventType> byName() {
        Map<String, KnownEventType> names = new TreeMap<>();
        for (KnownEventType type : values()) {
            List<String> all = new ArrayList<>(type.aliases());
            all.add(type.name());
            all.forEach(name -> names.put(name, type));
        }
        return Map.copyOf(names);
    }
}
