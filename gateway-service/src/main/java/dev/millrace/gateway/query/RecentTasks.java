package dev.millrace.gateway.query;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import java.time.Clock;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What this instance has accepted lately, so that nobody is told "unknown" about a task that agent-service has not come to
 * yet. Bounded in number and time. For any thread.
 */
public final class RecentTasks {
    private static final Duration KEPT = Duration.ofMinutes(10);

    private final int most;
    private final Clock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Accepted> tasks = new LinkedHashMap<>();

    private record Accepted(Event event, long atMillis) {}

    /**
     * Empty.
     *
     * @param most how many are remembered; the oldest goes first
     */
    public RecentTasks(int most, Clock clock) {
        this.most = most;
        this.clock = clock;
    }

    /** This event was accepted and starts the task of the same id. */
    public void add(Event event) {
        long now = clock.millis();
        lock.lock();
        try {
            tasks.putIfAbsent(Event.qualified(event.namespace(), event.id()), new Accepted(event, now));
            Iterator<Accepted> oldestFirst = tasks.values().iterator();
            while (oldestFirst.hasNext()) {
                Accepted oldest = oldestFirst.next();
                if (tasks.size() <= most && !isOld(oldest, now)) {
                    break;
                }
                oldestFirst.remove();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The event that starts this task; empty if it was not accepted here, or too long ago. */
    public Optional<Event> find(String namespace, String taskId) {
        lock.lock();
        try {
            Accepted accepted = tasks.get(Event.qualified(namespace, taskId));
            return accepted == null || isOld(accepted, clock.millis())
                    ? Optional.empty()
                    : Optional.of(accepted.event());
        } finally {
            lock.unlock();
        }
    }

    /** Nothing of this is known here any more. */
    public void forget(ForgetScope scope) {
        lock.lock();
        try {
            tasks.values()
                    .removeIf(accepted -> scope.contains(
                            accepted.event().namespace(),
                            accepted.event().id(),
                            accepted.event().sessionId()));
        } finally {
            lock.unlock();
        }
    }

    private static boolean isOld(Accepted accepted, long now) {
        return now - accepted.atMillis() > KEPT.toMillis();
    }

    /** A task as agent-service would show it, in the state {@code accepted}: nothing more is known of it yet. */
    public static Map<String, @Nullable Object> view(Event event, int partition) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        String text = event.text("text");
        String taskType = event.text("taskType");
        view.put("taskId", event.id());
        view.put("namespace", event.namespace());
        view.put("sessionId", event.sessionId());
        view.put("taskType", taskType == null ? "general" : taskType);
        view.put("state", "accepted");
        view.put("inputText", text == null ? "" : text.substring(0, Math.min(500, text.length())));
        view.put("source", event.source());
        view.put("priority", event.effectivePriority());
        view.put("createdAt", event.timestamp().toEpochMilli());
        view.put("updatedAt", event.timestamp().toEpochMilli());
        view.put("iterations", 0);
        view.put("response", null);
        view.put("error", null);
        view.put("errorCode", null);
        view.put("question", null);
        view.put("usage", Map.of("inputTokens", 0, "outputTokens", 0));
        Map<String, @Nullable Object> waitingFor = new LinkedHashMap<>();
        waitingFor.put("kind", "admission");
        waitingFor.put("callIds", List.of());
        waitingFor.put("question", null);
        waitingFor.put("since", event.timestamp().toEpochMilli());
        waitingFor.put("until", null);
        view.put("waitingFor", waitingFor);
        view.put("budget", null);
        view.put("callbackUrl", event.text("callbackUrl"));
        view.put("transitions", 0);
        view.put("partition", partition);
        view.put("firstCursor", null);
        view.put("lastCursor", null);
        view.put("history", List.of());
        return view;
    }
}
