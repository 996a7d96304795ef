package dev.millrace.gateway.rest.tasks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.gateway.query.Tasks.PageQuery;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Reads the past of a task, page by page, and remembers how it stood at its end. For one thread.
 */
public final class TaskHistory {
    private static final int PAGE = 500;
    /**
     * What a page has at most, so that a client that takes it slowly costs little; a single larger event is one of its
     * own.
     */
    private static final int PAGE_BYTES = 32 * 1024;

    /** What to wait for before each entry; to fail ends the reading. */
    @FunctionalInterface
    public interface Pace<E extends Exception> {
        void await() throws InterruptedException, E;
    }

    /** What to do with each entry; to fail ends the reading. */
    @FunctionalInterface
    public interface Reader<E extends Exception> {
        void read(JournalEntry entry) throws InterruptedException, E;
    }

    private final Tasks tasks;
    private final String namespace;
    private final String taskId;
    private final @Nullable JournalCursor at;
    private @Nullable JournalCursor read;
    private @Nullable JournalCursor upTo;
    private boolean ended;

    /** That of this task, as far as whoever is asked knows it. */
    public TaskHistory(Tasks tasks, String namespace, String taskId) {
        this(tasks, namespace, taskId, null);
    }

    /**
     * That of this task.
     *
     * @param at a place of the journal up to which it has to go at least: one that the client has seen, which may be
     *     further than the instance that is asked; {@code null} = any
     */
    public TaskHistory(Tasks tasks, String namespace, String taskId, @Nullable JournalCursor at) {
        this.tasks = tasks;
        this.namespace = namespace;
        this.taskId = taskId;
        this.at = at;
    }

    /**
     * Reads everything that there is and was not read before.
     *
     * @return whether there is anything: not, if agent-service does not know the task yet
     * @throws ProblemException if nobody knows the task
     */
    public <E extends Exception> boolean readOn(Pace<E> pace, Reader<E> reader)
            throws QueryUnavailableException, InterruptedException, E {
        while (true) {
            Page page = page();
            if (page == null) {
                return false;
            }
            for (byte[] one = page.events().poll();
                    one != null;
                    one = page.events().poll()) {
                pace.await();
                JournalEntry entry = entry(one);
                note(entry);
                reader.read(entry);
            }
            if (page.upTo() != null) {
                upTo = page.upTo();
                return true;
            }
        }
    }

    /** Some events as JSON, which takes less memory than what is in it; {@code upTo} is there on the last page only. */
    private record Page(Queue<byte[]> events, @Nullable JournalCursor upTo) {}

    /** The next page; {@code null} if agent-service does not know the task yet. */
    private @Nullable Page page() throws QueryUnavailableException, InterruptedException {
        Optional<Found> found = tasks.page("events", namespace, taskId, new PageQuery(read, at, PAGE, PAGE_BYTES));
        if (found.isEmpty()) {
            throw ProblemException.unknownTask(namespace, taskId);
        }
        if (!(found.get() instanceof Found.Known known)) {
            return null;
        }
        JsonNode page = known.answer().as(JsonNode.class);
        Queue<byte[]> events = new ArrayDeque<>();
        page.path("events").forEach(one -> events.add(Json.write(one)));
        return new Page(
                events,
                page.hasNonNull("next") ? null : cursor(page.path("upTo").asText()));
    }

    /**
     * Where the journal goes on: everything of the task before this place has been read. Only after {@link #readOn}.
     */
    public JournalCursor next() throws QueryUnavailableException {
        JournalCursor place = upTo;
        if (place == null) {
            throw new QueryUnavailableException("agent-service does not say up to where it knows the journal", null);
        }
        JournalCursor last = read;
        long offset = last == null ? place.offset() : Math.max(place.offset(), last.offset());
        return new JournalCursor(place.partition(), offset + 1);
    }

    /** Whether the task had ended, and was not resumed, at the last entry that was read. */
    public boolean ended() {
        return ended;
    }

    private void note(JournalEntry entry) {
        read = entry.cursor();
        if (TaskWaiter.ends(entry.event().type())) {
            ended = true;
        } else if (entry.event().type() == KnownEventType.TASK_RESUMED) {
            ended = false;
        }
    }

    private static JournalEntry entry(byte[] json) throws QueryUnavailableException {
        try {
            JsonObject fields = Json.readObject(json);
            return new JournalEntry(cursor(fields.get("cursor")), EventJson.fromJson(fields));
        } catch (MalformedEventException e) {
            throw new QueryUnavailableException("agent-service told an event that cannot be read", e);
        }
    }

    private static JournalCursor cursor(@Nullable Object text) throws QueryUnavailableException {
        return JournalCursor.parse(String.valueOf(text))
                .orElseThrow(() -> new QueryUnavailableException("agent-service told no place in the journal", null));
    }
}
