package dev.millrace.gateway.rest.tasks;

import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.kafka.DeadLetter;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.schemas.BackgroundEnd;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.InputTemplate;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Problem;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which events anyone may send over HTTP. Whoever reaches the gateway may ask for things; what was worked out, decided
 * or paid for is told by those who did it, who have a Kafka client (ADR 0022).
 */
public final class OutsideEvents {

    private static final Way KAFKA_ONLY = new Way.Elsewhere("It is written by the machines of Millrace themselves.");
    private static final Way WRITTEN = new Way.Here(Permission.WRITE, false);

    private OutsideEvents() {}

    /**
     * Refuses an event that is not for clients to send.
     *
     * @throws ProblemException that says where else it is taken
     */
    static void requireTaken(Event event) {
        String instead = instead(event.type());
        if (instead != null) {
            throw new ProblemException(new Problem(
                    403,
                    "not_for_clients",
                    "Clients do not send this event",
                    "event " + event.id() + ": expected a type that clients send, found "
                            + event.type().wireName() + ". " + instead,
                    Map.of("eventId", event.id(), "eventType", event.type().wireName())));
        }
        requirePriority(event.type(), event.priority(), event.id());
    }

    /**
     * Refuses a payload with a field that its type does not have: nobody would read it, and a misspelt {@code taskType}
     * would have the default agent do the work. What a template looks into is read.
     *
     * @throws ProblemException that names the field
     */
    static void requireKnownFields(Event event) {
        EventSchemas.fields(event.type()).ifPresent(fields -> {
            TreeSet<String> known = new TreeSet<>(fields);
            if (event.payload() instanceof Payload.TaskInput) {
                known.addAll(EventCodec.SESSION_FIELDS);
            }
            String template = known.contains("template") ? event.text("template") : null;
            if (template != null) {
                known.addAll(new InputTemplate(template).fields());
            }
            BodyReader.requireKnown(
                    event.fields().keySet(),
                    known,
                    " in the payload of " + event.type().wireName() + " " + event.id());
        });
    }

    /** Refuses a priority that is the system's: nobody's task stands in line before a cancel. */
    private static void requirePriority(EventType type, @Nullable Integer priority, String id) {
        if (priority != null && priority < Event.lowestPriority(type)) {
            throw ProblemException.badField(
                    "priority",
                    Event.lowestPriority(type) + " or more in the " + type.wireName() + " " + id
                            + ", since 0 to 99 is for the system",
                    priority);
        }
    }

    /** What whoever sends an event of this type has to be granted; of one that is not taken, what asking needs. */
    public static Permission needs(EventType type) {
        return way(type) instanceof Way.Here here ? here.needs() : Permission.WRITE;
    }

    /** Whether an event of this type is for all namespaces, whatever it says of its own. */
    public static boolean concernsAll(EventType type) {
        return way(type) instanceof Way.Here here && here.concernsAll();
    }

    /**
     * Whether whoever may see what is of this namespace may see a dead letter. What would be for all namespaces is of
     * none: it is not a tenant's to send again.
     */
    public static boolean isOf(String namespace, DeadLetter letter) {
        return namespace.equals(letter.namespace())
                && letter.type().filter(OutsideEvents::concernsAll).isEmpty();
    }

    /** Where an event of this type comes in, if not here; {@code null} = here. */
    private static @Nullable String instead(EventType type) {
        return way(type) instanceof Way.Elsewhere elsewhere ? elsewhere.where() : null;
    }

    /** How an event of a type comes in. */
    private sealed interface Way {
        /**
         * Over HTTP.
         *
         * @param concernsAll whether it is for all namespaces, so that this is needed in all of them
         */
        record Here(Permission needs, boolean concernsAll) implements Way {}

        /** In another way, which this sentence names. */
        record Elsewhere(String where) implements Way {}
    }

    private static Way way(EventType type) {
        if (!(type instanceof KnownEventType known)) {
            return BackgroundEnd.of(type).isPresent() ? KAFKA_ONLY : WRITTEN;
        }
        return switch (known) {
            case SYSTEM_STARTED, SYSTEM_SHUTTING_DOWN, HEARTBEAT -> new Way.Here(Permission.ADMIN, true);
            case FORGET_REQUESTED -> new Way.Here(Permission.ADMIN, false);
            case TASK_CANCEL_REQUESTED,
                    MESSAGE_RECEIVED,
                    WEBHOOK_TRIGGERED,
                    SCHEDULE_FIRED,
                    TASK_SUSPENDED,
                    TASK_RESUMED,
                    RAG_INGEST,
                    ENTITY_EXTRACT -> WRITTEN;
            case APPROVAL_DECIDED -> new Way.Elsewhere("Decide with POST /v1/approvals/{callId}.");
            case TASK_FAILED ->
                new Way.Elsewhere("End a task with POST /v1/tasks/{taskId}/cancel; that one has failed is said by"
                        + " those who do its work, who have a Kafka client.");
            case TOOL_CALL_COMPLETED, TOOL_CALL_FAILED ->
                new Way.Elsewhere("Workers answer with a Kafka client, on the topic events.tool: see docs/events.md.");
            case REASON_DONE, NEED_MORE_INFO, CONTEXT_COMPACTED, MODEL_CALL_FAILED, MODEL_CALL_ABANDONED ->
                new Way.Elsewhere(
                        "Whoever makes model calls answers with a Kafka client, on the topic events.cognitive.");
            case MEMORY_EDIT_REQUESTED -> new Way.Elsewhere("Write with PUT /v1/memory/{namespace}/{path}.");
            case REFLECTION_REQUESTED,
                    REFLECTION_COMPLETE,
                    REFLECTION_FAILED,
                    MEMORY_FORGOTTEN,
                    TASK_CREATED,
                    TASK_STATE_CHANGED,
                    TASK_COMPLETED,
                    TASK_NOTIFY,
                    TASK_CANCELLED,
                    TASKS_FORGOTTEN,
                    MODEL_CALL_REQUESTED,
                    STEP_COMPLETED,
                    TOOL_CALL_REQUESTED,
                    APPROVAL_REQUESTED,
                    NOTIFICATION_REQUESTED -> KAFKA_ONLY;
        };
    }
}
