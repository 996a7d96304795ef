package dev.millrace.agent.projection;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import dev.millrace.api.Task;
import dev.millrace.api.Task.Budget;
import dev.millrace.api.Task.Usage;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.Payload;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * What the projection keeps of a task, or of an event that belongs to none (then the event's id stands for the task's,
 * and there is never a state). It follows from the task's events in their order: {@link #after} is a pure function, and
 * an event that is given to it twice changes nothing.
 *
 * @param updatedAt when the last event happened, Unix milliseconds
 * @param storedAt the wall clock when this row was last written, Unix milliseconds; retention counts from here
 * @param first the place of the first event
 * @param last the place of the last event
 * @param alone what became of it as an event of no task; {@code null} = it is none, or nobody has put it in
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonIgnoreProperties(ignoreUnknown = true)
record TaskRow(
        TaskName name,
        Origin origin,
        Progress progress,
        long updatedAt,
        long storedAt,
        JournalCursor first,
        JournalCursor last,
        @Nullable Alone alone) {

    TaskRow(
            TaskName name,
            Origin origin,
            Progress progress,
            long updatedAt,
            long storedAt,
            JournalCursor first,
            JournalCursor last) {
        this(name, origin, progress, updatedAt, storedAt, first, last, null);
    }

    /**
     * An event of no task.
     *
     * @param outcome what became of it; {@code null} = what is usual
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Alone(@Nullable String outcome) {}

    /** The row of an event that has just come, with what became of it, if it is something that was put in. */
    TaskRow putIn(Event event, @Nullable String outcome) {
        boolean isItem = progress.state == null
                && event.taskId() == null
                && !event.source().equals(MACHINE)
                && (event.type().isOpen() || event.payload() instanceof Payload.TaskInput);
        return isItem
                ? new TaskRow(name, origin, progress, updatedAt, storedAt, first, last, new Alone(outcome))
                : this;
    }

    private static final String MACHINE = "agent";

    /**
     * How a task began.
     *
     * @param taskType the agent that was asked for, and that works on it once that is told
     * @param agent the agent that works on it; {@code null} = the journal has told none
     * @param agentVersion of its definition; {@code null} = the journal has told none
     * @param parentTaskId the task that it is a part of; {@code null} = of none, or begun before this was kept
     * @param forkedFrom where it goes on in another way; {@code null} = nowhere
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Origin(
            @Nullable String sessionId,
            String taskType,
            String inputText,
            String source,
            int priority,
            long createdAt,
            @Nullable String callbackUrl,
            @Nullable String agent,
            @Nullable String agentVersion,
            @Nullable String parentTaskId,
            Task.@Nullable ForkedFrom forkedFrom) {}

    /**
     * How far a task is.
     *
     * @param state {@code null} = the journal has told none
     * @param budget {@code null} = the journal has told none
     * @param transitions how often it has moved from state to state
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Progress(
            @Nullable String state,
            int iterations,
            Usage usage,
            Said said,
            Waits waits,
            @Nullable Budget budget,
            int transitions) {
        static final Progress NONE = new Progress(null, 0, new Usage(0, 0), Said.NOTHING, Waits.FOR_NOTHING, null, 0);

        Progress in(String newState) {
            return new Progress(newState, iterations, usage, said, waits, budget, transitions);
        }

        Progress counting(@Nullable Long count) {
            int most = Math.clamp(count == null ? 0 : count, iterations, Integer.MAX_VALUE);
            return new Progress(state, most, usage, said, waits, budget, transitions);
        }

        Progress using(Usage total) {
            return new Progress(state, iterations, total, said, waits, budget, transitions);
        }

        Progress saying(Said now) {
            return new Progress(state, iterations, usage, now, waits, budget, transitions);
        }

        Progress waiting(Waits now) {
            return new Progress(state, iterations, usage, said, now, budget, transitions);
        }

        Progress within(@Nullable Budget now) {
            return new Progress(state, iterations, usage, said, waits, now == null ? budget : now, transitions);
        }

        Progress movedOnce() {
            return new Progress(state, iterations, usage, said, waits, budget, transitions + 1);
        }

        boolean isIn(String thisState) {
            return thisState.equals(state);
        }
    }

    /** What a task has said or asked. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Said(
            @Nullable String response,
            @Nullable String error,
            @Nullable String errorCode,
            @Nullable String question,
            Task.@Nullable PostReflection reflected) {
        static final Said NOTHING = new Said(null, null, null, null);

        Said(@Nullable String response, @Nullable String error, @Nullable String errorCode, @Nullable String question) {
            this(response, error, errorCode, question, null);
        }

        Said reflected(Payload.ReflectionComplete done) {
            return new Said(
                    response,
                    error,
                    errorCode,
                    question,
                    new Task.PostReflection(done.assessment(), done.toolCallsCount()));
        }
    }

    /**
     * The row that an event belongs to: its task's, or its own if it names none (it may be what starts a task of that
     * id).
     */
    static TaskName nameOf(Event event) {
        return new TaskName(event.namespace(), event.taskId() != null ? event.taskId() : event.id());
    }

    /**
     * Whether an event is not of this task but of another one that was given the same id: all events of a task are on
     * the partition of its start. What becomes of a request to forget, which is no task, is told on every partition.
     */
    static boolean isAnothers(@Nullable TaskRow before, JournalEntry entry) {
        return before != null
                && before.last.partition() != entry.cursor().partition()
                && (before.progress.state != null
                        || (told(entry, Progress.NONE).state == null && !tellsOfForgetting(entry)));
    }

    private static boolean tellsOfForgetting(JournalEntry entry) {
        return entry.event().payload() instanceof Payload.Forgetting;
    }

    /**
     * The row once this event has happened, which is not {@link #isAnothers another's}. What came on another partition
     * before there was a task is not of it.
     *
     * @param before {@code null} = this is the first event
     * @param entry the event, with the date that is to count
     * @param now the wall clock in Unix milliseconds, for {@link #storedAt} only
     */
    static TaskRow after(@Nullable TaskRow before, JournalEntry entry, long now) {
        Event event = entry.event();
        long happened = Math.max(0, event.timestamp().toEpochMilli());
        boolean ofAnotherPartition =
                before != null && before.last.partition() != entry.cursor().partition();
        if (before == null || (ofAnotherPartition && !tellsOfForgetting(entry))) {
            Origin origin = told(event, beginning(event, happened));
            Progress progress = told(entry, Progress.NONE);
            return new TaskRow(nameOf(event), origin, progress, happened, now, entry.cursor(), entry.cursor());
        }
        if (before.has(entry.cursor())) {
            return before;
        }
        return new TaskRow(
                before.name,
                told(event, before.origin),
                told(entry, before.progress),
                Math.max(before.updatedAt, happened),
                now,
                before.first,
                entry.cursor(),
                before.alone);
    }

    /**
     * The same once an event was recorded that has changed nothing, such as one that came after its expiry: it is told
     * among the task's events, and the task stands as before.
     */
    static TaskRow afterNothing(@Nullable TaskRow before, JournalEntry entry, long now) {
        TaskRow after = after(before, entry, now);
        Progress progress = before == null || after.first.equals(entry.cursor()) ? Progress.NONE : before.progress;
        return new TaskRow(
                after.name,
                after.origin,
                progress,
                after.updatedAt,
                after.storedAt,
                after.first,
                after.last,
                after.alone);
    }

    private boolean has(JournalCursor cursor) {
        return cursor.partition() == last.partition() && cursor.offset() <= last.offset();
    }

    private static Origin beginning(Event event, long happened) {
        Payload.@Nullable TaskInput input = event.payload() instanceof Payload.TaskInput said ? said : null;
        return new Origin(
                event.sessionId(),
                or(input == null ? null : input.taskType(), "general"),
                cut(or(input == null ? null : input.said(), "")),
                event.source(),
                event.effectivePriority(),
                happened,
                input == null ? null : input.callbackUrl(),
                null,
                null,
                input instanceof Payload.MessageReceived message && message.parent() != null
                        ? message.parent().taskId()
                        : null,
                input instanceof Payload.MessageReceived message && message.fork() != null
                        ? new Task.ForkedFrom(
                                message.fork().taskId(), message.fork().eventId())
                        : null);
    }

    private static Origin told(Event event, Origin origin) {
        return !(event.payload() instanceof Payload.TaskCreated created)
                ? origin
                : new Origin(
                        origin.sessionId != null ? origin.sessionId : event.sessionId(),
                        created.taskType(),
                        cut(created.inputText()),
                        created.source(),
                        origin.priority,
                        origin.createdAt,
                        origin.callbackUrl,
                        created.taskType(),
                        created.agentVersion() == null ? origin.agentVersion : created.agentVersion(),
                        origin.parentTaskId,
                        origin.forkedFrom);
    }

    private static Progress told(JournalEntry entry, Progress progress) {
        Event event = entry.event();
        Waits waits = progress.waits;
        // only what tells something about the task as a whole; the catalogue grows, so there is a default
        return switch (event.payload()) {
            case Payload.TaskInput input -> said(event, progress);
            case Payload.TaskCreated created ->
                progress.state == null ? progress.in("idle").waiting(Waits.forAdmission(event)) : progress;
            case Payload.TaskStateChanged moved -> moved(event, moved, progress);
            case Payload.TaskCompleted completed -> completed(completed, progress);
            case Payload.TaskFailed failed ->
                ended(progress, "failed")
                        .counting(failed.iterations())
                        .saying(new Said(null, failed.error(), failed.code(), null));
            case Payload.TaskCancelled cancelled ->
                ended(progress, "cancelled").saying(new Said(null, cancelled.reason(), "cancelled", null));
            case Payload.ReflectionComplete done -> progress.saying(progress.said.reflected(done));
            case Payload.TaskSuspended suspended -> asked(event, suspended.question(), progress);
            case Payload.TaskResumed resumed -> resumed(event, resumed, progress);
            case Payload.NeedMoreInfo asked -> asked(event, asked.question(), used(asked, progress));
            case Payload.ModelCallRequested requested ->
                progress.counting(requested.iteration()).waiting(waits.modelCalled(requested.callId()));
            case Payload.ModelCallAbandoned abandoned -> used(abandoned, progress);
            case Payload.ModelCallOutcome outcome -> used(outcome, progress).waiting(waits.returned(outcome.callId()));
            case Payload.ToolCallRequested requested -> progress.waiting(waits.toolCalled(requested.callId()));
            case Payload.ToolCallCompleted completed -> progress.waiting(waits.returned(completed.callId()));
            case Payload.ToolCallFailed failed -> progress.waiting(waits.returned(failed.callId()));
            case Payload.ApprovalRequested asked ->
                progress.waiting(waits.approvalRequested(entry, asked, progress.isIn("suspended")));
            case Payload.ApprovalDecided decided -> progress.waiting(waits.approvalDecided(event, decided.callId()));
            default -> progress;
        };
    }

    /** Somebody said something: what starts the task, which then waits for its turn, or what lets it go on. */
    private static Progress said(Event event, Progress progress) {
        if (progress.state == null && event.id().equals(event.taskId())) {
            return progress.in("idle").waiting(Waits.forAdmission(event));
        }
        return goesOn(event, progress);
    }

    /** What a suspended task took lets it go on, once it is its turn again. */
    private static Progress goesOn(Event event, Progress progress) {
        return progress.isIn("suspended") ? progress.waiting(Waits.forAdmission(event)) : progress;
    }

    /** Who lets a task go on without an answer leaves its question open. */
    private static Progress resumed(Event event, Payload.TaskResumed resumed, Progress progress) {
        String question = progress.said.question;
        return progress.isIn("suspended") && question != null && resumed.newInput() == null
                ? progress.waiting(progress.waits.asked(event, question))
                : goesOn(event, progress);
    }

    private static Progress ended(Progress progress, String state) {
        return progress.in(state).waiting(Waits.FOR_NOTHING);
    }

    private static Progress moved(Event event, Payload.TaskStateChanged moved, Progress progress) {
        String state = moved.toState();
        Progress now =
                switch (state) {
                    // the event that ends it follows and tells how; until then nobody must see an end without a result
                    case "completed", "failed", "cancelled" -> progress;
                    case "suspended" -> progress.in(state);
                    // back at work: what it said at an earlier end, or asked, is over
                    default -> progress.in(state).saying(Said.NOTHING);
                };
        return now.waiting(now.waits.moved(event, state, moved.waitingFor(), now.said.question))
                .within(moved.budget() == null ? null : budget(moved.budget()))
                .movedOnce();
    }

    private static Progress completed(Payload.TaskCompleted completed, Progress progress) {
        Payload.Result result = completed.result();
        Progress done = ended(progress, "completed")
                .counting(result.iterations())
                .saying(new Said(result.response(), null, null, null));
        Payload.Usage total = completed.usage();
        return total == null ? done : done.using(usage(total));
    }

    private static Progress asked(Event event, @Nullable String question, Progress progress) {
        if (question == null) {
            return progress;
        }
        Progress asking = progress.saying(new Said(null, null, null, question));
        return asking.isIn("suspended") ? asking.waiting(asking.waits.asked(event, question)) : asking;
    }

    private static Progress used(Payload.ModelCallOutcome outcome, Progress progress) {
        if (outcome.usage() == null) {
            return progress;
        }
        Usage call = usage(outcome.usage());
        return progress.using(new Usage(
                progress.usage.inputTokens() + call.inputTokens(),
                progress.usage.outputTokens() + call.outputTokens()));
    }

    /** What people are told; {@code null} while the journal has told no state, so that this is no task. */
    @Nullable
    Task view() {
        String state = progress.state;
        return state == null
                ? null
                : new Task(
                        name.taskId(),
                        name.namespace(),
                        origin.sessionId,
                        origin.taskType,
                        origin.agent,
                        origin.agentVersion,
                        state,
                        origin.inputText,
                        origin.source,
                        origin.priority,
                        origin.createdAt,
                        updatedAt,
                        progress.iterations,
                        progress.said.response,
                        progress.said.error,
                        progress.said.errorCode,
                        progress.said.question,
                        progress.usage,
                        progress.waits.on(),
                        progress.budget,
                        origin.callbackUrl,
                        progress.transitions,
                        last.partition(),
                        first.toString(),
                        last.toString(),
                        null,
                        null,
                        origin.parentTaskId,
                        origin.forkedFrom,
                        progress.said.reflected);
    }

    byte[] toJson() {
        return Json.write(this);
    }

    /** Reads what {@link #toJson} wrote. */
    static TaskRow fromJson(byte[] json) {
        try {
            return Json.MAPPER.readValue(json, TaskRow.class);
        } catch (IOException e) {
            throw new UncheckedIOException("the projection's own row cannot be read", e);
        }
    }

    private static Usage usage(Payload.Usage told) {
        return new Usage(told.inputTokens(), told.outputTokens());
    }

    private static Budget budget(Payload.Budget told) {
        return new Budget(
                told.iterations(),
                told.maxIterations(),
                told.inputTokens(),
                told.outputTokens(),
                told.maxTokens(),
                told.costMicros(),
                told.maxCostMicros(),
                told.expiresAt());
    }

    private static String or(@Nullable String text, String otherwise) {
        return text == null ? otherwise : text;
    }

    private static String cut(String text) {
        return JsonText.begin(text, Task.MAX_INPUT);
    }
}
