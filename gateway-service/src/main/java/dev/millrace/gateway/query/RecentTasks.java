package dev.millrace.gateway.query;

import dev.millrace.api.Task;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
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
 * What this instance has accepted lately, so that nobody is told "unknown" about a task that agent-service has not come
 * to yet: in outline, so that it costs the same however large the events were. Bounded in number, bytes and time. For
 * any thread.
 */
public final class RecentTasks {
    /** What is remembered takes no more memory than this, about; what was accepted first is forgotten first. */
    public static final long MAX_BYTES = 16L * 1024 * 1024;

    private static final Duration KEPT = Duration.ofMinutes(10);
    /** A longer address is left out: whoever takes it has refused it by then. */
    private static final int MAX_URL = 2_048;
    /** What an event weighs beside its texts. */
    private static final int WEIGHT = 512;

    private final int most;
    private final Clock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Accepted> tasks = new LinkedHashMap<>();

    /** Of {@link #tasks}, in bytes. Guarded by the lock. */
    private long weight;

    private record Accepted(Event outline, long atMillis, int weight) {}

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
            Event outline = outline(event);
            Accepted accepted = new Accepted(outline, now, weight(outline));
            if (tasks.putIfAbsent(Event.qualified(event.namespace(), event.id()), accepted) == null) {
                weight += accepted.weight();
            }
            Iterator<Accepted> oldestFirst = tasks.values().iterator();
            while (oldestFirst.hasNext()) {
                Accepted oldest = oldestFirst.next();
                if (tasks.size() <= most && weight <= MAX_BYTES && !isOld(oldest, now)) {
                    break;
                }
                oldestFirst.remove();
                weight -= oldest.weight();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The event that starts this task, in outline; empty if it was not accepted here, or too long ago. */
    public Optional<Event> find(String namespace, String taskId) {
        lock.lock();
        try {
            Accepted accepted = tasks.get(Event.qualified(namespace, taskId));
            return accepted == null || isOld(accepted, clock.millis())
                    ? Optional.empty()
                    : Optional.of(accepted.outline());
        } finally {
            lock.unlock();
        }
    }

    /** Nothing of this is known here any more. */
    public void forget(ForgetScope scope) {
        lock.lock();
        try {
            Iterator<Accepted> all = tasks.values().iterator();
            while (all.hasNext()) {
                Accepted accepted = all.next();
                Event outline = accepted.outline();
                if (scope.contains(outline.namespace(), outline.id(), outline.sessionId())) {
                    all.remove();
                    weight -= accepted.weight();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** The same event without what {@link #view} does not tell: a few hundred bytes, however large it was. */
    public static Event outline(Event event) {
        JsonObject.Builder payload = JsonObject.builder();
        if (event.payload() instanceof Payload.TaskInput input) {
            String callbackUrl = input.callbackUrl();
            payload.putIfPresent("text", cut(input.said(), Task.MAX_INPUT))
                    .putIfPresent("taskType", cut(input.taskType(), Ids.MAX_LENGTH))
                    .putIfPresent(
                            "callbackUrl", callbackUrl != null && callbackUrl.length() <= MAX_URL ? callbackUrl : null);
        }
        return event.toBuilder().payload(payload.build()).tracestate(null).build();
    }

    private static @Nullable String cut(@Nullable String text, int most) {
        return text == null || text.length() <= most ? text : text.substring(0, most);
    }

    private static int weight(Event outline) {
        int chars = outline.id().length() + outline.source().length();
        chars += outline.sessionId() == null ? 0 : outline.sessionId().length();
        for (Object text : outline.fields().values()) {
            chars += text instanceof String value ? value.length() : 0;
        }
        return WEIGHT + 2 * chars;
    }

    private static boolean isOld(Accepted accepted, long now) {
        return now - accepted.atMillis() > KEPT.toMillis();
    }

    private static Task.@Nullable ForkedFrom forkedFrom(Event event) {
        return event.payload() instanceof Payload.MessageReceived message && message.fork() != null
                ? new Task.ForkedFrom(message.fork().taskId(), message.fork().eventId())
                : null;
    }

    /** A task as agent-service would show it, in the state {@code accepted}: nothing more is known of it yet. */
    public static Task.Details view(Event event, int partition) {
        Payload.TaskInput input = event.payload() instanceof Payload.TaskInput given ? given : null;
        String text = input == null ? null : input.said();
        String taskType = input == null ? null : input.taskType();
        long createdAt = event.timestamp().toEpochMilli();
        Task task = new Task(
                event.id(),
                event.namespace(),
                event.sessionId(),
                taskType == null ? "general" : taskType,
                null,
                null,
                "accepted",
                text == null ? "" : String.valueOf(cut(text, Task.MAX_INPUT)),
                event.source(),
                event.effectivePriority(),
                createdAt,
                createdAt,
                0,
                null,
                null,
                null,
                null,
                new Task.Usage(0, 0),
                Task.WaitingFor.of("admission", createdAt),
                null,
                input == null ? null : input.callbackUrl(),
                0,
                partition,
                null,
                null,
                null,
                null,
                null,
                forkedFrom(event),
                null);
        return new Task.Details(task, List.of());
    }
}
