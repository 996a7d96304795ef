package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskState;
import dev.millrace.schemas.BackgroundEnd;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Tells, again and again, how far the tasks are that were delegated into the background. What it holds is found out
 * anew from rows, so that it need not be stored: the ids of its events are derived, and a double is dropped where it
 * comes in. For one stream thread.
 */
final class BackgroundProgress {
    private static final EventType TYPE = EventType.of(BackgroundEnd.PROGRESS);

    private final Duration interval;
    private final Map<String, Told> told = new HashMap<>();

    /**
     * Of a task.
     *
     * @param sinceMs when it began, in Unix milliseconds
     * @param intervals how many were over when it was last told of
     */
    private record Told(long sinceMs, long intervals) {}

    /**
     * Of nobody yet.
     *
     * @param interval between two events of a task; zero = none are told
     */
    BackgroundProgress(Duration interval) {
        this.interval = interval;
    }

    /** Whether any are told. */
    boolean isWanted() {
        return !interval.isZero();
    }

    /** The task was written so. */
    void note(StoredTask task, long nowMs) {
        if (isWanted() && works(task)) {
            long sinceMs = task.lineage().createdAtMs();
            told.putIfAbsent(task.key(), new Told(sinceMs, intervals(sinceMs, nowMs)));
        }
    }

    /**
     * The events that are due.
     *
     * @param rows tells the row of a task by its key, or {@code null}
     */
    List<Event> due(Instant now, Function<String, @Nullable StoredTask> rows) {
        List<Event> due = new ArrayList<>();
        Iterator<Map.Entry<String, Told>> all = told.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<String, Told> one = all.next();
            Told last = one.getValue();
            long over = intervals(last.sinceMs(), now.toEpochMilli());
            if (over <= last.intervals()) {
                continue;
            }
            StoredTask task = rows.apply(one.getKey());
            if (task == null || !works(task)) {
                all.remove();
            } else {
                one.setValue(new Told(last.sinceMs(), over));
                due.add(event(task, over, now));
            }
        }
        return due;
    }

    private static boolean works(StoredTask task) {
        Parentage parent = task.parent();
        return parent != null && parent.background() && parent.errand() != null && !Moves.hasEnded(task);
    }

    private long intervals(long sinceMs, long nowMs) {
        return Math.max(0, nowMs - sinceMs) / interval.toMillis();
    }

    private static Event event(StoredTask task, long number, Instant now) {
        Parentage parent = task.parent();
        if (parent == null || parent.errand() == null || !(task.state() instanceof TaskState.Existing existing)) {
            throw new IllegalArgumentException("expected a task that works for another one, found " + task.key());
        }
        JsonObject payload = JsonObject.builder()
                .put("taskId", task.taskId())
                .put("taskSessionId", task.sessionId())
                .put("callId", parent.callId())
                .put("description", parent.errand().description())
                .put("state", existing instanceof TaskState.Idle ? "pending" : "running")
                .put("iterations", existing.context().iteration())
                .put(
                        "elapsedMs",
                        Math.max(0, now.toEpochMilli() - task.lineage().createdAtMs()))
                .build();
        String id = Ids.hash(task.key() + "\nprogress\n" + number).substring(0, 32);
        return task.lastEvent()
                .derive(id, TYPE, now)
                .taskId(parent.taskId())
                .sessionId(parent.sessionId())
                .source("agent")
                .payload(payload)
                .build();
    }
}
