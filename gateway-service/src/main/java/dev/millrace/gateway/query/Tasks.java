package dev.millrace.gateway.query;

import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.AgentClient.Answer;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.Json;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is known about tasks, whoever knows it. An id that nobody knows is looked for a little longer: it may have been
 * accepted a moment ago by another instance. For any thread; calls block.
 */
public final class Tasks {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(40);
    private static final Answer UNKNOWN = new Answer(false, "");
    private static final int MAX_TRIES = 5; // with pauses of 40, 80, 120 and 160 ms

    private final AgentClient client;
    private final @Nullable LocalTasks local;
    private final RecentTasks recent;

    /** Asks agent-service and this instance; for single tasks the one of this process, if there is one. */
    public Tasks(AgentClient client, @Nullable LocalTasks local, RecentTasks recent) {
        this.client = client;
        this.local = local;
        this.recent = recent;
    }

    /** What agent-service is asked. */
    @FunctionalInterface
    private interface Question {
        Answer ask() throws QueryUnavailableException, InterruptedException;
    }

    /**
     * One task, or something about one: from agent-service or, as long as that has not come to it, from this instance.
     */
    public sealed interface Found {

        /** What agent-service says. */
        record Known(Answer answer) implements Found {}

        /**
         * This instance has accepted the event that starts the task, and agent-service does not know it yet.
         *
         * @param event in outline, see {@link RecentTasks#outline}
         */
        record Accepted(Event event) implements Found {}
    }

    /**
     * A task.
     *
     * @param at a place of the journal that the answer has to take into account; {@code null} = any
     * @return empty if nobody knows it
     */
    public Optional<Found> task(String namespace, String taskId, @Nullable JournalCursor at)
            throws QueryUnavailableException, InterruptedException {
        return find(() -> ask(namespace, taskId, at), namespace, taskId, MAX_TRIES);
    }

    /**
     * A task, or what this instance has accepted of one. Asks once: for many ids, of which some may be nobody's.
     *
     * @return empty if nobody knows it now
     */
    public Optional<Found> taskNow(String namespace, String taskId)
            throws QueryUnavailableException, InterruptedException {
        return find(() -> ask(namespace, taskId, null), namespace, taskId, 1);
    }

    private Answer ask(String namespace, String taskId, @Nullable JournalCursor at)
            throws QueryUnavailableException, InterruptedException {
        if (local != null) {
            return local.task(namespace, taskId, at)
                    .map(task -> new Answer(true, Json.writeText(task)))
                    .orElse(UNKNOWN);
        }
        Map<String, @Nullable String> query = new HashMap<>();
        query.put("namespace", namespace);
        query.put("at", at == null ? null : at.toString());
        return client.get(AgentClient.path("tasks", taskId), query);
    }

    /**
     * Which part of what happened to a task.
     *
     * @param after only what comes after this place; {@code null} = from the beginning
     * @param at a place of the journal that the answer has to take into account; {@code null} = any
     * @param limit at most so many
     * @param maxBytes about how large a page of events may be, if it has more than one
     */
    public record PageQuery(
            @Nullable JournalCursor after, @Nullable JournalCursor at, int limit, int maxBytes) {}

    /**
     * A page of what happened to a task: its {@code events}, or its {@code history} of moves from state to state.
     *
     * @return empty if nobody knows the task
     */
    public Optional<Found> page(String what, String namespace, String taskId, PageQuery page)
            throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> query = new HashMap<>();
        query.put("namespace", namespace);
        query.put("after", page.after() == null ? null : page.after().toString());
        query.put("at", page.at() == null ? null : page.at().toString());
        query.put("limit", Integer.toString(page.limit()));
        query.put("maxBytes", Integer.toString(page.maxBytes()));
        return find(AgentClient.path("tasks", taskId, what), query, namespace, taskId);
    }

    /**
     * How far an event is that was accepted.
     *
     * @return empty if nobody knows it
     */
    public Optional<Found> queueItem(String namespace, String eventId)
            throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> query = Map.of("namespace", namespace, "eventId", eventId);
        return find(AgentClient.path("queue", "item"), query, namespace, eventId);
    }

    /** What this instance has accepted of this is not told any more. */
    public void forget(ForgetScope scope) {
        recent.forget(scope);
    }

    /**
     * A tool call that waits, or waited, for a decision.
     *
     * @return empty if nobody knows of such a call
     */
    public Optional<Answer> approval(String namespace, String callId)
            throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> query = Map.of("namespace", namespace, "callId", callId);
        return find(AgentClient.path("approval"), query, namespace, "").orElse(null) instanceof Found.Known known
                ? Optional.of(known.answer())
                : Optional.empty();
    }

    /**
     * An event and what led to it, as agent-service says.
     *
     * @param limit at most so many
     * @return empty if nobody knows the event
     */
    public Optional<Found> chain(String namespace, String eventId, int limit)
            throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> query = Map.of("namespace", namespace, "limit", Integer.toString(limit));
        return find(AgentClient.path("events", eventId, "chain"), query, namespace, "");
    }

    private Optional<Found> find(String path, Map<String, @Nullable String> query, String namespace, String taskId)
            throws QueryUnavailableException, InterruptedException {
        return find(() -> client.get(path, query), namespace, taskId, MAX_TRIES);
    }

    private Optional<Found> find(Question question, String namespace, String taskId, int tries)
            throws QueryUnavailableException, InterruptedException {
        for (int tried = 1; ; tried++) {
            Answer answer = question.ask();
            if (answer.found()) {
                return Optional.of(new Found.Known(answer));
            }
            Optional<Event> accepted = recent.find(namespace, taskId);
            if (accepted.isPresent()) {
                return Optional.of(new Found.Accepted(accepted.get()));
            }
            if (tried == tries) {
                return Optional.empty();
            }
            Thread.sleep(FIRST_PAUSE.multipliedBy(tried));
        }
    }
}
