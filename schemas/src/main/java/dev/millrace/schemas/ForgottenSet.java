package dev.millrace.schemas;

import dev.millrace.schemas.ForgetScope.Kind;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** All that the topic {@link Topics#forgotten} has told so far. For any thread. */
public final class ForgottenSet {

    private static final long NEVER = Long.MIN_VALUE;

    private final Map<ForgetScope, Long> forgotten = new ConcurrentHashMap<>();

    /** Takes a record's value; one that cannot be understood says nothing. */
    public void take(byte @Nullable [] value) {
        Forgotten.fromJson(value).ifPresent(one -> forgotten.merge(one.scope(), one.atMs(), Math::max));
    }

    /** Whether nothing has been forgotten. */
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

    private long at(ForgetScope scope) {
        return forgotten.getOrDefault(scope, NEVER);
    }
}
