package dev.millrace.schemas;

import dev.millrace.schemas.ForgetScope.Kind;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** All that the topic {@link Topics#forgotten} has told so far. For any thread. */
public final class ForgottenSet {

    private static final long NEVER = Long.MIN_VALUE;

    private final Map<ForgetScope, Long> forgotten = new ConcurrentHashMap<>();
    private final Map<String, Long> letters = new ConcurrentHashMap<>();
    private final AtomicLong changes = new AtomicLong();

    /** Takes a record's value; one that cannot be understood says nothing. */
    public void take(byte @Nullable [] value) {
        Forgotten.fromJson(value).ifPresent(one -> {
            forgotten.merge(one.scope(), one.atMs(), Math::max);
            changes.incrementAndGet();
        });
        DiscardedLetter.fromJson(value).ifPresent(one -> letters.merge(one.place(), one.atMs(), Math::max));
    }

    /** Grows with all that is taken, after it is known. */
    public long changes() {
        return changes.get();
    }

    /** Whether nothing has been forgotten, dead letters apart. */
    public boolean isEmpty() {
        return forgotten.isEmpty();
    }

    /**
     * Whether what is said of a task has been forgotten.
     *
     * @param taskId {@code null} = it is of no task
     * @param sessionId {@code null} = it is of no session, or that is not known
     * @param dateMs when it was said, in Unix milliseconds
     */
    public boolean has(String namespace, @Nullable String taskId, @Nullable String sessionId, long dateMs) {
        if (forgotten.isEmpty()) {
            return false;
        }
        return dateMs <= at(new ForgetScope(Kind.NAMESPACE, namespace, null))
                || (taskId != null && at(new ForgetScope(Kind.TASK, namespace, taskId)) != NEVER)
                || (sessionId != null && dateMs <= at(new ForgetScope(Kind.SESSION, namespace, sessionId)));
    }

    /** Whether what is said of the memory of a namespace has been forgotten. */
    public boolean hasMemory(String namespace, long dateMs) {
        return dateMs <= at(new ForgetScope(Kind.NAMESPACE, namespace, null))
                || dateMs <= at(new ForgetScope(Kind.MEMORY, namespace, null));
    }

    /**
     * Whether a dead letter has been discarded.
     *
     * @param place see {@link DiscardedLetter#place}
     * @param atMs when it was put aside, in Unix milliseconds
     */
    public boolean hasLetter(String place, long atMs) {
        return atMs <= letters.getOrDefault(place, NEVER);
    }

    private long at(ForgetScope scope) {
        return forgotten.getOrDefault(scope, NEVER);
    }
}
