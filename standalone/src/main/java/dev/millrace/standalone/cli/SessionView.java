package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Entry;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.StreamType;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Prints the stream of a conversation: a line for each fact, with its time, the beginning of its task's id, its type
 * and what it says; and live text as it comes. Colours only where somebody looks. For one conversation.
 */
final class SessionView {

    private static final String RESET = "\u001b[0m";
    private static final int SHORT_ID = 8;
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");
    /** They repeat what another line says. */
    private static final Set<KnownEventType> REPEATED =
            EnumSet.of(KnownEventType.TASK_STATE_CHANGED, KnownEventType.STEP_COMPLETED);

    private final Terminal terminal;
    private final boolean colours;
    private final ZoneId zone;
    private final LiveAnswer live;
    private final Set<String> running = new HashSet<>();
    private boolean anyEnded;

    /**
     * Has shown nothing.
     *
     * @param colours whether a terminal may have them
     * @param zone of the times
     */
    SessionView(Terminal terminal, boolean colours, ZoneId zone) {
        this.terminal = terminal;
        this.colours = colours && terminal.live();
        this.zone = zone;
        this.live = new LiveAnswer(terminal);
    }

    /** Prints an event of the stream. */
    void show(JsonNode told) {
        EventType type = EventType.of(told.path("type").asText());
        if (type instanceof StreamType) {
            boolean unused = live.take(told);
            return;
        }
        follow(told);
        if (!(type instanceof KnownEventType known) || !REPEATED.contains(known)) {
            live.breakLine();
            terminal.out().println(line(type, told));
        }
    }

    /** Takes note of an event without printing it. */
    void follow(JsonNode told) {
        String taskId = told.path("taskId").textValue();
        if (taskId == null || !(EventType.of(told.path("type").asText()) instanceof KnownEventType type)) {
            return;
        }
        switch (type) {
            case TASK_CREATED, TASK_RESUMED -> running.add(taskId);
            case TASK_COMPLETED, TASK_FAILED, TASK_CANCELLED -> {
                running.remove(taskId);
                anyEnded = true;
            }
            default -> {
                // it goes on as it did
            }
        }
    }

    /** Whether a task has ended and none goes on. */
    boolean isIdle() {
        return anyEnded && running.isEmpty();
    }

    private String line(EventType type, JsonNode told) {
        ToldEvent event = ToldEvent.of(told);
        String start = Instant.ofEpochMilli(event.timestamp()).atZone(zone).format(TIME)
                + "  " + shortId(Json.MAPPER.convertValue(told, Entry.class).taskId())
                + "  ";
        int room = terminal.columns() - start.length() - event.type().length() - 2;
        String summary = Progress.cut(EventText.summary(event), Math.max(40, room));
        return start
                + coloured(Progress.printable(event.type()), colour(type))
                + (summary.isEmpty() ? "" : "  " + summary);
    }

    private static String shortId(@Nullable String taskId) {
        String id = taskId == null ? "" : Progress.printable(taskId);
        return String.format("%-" + SHORT_ID + "s", id.substring(0, Math.min(SHORT_ID, id.length())));
    }

    private String coloured(String text, @Nullable String colour) {
        return colours && colour != null ? "\u001b[" + colour + 'm' + text + RESET : text;
    }

    /** As numbers of the terminal; {@code null} = as everything is. */
    private static @Nullable String colour(EventType type) {
        if (!(type instanceof KnownEventType known)) {
            return "35";
        }
        return switch (known) {
            case TASK_FAILED, TASK_CANCELLED, TOOL_CALL_FAILED, MODEL_CALL_FAILED -> "31";
            case TASK_COMPLETED -> "32";
            case APPROVAL_REQUESTED, NEED_MORE_INFO, TASK_SUSPENDED -> "33";
            case TOOL_CALL_REQUESTED, TOOL_CALL_COMPLETED -> "36";
            case MESSAGE_RECEIVED, SCHEDULE_FIRED, WEBHOOK_TRIGGERED -> "1";
            default -> null;
        };
    }
}
