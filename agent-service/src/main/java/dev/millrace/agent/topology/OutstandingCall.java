package dev.millrace.agent.topology;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.ContextWindow;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.StreamType;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A model call that the machine waits for: enough to make it, and to answer it, on any instance.
 *
 * @param callId the call
 * @param namespace the task's tenant
 * @param taskId the task
 * @param sessionId the task's conversation; {@code null} = none
 * @param correlationId root of the chain
 * @param causationId the event that led to the call; the reply's parent
 * @param traceparent W3C trace context; {@code null} = not traced
 * @param agent who asks
 * @param priority the task's effective priority; lower is called first
 * @param iteration which call of the task this is, from 1
 * @param transcriptLength position of the first transcript entry that the model is not shown any more; 0 or less =
 *     it is shown none of the task's own, but what its session had said before
 * @param shown what the model is shown of the entries before
 * @param requestedAtMs when it was asked for, in Unix milliseconds; the older of two equals goes first
 * @param takeovers how many instances had it before and are gone, or have lost its partition
 */
public record OutstandingCall(
        String callId,
        String namespace,
        String taskId,
        @Nullable String sessionId,
        String correlationId,
        String causationId,
        @Nullable String traceparent,
        AgentPin agent,
        int priority,
        int iteration,
        int transcriptLength,
        Shown shown,
        long requestedAtMs,
        int takeovers) {

    // what was stored before conversations were compacted shows everything
    public OutstandingCall(
            String callId,
            String namespace,
            String taskId,
            @Nullable String sessionId,
            String correlationId,
            String causationId,
            @Nullable String traceparent,
            AgentPin agent,
            int priority,
            int iteration,
            int transcriptLength,
            @Nullable Shown shown,
            long requestedAtMs,
            int takeovers) {
        this.callId = callId;
        this.namespace = namespace;
        this.taskId = taskId;
        this.sessionId = sessionId;
        this.correlationId = correlationId;
        this.causationId = causationId;
        this.traceparent = traceparent;
        this.agent = agent;
        this.priority = priority;
        this.iteration = iteration;
        this.transcriptLength = transcriptLength;
        this.shown = shown == null ? Shown.ALL : shown;
        this.requestedAtMs = requestedAtMs;
        this.takeovers = takeovers;
    }

    /**
     * What of a transcript the model is shown, and what it shall make of it.
     *
     * @param summarySeq position of the summary, which comes first; 0 = there is none
     * @param from position of the first entry that is shown as it is; below 0 = it is one of the session's
     * @param toSumUp whether the model is to sum up what it is shown; else to go on with the task
     * @param prefix what its session had said before the task, if any of it is shown, or what stands for it;
     *     {@code null} = nothing
     */
    public record Shown(int summarySeq, int from, boolean toSumUp, ContextWindow.@Nullable Prefix prefix) {

        /** Everything, to go on with. */
        public static final Shown ALL = new Shown(0, 0, false);

        /** Nothing but the task's own. */
        public Shown(int summarySeq, int from, boolean toSumUp) {
            this(summarySeq, from, toSumUp, null);
        }

        static Shown of(ContextWindow window, boolean toSumUp) {
            return new Shown(window.summarySeq(), window.keptFrom(), toSumUp, window.shownPrefix());
        }
    }

    /** The key in the store of outstanding calls, unique across namespaces. */
    public String key() {
        return Event.qualified(namespace, callId);
    }

    /** The key of the task's row. */
    public String taskKey() {
        return Event.qualified(namespace, taskId);
    }

    /** The same call in the hands of another instance. */
    public OutstandingCall takenOver() {
        return new OutstandingCall(
                callId,
                namespace,
                taskId,
                sessionId,
                correlationId,
                causationId,
                traceparent,
                agent,
                priority,
                iteration,
                transcriptLength,
                shown,
                requestedAtMs,
                takeovers + 1);
    }

    /** Starts an event that tells of this call while it runs. */
    public Event.Builder tell(StreamType type, int attempt, int seq, Instant now) {
        String id = Ids.hash(key() + '\n' + attempt + '\n' + seq).substring(0, 32);
        return begin(id, type, now).source("llm");
    }

    /** Starts the event that answers this call; the same answer has the same id, however often it is given. */
    public Event.Builder reply(EventType type, Instant now) {
        return begin(Ids.hash(key() + '\n' + type.wireName()).substring(0, 32), type, now)
                .source("cognitive.reason");
    }

    /** Starts another event about this call. */
    public Event.Builder event(String id, EventType type, Instant now) {
        return begin(id, type, now).source("cognitive.reason");
    }

    private Event.Builder begin(String id, EventType type, Instant now) {
        return Event.root(id, type, now)
                .taskId(taskId)
                .sessionId(sessionId)
                .namespace(namespace)
                .correlationId(correlationId)
                .parentEventId(causationId)
                .traceparent(traceparent);
    }
}
