package dev.millrace.agent.projection;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import dev.millrace.agent.projection.TaskView.Usage;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
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
 * @param storedAt the wall clock when this row was last written, Unix milliseconds; retention counts from here, because
 *     the times in events are their senders'
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

    /** How much of the input is kept, in characters. */
    static final int MAX_INPUT = 500;

    /** How a task began. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Origin(
            @Nullable String sessionId,
            String taskType,
            String inputText,
            String source,
            int priority,
            long createdAt) {}

    /** How far a task is; a {@code null} state = the journal has told none. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Progress(@Nullable String state, int iterations, Usage usage, Said said) {
        static final Progress NONE = new Progress(null, 0, new Usage(0, 0), Said.NOTHING);

        Progress in(String newState) {
            return new Progress(newState, iterations, usage, said);
        }

        Progress counting(@Nullable Object count) {
            int most = Math.clamp(number(count), iterations, Integer.MAX_VALUE);
            return new Progress(state, most, usage, said);
        }

        Progress using(Usage total) {
            return new Progress(state, iterations, total, said);
        }

        Progress saying(Said now) {
            return new Progress(state, iterations, usage, now);
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
     * The row once this event has happened.
     *
     * @param before {@code null} = this is the first event
     * @param now the wall clock in Unix milliseconds, for {@link #storedAt} only
     */
    static TaskRow after(@Nullable TaskRow before, JournalEntry entry, long now) {
        Event event = entry.event();
        long happened = Math.max(0, event.timestamp().toEpochMilli());
        if (before == null) {
            Origin origin = told(event, beginning(event, happened));
            Progress progress = told(event, Progress.NONE);
            return new TaskRow(nameOf(event), origin, progress, happened, now, entry.cursor(), entry.cursor());
        }
        if (before.has(entry.cursor())) {
            return before;
        }
        return new TaskRow(
                before.name,
                told(event, before.origin),
                told(event, before.progress),
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
                happened);
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
                        origin.createdAt);
    }

    private static Progress told(Event event, Progress progress) {
        if (!(event.type() instanceof KnownEventType type)) {
            return progress;
        }
        // only what tells something about the task as a whole; the catalogue grows, so there is a default
        return switch (type) {
            case TASK_CREATED -> progress.state == null ? progress.in("idle") : progress;
            case TASK_STATE_CHANGED -> moved(event, progress);
            case TASK_COMPLETED -> completed(event, progress);
            case TASK_FAILED ->
                progress.in("failed")
                        .counting(event.payload().get("iterations"))
                        .saying(new Said(null, event.text("error"), event.text("code"), null));
            case TASK_CANCELLED ->
                progress.in("cancelled").saying(new Said(null, event.text("reason"), "cancelled", null));
            case TASK_SUSPENDED -> asked(event, progress);
            case NEED_MORE_INFO -> asked(event, used(event, progress));
            case MODEL_CALL_REQUESTED -> progress.counting(event.payload().get("iteration"));
            case REASON_DONE -> used(event, progress);
            default -> progress;
        };
    }

    private static Progress moved(Event event, Progress progress) {
        String state = event.text("toState");
        return switch (state) {
            case null -> progress;
            case "completed", "failed", "cancelled", "suspended" -> progress.in(state);
            // back at work: what it said at an earlier end, or asked, is over
            default -> progress.in(state).saying(Said.NOTHING);
        };
    }

    private static Progress completed(Event event, Progress progress) {
        Map<?, ?> result = object(event, "result");
        Progress done = progress.in("completed")
                .counting(result.get("iterations"))
                .saying(new Said(result.get("response") instanceof String text ? text : null, null, null, null));
        Map<?, ?> total = object(event, "usage");
        return total.isEmpty() ? done : done.using(usage(total));
    }

    private static Progress asked(Event event, Progress progress) {
        String question = event.text("question");
        return question == null ? progress : progress.saying(new Said(null, null, null, question));
    }

    private static Progress used(Event event, Progress progress) {
        Usage call = usage(object(event, "usage"));
        return progress.using(new Usage(
                progress.usage.inputTokens() + call.inputTokens(),
                progress.usage.outputTokens() + call.outputTokens()));
    }

    /** What people are told; {@code null} while the journal has told no state, so that this is no task. */
    @Nullable
    TaskView view() {
        String state = progress.state;
        return state == null
                ? null
                : new TaskView(
                        name.taskId(),
                        name.namespace(),
                        origin.sessionId,
                        origin.taskType,
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
                        last.partition(),
                        first.toString(),
                        last.toString());
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

    private static Map<?, ?> object(Event event, String field) {
        return event.payload().get(field) instanceof Map<?, ?> object ? object : Map.of();
    }

    private static long number(@Nullable Object value) {
        return value instanceof Number number ? number.longValue() : 0;
    }

    private static String or(@Nullable String text, String otherwise) {
        return text == null ? otherwise : text;
    }

    private static String cut(String text) {
        return text.length() <= MAX_INPUT ? text : text.substring(0, MAX_INPUT);
    }
}
