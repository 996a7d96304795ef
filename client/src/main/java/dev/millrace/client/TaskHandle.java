package dev.millrace.client;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Entry;
import dev.millrace.api.Task;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A task, by its id: whoever has that can watch and steer it, in whatever process it was started. Making one asks
 * nobody.
 */
public final class TaskHandle {

    private final Millrace millrace;
    private final String namespace;
    private final String id;

    TaskHandle(Millrace millrace, String namespace, String id) {
        this.millrace = millrace;
        this.namespace = namespace;
        this.id = id;
    }

    public String id() {
        return id;
    }

    /** The task as it is now. */
    public Task get() {
        return millrace.http().get(with(route()), Task.class);
    }

    /** What happens to it, from its first event on until its end. */
    public TaskFeed events() {
        return events(Watch.all());
    }

    /** The same, as far as it is wanted. */
    public TaskFeed events(Watch watch) {
        return TaskFeed.open(millrace, watch.on(with(route().at("stream"))), watch.cursor());
    }

    /** What has happened to it so far, in the order of the journal. */
    public Stream<Entry> log() {
        return millrace.http().items(with(route().at("events")), "after", "events", Entry.class);
    }

    /** How it has moved from state to state so far. */
    public Stream<Task.Move> history() {
        return millrace.http().items(with(route().at("history")), "after", "history", Task.Move.class);
    }

    /**
     * Waits until it has ended, over restarts of the gateway.
     *
     * @throws TaskFailedException if it has failed
     * @throws TaskCancelledException if it was cancelled
     * @throws TaskNotDoneException if it has not ended in that time
     */
    public TaskResult await(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        FeedEvent last = null;
        // a completed task may have been resumed: what counts is how it stands at the end of its stream
        try (TaskFeed feed = events(Watch.all().only("TASK_COMPLETED", "TASK_FAILED", "TASK_CANCELLED"))) {
            while (!feed.isOver()) {
                long left = end - System.nanoTime();
                Optional<FeedEvent> next = left <= 0 ? Optional.empty() : feed.next(Duration.ofNanos(left));
                if (next.isPresent()) {
                    last = next.get();
                } else if (!feed.isOver()) {
                    throw new TaskNotDoneException(id, limit);
                }
            }
        }
        return result(last);
    }

    private TaskResult result(@Nullable FeedEvent last) {
        if (last instanceof FeedEvent.Failed failed) {
            throw new TaskFailedException(id, failed.code(), failed.error());
        }
        if (last instanceof FeedEvent.Cancelled cancelled) {
            throw new TaskCancelledException(id, cancelled.reason() == null ? "" : cancelled.reason());
        }
        if (!(last instanceof FeedEvent.Completed completed)) {
            throw new MillraceException("The stream of task " + id + " is over and told no end of it.", null);
        }
        JsonNode usage = completed.json().path("payload").path("usage");
        return new TaskResult(
                id,
                completed.text() == null ? "" : completed.text(),
                usage.path("inputTokens").asLong(),
                usage.path("outputTokens").asLong());
    }

    /** Answers the question that it waits with. */
    public Task.ControlAccepted answer(String text) {
        return resume(text);
    }

    /** Has it go on, after it was suspended. */
    public Task.ControlAccepted resume() {
        return resume(null);
    }

    /** Has it go on with new input; a completed task goes on with nothing else. */
    public Task.ControlAccepted resume(@Nullable String newInput) {
        return millrace.http()
                .post(with(route().at("resume")), new Task.NewInput(newInput), Task.ControlAccepted.class);
    }

    /** Has it wait until it is resumed. */
    public Task.ControlAccepted suspend(@Nullable String reason) {
        return millrace.http().post(with(route().at("suspend")), new Task.Reason(reason), Task.ControlAccepted.class);
    }

    /** Ends it, with its sub-tasks. */
    public Task.ControlAccepted cancel() {
        return cancel(null);
    }

    /** The same, with a reason. */
    public Task.ControlAccepted cancel(@Nullable String reason) {
        return millrace.http()
                .post(with(route().at("cancel")), new Task.CancelRequest(reason, null), Task.ControlAccepted.class);
    }

    private Route route() {
        return new Route("/v1/tasks").at(id);
    }

    private Route with(Route route) {
        return route.with("namespace", namespace);
    }

    @Override
    public String toString() {
        return "task " + id;
    }
}
