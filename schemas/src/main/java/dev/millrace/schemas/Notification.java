package dev.millrace.schemas;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the owner of a task should hear of: that it ended, says something, asks something, or needs a decision. The
 * one place that says which events of the journal are news and what is told of them; event streams and webhooks send
 * the same {@link #toJson}.
 *
 * @param kind what there is to say
 * @param event the event that says it; it belongs to a task
 */
public record Notification(Kind kind, Event event) {

    /** What there is to say; {@code type} in JSON. */
    public enum Kind {
        /** The task has a {@code result}. */
        COMPLETED(KnownEventType.TASK_COMPLETED),
        /** The task ended with an {@code error} and a {@code code}. */
        FAILED(KnownEventType.TASK_FAILED),
        /** The task was cancelled, maybe for a {@code reason}. */
        CANCELLED(KnownEventType.TASK_CANCELLED),
        /** The task has a {@code message}, maybe for a {@code channelId}, and goes on. */
        NOTIFY(KnownEventType.TASK_NOTIFY),
        /** A tool call of the task waits for a decision: {@code approval}. */
        APPROVAL_NEEDED(KnownEventType.APPROVAL_REQUESTED),
        /** The task waits for an answer to its {@code question}. */
        QUESTION(KnownEventType.TASK_SUSPENDED);

        private final KnownEventType saidBy;

        Kind(KnownEventType saidBy) {
            this.saidBy = saidBy;
        }

        /** The word in JSON, lower snake case. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** The type of the events that say this. Not each event of that type does, see {@link Notification#of}. */
        public KnownEventType saidBy() {
            return saidBy;
        }

        /** The kind of this word; empty if there is none. */
        public static Optional<Kind> ofWireName(String word) {
            return Arrays.stream(values())
                    .filter(kind -> kind.wireName().equals(word))
                    .findFirst();
        }
    }

    /** The names of all types of events that may be news: what a reader of the journal has to look at. */
    public static Set<String> eventTypes() {
        return Arrays.stream(Kind.values()).map(kind -> kind.saidBy.wireName()).collect(Collectors.toUnmodifiableSet());
    }

    /** What this event of the journal tells the owner of its task; empty if that is nothing. */
    public static Optional<Notification> of(Event event) {
        if (event.taskId() == null) {
            return Optional.empty();
        }
        return Arrays.stream(Kind.values())
                .filter(kind -> kind.saidBy == event.type())
                // a task that was suspended from outside asks nothing
                .filter(kind -> kind != Kind.QUESTION || asks(event.payload()))
                .map(kind -> new Notification(kind, event))
                .findFirst();
    }

    private static boolean asks(Payload payload) {
        return payload instanceof Payload.TaskSuspended suspended && suspended.question() != null;
    }

    /**
     * {@code type}, {@code taskId}, {@code sessionId} unless there is none, {@code namespace}, {@code eventId}, {@code
     * timestamp} (Unix milliseconds), and what the kind has to say; what the event does not tell is left out. With a
     * {@code callbackUrl} beside it this is the payload of a NOTIFICATION_REQUESTED.
     */
    public JsonObject toJson() {
        JsonObject.Builder json = JsonObject.builder()
                .put("type", kind.wireName())
                .put("taskId", event.taskId())
                .putIfPresent("sessionId", event.sessionId())
                .put("namespace", event.namespace())
                .put("eventId", event.id())
                .put("timestamp", event.timestamp().toEpochMilli());
        switch (kind) {
            case COMPLETED -> copy(json, "result");
            case FAILED -> copy(json, "error", "code");
            case CANCELLED -> copy(json, "reason");
            case NOTIFY -> copy(json, "message", "channelId", "replyTo");
            case APPROVAL_NEEDED -> json.put("approval", event.fields());
            case QUESTION -> copy(json, "question");
        }
        return json.build();
    }

    private void copy(JsonObject.Builder json, String... fields) {
        for (String field : fields) {
            json.putIfPresent(field, event.fields().get(field));
        }
    }
}
