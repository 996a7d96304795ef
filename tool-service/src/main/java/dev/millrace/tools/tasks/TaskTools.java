package dev.millrace.tools.tasks;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.api.Entry;
import dev.millrace.api.Task;
import dev.millrace.schemas.Json;
import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Tools about tasks, of the caller's namespace only. */
public final class TaskTools {

    private static final int MOST = 200;
    private static final int PAGE = 500;
    /** A day long ago is looked for through all days since; somewhere that ends. */
    private static final int MOST_PAGES = 40;

    private static final String INVALID = "invalid_arguments";
    private static final String ENDING = ".jsonl";
    /** The conversation as it goes on, which the model is shown anyway. */
    private static final String CURRENT = "current" + ENDING;

    private static final Set<String> ENDED = Set.of("completed", "failed", "cancelled");

    private final TaskQueries queries;

    public TaskTools(TaskQueries queries) {
        this.queries = queries;
    }

    /** One of a list of tasks. */
    record Summary(String taskId, String inputText, String status, String createdAt) {}

    /** What the task machine makes TASK_NOTIFY of. */
    record Told(String action, String message, String taskId) {}

    /** What the task machine makes TASK_NOTIFY of. */
    record Replied(
            String action,
            String text,
            String channelId,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String replyTo,

            String taskId) {}

    /** A file of the archive: one message in a line, as a JSON object. */
    record Archive(String file, String content) {}

    /** What was said; {@code truncated} is left out if it is all. */
    record Replay(
            List<TaskMessages.Message> messages,
            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean truncated) {}

    /** Does nothing itself: the task machine makes TASK_NOTIFY of its result. */
    @Tool(
            value = "Tells the owner of the task something right now, while the work goes on.",
            name = "notify",
            sideEffects = SideEffects.IDEMPOTENT,
            timeoutMs = 5_000)
    Told notifyOwner(
            @Param("What to tell, complete in itself.") @Size(min = 1, max = 10_000) String message,
            ToolContext context) {
        return new Told("notify", message, context.taskId());
    }

    /** Does nothing itself: the task machine makes TASK_NOTIFY of its result. */
    @Tool(
            name = "reply",
            value =
                    "Says something in a channel outside right now, such as the chat that a message came from, while the"
                            + " work goes on.",
            sideEffects = SideEffects.IDEMPOTENT,
            timeoutMs = 5_000)
    Replied reply(
            @Param("What to say, complete in itself.") @Size(min = 1, max = 10_000) String text,
            @Param("The channel, as the message that came from it named it.") @Size(min = 1, max = 256)
                    String channelId,
            @Param("The message of the channel that this answers. Absent = none.")
                    Optional<@Size(min = 1, max = 256) String> replyTo,
            ToolContext context) {
        return new Replied("reply", text, channelId, replyTo.orElse(null), context.taskId());
    }

    @Tool(
            name = "task_list",
            value = "Lists tasks, the newest first, " + MOST + " at most: of one day, or of any time.",
            sideEffects = SideEffects.READ_ONLY)
    List<Summary> list(
            @Param("A day in UTC, such as 2026-03-01. Absent = the newest tasks of any day.")
                    Optional<@Pattern(regexp = "^\\d{4}-\\d{2}-\\d{2}$") String> date,
            ToolContext context)
            throws ToolException, InterruptedException {
        LocalDate day = date.isPresent() ? day(date.get()) : null;
        long from = day == null ? Long.MIN_VALUE : startOf(day);
        long to = day == null ? Long.MAX_VALUE : startOf(day.plusDays(1));
        List<Summary> found = new ArrayList<>();
        String before = null;
        for (int i = 0; i < MOST_PAGES; i++) {
            Task.Page page = queries.tasks(context.namespace(), day == null ? MOST : PAGE, before);
            for (Task task : page.tasks()) {
                long createdAt = task.createdAt();
                if (createdAt < from || found.size() == MOST) {
                    return found;
                }
                if (createdAt < to) {
                    found.add(new Summary(
                            task.taskId(),
                            task.inputText(),
                            status(task.state()),
                            Instant.ofEpochMilli(createdAt).toString()));
                }
            }
            before = page.next();
            if (before == null) {
                return found;
            }
        }
        if (found.isEmpty()) {
            throw new ToolException(
                    "invalid_arguments",
                    "date: there are too many tasks since " + day
                            + " to look for those of that day; ask for a later one");
        }
        return found;
    }

    private static String status(String state) {
        return switch (state) {
            case "completed" -> "completed";
            // there is no word for a task that somebody ended
            case "failed", "cancelled" -> "failed";
            default -> "in_progress";
        };
    }

    private static LocalDate day(String text) throws ToolException {
        try {
            return LocalDate.parse(text);
        } catch (DateTimeException e) {
            throw new ToolException(
                    "invalid_arguments", "date: expected a day such as 2026-03-01, found \"" + text + "\"");
        }
    }

    private static long startOf(LocalDate day) {
        return day.atStartOfDay(ZoneOffset.UTC).toInstant().toEpochMilli();
    }

    @Tool(
            name = "task_replay",
            value = "Shows what was said in a task, by the user, the model and the tools, from the beginning.",
            sideEffects = SideEffects.READ_ONLY)
    Replay replay(
            @Param("The id of the task, as task_list tells it.") @Size(min = 1, max = 300) String taskId,
            ToolContext context)
            throws ToolException, InterruptedException {
        return replay(context.namespace(), taskId)
                .orElseThrow(() -> new ToolException("unknown_task", "There is no task \"" + taskId + "\""));
    }

    @Tool(
            name = "session_archive_read",
            value =
                    "Reads what was said in an earlier task of this conversation, word for word, also where only a summary"
                            + " of it is left. The file is <taskId>.jsonl, with an id as task_list tells it.",
            sideEffects = SideEffects.READ_ONLY)
    Archive archive(
            @Param("The id of an earlier task of this conversation, with .jsonl behind it.") @Size(min = 1, max = 300)
                    String file,
            ToolContext context)
            throws ToolException, InterruptedException {
        String taskId = archived(file);
        if (file.equals(CURRENT) || taskId.equals(context.taskId())) {
            throw new ToolException(
                    INVALID, "file: expected an earlier task of this conversation, found the one that is under way");
        }
        Task task = queries.task(context.namespace(), taskId)
                .filter(one -> one.sessionId() != null
                        && context.session().filter(one.sessionId()::equals).isPresent())
                .orElseThrow(() -> new ToolException(
                        "unknown_file", "There is no file \"" + file + "\" in the archive of this conversation"));
        if (!ENDED.contains(task.state())) {
            throw new ToolException(
                    INVALID, "file: expected a task that has ended, found that " + taskId + " is under way");
        }
        Replay replay = replay(context.namespace(), taskId).orElseGet(() -> new Replay(List.of(), false));
        StringBuilder content = new StringBuilder();
        replay.messages()
                .forEach(message -> content.append(Json.writeText(message)).append('\n'));
        if (replay.truncated()) {
            content.append("{\"truncated\":true}\n");
        }
        return new Archive(file, content.toString());
    }

    /** The task of a file; names that could lead anywhere else are none. */
    private static String archived(String file) throws ToolException {
        boolean leadsAway =
                file.chars().anyMatch(c -> c == '/' || c == '\\' || Character.isISOControl(c)) || file.contains("..");
        if (leadsAway || !file.endsWith(ENDING) || file.length() == ENDING.length()) {
            throw new ToolException(
                    INVALID, "file: expected the id of a task and " + ENDING + ", found \"" + file + '"');
        }
        return file.substring(0, file.length() - ENDING.length());
    }

    private Optional<Replay> replay(String namespace, String taskId) throws ToolException, InterruptedException {
        TaskMessages messages = new TaskMessages();
        String after = null;
        for (int i = 0; i < MOST_PAGES; i++) {
            Optional<Entry.Page> page = queries.events(namespace, taskId, PAGE, after);
            if (page.isEmpty()) {
                return Optional.empty();
            }
            page.get().events().forEach(messages::add);
            after = page.get().next();
            if (after == null) {
                return Optional.of(new Replay(messages.all(), false));
            }
        }
        return Optional.of(new Replay(messages.all(), true));
    }
}
