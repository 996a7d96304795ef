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
import dev.millrace.schemas.KnownEventType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the projection keeps of a task, or of an event that belongs to none (then the event's id stands for the task's, and
 * there is never a state). It follows from the task's events in their order: {@link #after} is a pure function, and an
 * event that is given to it twice changes nothing.
 *
 * @param updatedAt when the last event happened, Unix milliseconds
 * @param storedAt the wall clock when this row was last written, Unix milliseconds; retention counts from here
 * @param first the place of the first event
 * @param last the place of the last event
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
        JournalCursor last) {

    /**
     * How a task began.
     *
     * @param taskType the agent that was asked for, and that works on it once that is told
     * @param agent the agent that works on it; {@code null} = the journal has told none
     * @param agentVersion of its definition; {@code null} = the journal has told none
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
            @Nullable String agentVersion) {}

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

        Progress counting(@Nullable Object count) {
            int most = Math.clamp(number(count), iterations, Integer.MAX_VALUE);
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
            @Nullable String question) {
        static final Said NOTHING = new Said(null, null, null, null);
    }

    /** The row that an event belongs to: its task's, or its own if it names none (it may be what starts a task of that id). */
    static TaskName nameOf(Event event) {
        return new TaskName(event.namespace(), event.taskId() != null ? event.taskId() : event.id());
    }

    /**
     * Whether an event is not of this task but of another one that was given the same id: all events of a task are on the
     * partition of its start. What becomes of a request to forget, which is no task, is told on every partition.
     */
    static boolean isAnothers(@Nullable TaskRow before, JournalEntry entry) {
        return before != null
                && before.last.partition() != entry.cursor().partition()
                && (before.progress.state != null
                        || (told(entry, Progress.NONE).state == null && !tellsOfForgetting(entry)));
    }

    private static boolean tellsOfForgetting(JournalEntry entry) {
        return entry.event().type() instanceof KnownEventType type
                && switch (type) {
                    case FORGET_REQUESTED, TASKS_FORGOTTEN, MEMORY_FORGOTTEN -> true;
                    default -> false;
                };
    }

    /**
     * The row once this event has happened, which is not {@link #isAnothers another's}. What came on another partition before
     * there was a task is not of it.
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
                entry.cursor());
    }

    private boolean has(JournalCursor cursor) {
        return cursor.partition() == last.partition() && cursor.offset() <= last.offset();
    }

    private static Origin beginning(Event event, long happened) {
        return new Origin(
                event.sessionId(),
                or(event.text("taskType"), "general"),
                cut(or(event.text("text"), "")),
                event.source(),
                event.effectivePriority(),
                happened,
                event.text("callbackUrl"),
                null,
                null);
    }

    private static Origin told(Event event, Origin origin) {
        return event.type() != KnownEventType.TASK_CREATED
                ? origin
                : new Origin(
                        origin.sessionId != null ? origin.sessionId : event.sessionId(),
                        or(event.text("taskType"), origin.taskType),
                        cut(or(event.text("inputText"), origin.inputText)),
                        or(event.text("source"), origin.source),
                        origin.priority,
                        origin.createdAt,
                        origin.callbackUrl,
                        event.text("taskType") == null ? origin.agent : event.text("taskType"),
                        event.text("agentVersion") == null ? origin.agentVersion : event.text("agentVersion"));
    }

    private static Progress told(JournalEntry entry, Progress progress) {
        Event event = entry.event();
        if (!(event.type() instanceof KnownEventType type)) {
            return progress;
        }
        Waits waits = progress.waits;
        String callId = event.text("callId");
        // only what tells something about the task as a whole; the catalogue grows, so there is a default
        return switch (type) {
            case MESSAGE_RECEIVED, WEBHOOK_TRIGGERED, SCHEDULE_FIRED -> said(event, progress);
            case TASK_CREATED ->
                progress.state == null ? progress.in("idle").waiting(Waits.forAdmission(event)) : progress;
            case TASK_STATE_CHANGED -> moved(event, progress);
            case TASK_COMPLETED -> completed(event, progress);
            case TASK_FAILED ->
                ended(progress, "failed")
                        .counting(event.fields().get("iterations"))
                        .saying(new Said(null, event.text("error"), event.text("code"), null));
            case TASK_CANCELLED ->
                ended(progress, "cancelled").saying(new Said(null, event.text("reason"), "cancelled", null));
            case TASK_SUSPENDED -> asked(event, progress);
            case TASK_RESUMED -> goesOn(event, progress);
            case NEED_MORE_INFO -> asked(event, used(event, progress));
            case MODEL_CALL_REQUESTED ->
                progress.counting(event.fields().get("iteration")).waiting(waits.modelCalled(callId));
            case REASON_DONE, MODEL_CALL_FAILED, CONTEXT_COMPACTED ->
                used(event, progress).waiting(waits.returned(callId));
            case MODEL_CALL_ABANDONED -> used(event, progress);
            case TOOL_CALL_REQUESTED -> progress.waiting(waits.toolCalled(callId));
            case TOOL_CALL_COMPLETED, TOOL_CALL_FAILED -> progress.waiting(waits.returned(callId));
            case APPROVAL_REQUESTED -> progress.waiting(waits.approvalRequested(entry, progress.isIn("suspended")));
            case APPROVAL_DECIDED -> progress.waiting(waits.approvalDecided(event));
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
        if (!progress.isIn("suspended")) {
            return progress;
        }
        String question = progress.said.question;
        if (question != null
                && event.type() == KnownEventType.TASK_RESUMED
                && event.fields().get("newInput") == null) {
            return progress.waiting(progress.waits.asked(event, question));
        }
        return progress.waiting(Waits.forAdmission(event));
    }

    private static Progress ended(Progress progress, String state) {
        return progress.in(state).waiting(Waits.FOR_NOTHING);
    }

    private static Progress moved(Event event, Progress progress) {
        String state = event.text("toState");
        if (state == null) {
            return progress;
        }
        Progress now =
                switch (state) {
                    // the event that ends it follows and tells how; until then nobody must see an end without a result
                    case "completed", "failed", "cancelled" -> progress;
                    case "suspended" -> progress.in(state);
                    // back at work: what it said at an earlier end, or asked, is over
                    default -> progress.in(state).saying(Said.NOTHING);
                };
        Map<?, ?> budget = object(event, "budget");
        return now.waiting(now.waits.moved(event, state, now.said.question))
                .within(budget.isEmpty() ? null : budget(budget))
                .movedOnce();
    }

    private static Progress completed(Event event, Progress progress) {
        Map<?, ?> result = object(event, "result");
        Progress done = ended(progress, "completed")
                .counting(result.get("iterations"))
                .saying(new Said(result.get("response") instanceof String text ? text : null, null, null, null));
        Map<?, ?> total = object(event, "usage");
        return total.isEmpty() ? done : done.using(usage(total));
    }

    private static Progress asked(Event event, Progress progress) {
        String question = event.text("question");
        if (question == null) {
            return progress;
        }
        Progress asking = progress.saying(new Said(null, null, null, question));
        return asking.isIn("suspended") ? asking.waiting(asking.waits.asked(event, question)) : asking;
    }

    private static Progress used(Event event, Progress progress) {
        Usage call = usage(object(event, "usage"));
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
                        null);
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

    private static Usage usage(Map<?, ?> json) {
        return new Usage(number(json.get("inputTokens")), number(json.get("outputTokens")));
    }

    /** Reads what it can; the rest is {@code null}. */
    private static Budget budget(Map<?, ?> json) {
        return new Budget(
                limit(json, "iterations"),
                limit(json, "maxIterations"),
                limit(json, "inputTokens"),
                limit(json, "outputTokens"),
                limit(json, "maxTokens"),
                limit(json, "costMicros"),
                limit(json, "maxCostMicros"),
                json.get("expiresAt") instanceof String time ? time : null);
    }

    private static @Nullable Long limit(Map<?, ?> json, String field) {
        return json.get(field) instanceof Number number ? number.longValue() : null;
    }

    private static Map<?, ?> object(Event event, String field) {
        return event.fields().get(field) instanceof Map<?, ?> object ? object : Map.of();
    }

    private static long number(@Nullable Object value) {
        return value instanceof Number number ? number.longValue() : 0;
    }

    private static String or(@Nullable String text, String otherwise) {
        return text == null ? otherwise : text;
    }

    private static String cut(String text) {
        return JsonText.begin(text, Task.MAX_INPUT);
    }
}
