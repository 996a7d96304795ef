package dev.millrace.schemas;

import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is to be forgotten (docs/memory.md).
 *
 * @param kind how much of it
 * @param namespace the tenant
 * @param id the task or the session; {@code null} with the other kinds
 */
public record ForgetScope(
        Kind kind, String namespace, @Nullable String id) {

    /** How much is forgotten. */
    public enum Kind {
        /** One task, and the tasks that it has started. */
        TASK,
        /** All tasks of one session, and those that they have started. */
        SESSION,
        /** What a namespace remembers: its documents. No task. */
        MEMORY,
        /** Both, of a whole namespace. */
        NAMESPACE;

        /** Its name in payloads. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Empty if there is none of this name. */
        public static Optional<Kind> of(@Nullable Object wireName) {
            for (Kind kind : values()) {
                if (kind.wireName().equals(wireName)) {
                    return Optional.of(kind);
                }
            }
            return Optional.empty();
        }
    }

    public ForgetScope {
        if ((id == null) == (kind == Kind.TASK || kind == Kind.SESSION)) {
            throw new IllegalArgumentException(
                    "scope " + kind.wireName() + ": expected " + (id == null ? "an id" : "no id") + ", found " + id);
        }
    }

    /** What an event about forgetting says; empty if it is none, or does not say it whole. */
    public static Optional<ForgetScope> of(Event event) {
        if (!(event.payload() instanceof Payload.Forgetting told)) {
            return Optional.empty();
        }
        return Kind.of(told.scope()).flatMap(kind -> {
            String id =
                    switch (kind) {
                        case TASK -> told.taskId();
                        case SESSION -> told.sessionId();
                        case MEMORY, NAMESPACE -> null;
                    };
            boolean named = kind == Kind.TASK || kind == Kind.SESSION;
            return named && id == null ? Optional.empty() : Optional.of(new ForgetScope(kind, event.namespace(), id));
        });
    }

    /** The id of the request that this event about forgetting goes back to: its own if it names none. */
    public static String forgetId(Event event) {
        String named = event.payload() instanceof Payload.Forgetting told ? told.forgetId() : null;
        return named == null ? event.id() : named;
    }

    /** The task; {@code null} with the other kinds. */
    public @Nullable String taskId() {
        return kind == Kind.TASK ? id : null;
    }

    /** The session; {@code null} with the other kinds. */
    public @Nullable String sessionId() {
        return kind == Kind.SESSION ? id : null;
    }

    /** FORGET_REQUESTED. */
    public Payload.ForgetRequested request(@Nullable String forgetId) {
        return new Payload.ForgetRequested(kind.wireName(), taskId(), sessionId(), forgetId, null);
    }

    /** Whether a task is in it, as far as its own ids tell. */
    public boolean contains(String taskNamespace, @Nullable String taskId, @Nullable String sessionId) {
        return taskNamespace.equals(namespace)
                && switch (kind) {
                    case TASK -> taskId != null && taskId.equals(id);
                    case SESSION -> sessionId != null && sessionId.equals(id);
                    case MEMORY -> false;
                    case NAMESPACE -> true;
                };
    }

    /** Whether the documents of the namespace are in it. */
    public boolean containsMemory() {
        return kind == Kind.MEMORY || kind == Kind.NAMESPACE;
    }
}
