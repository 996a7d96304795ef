package dev.millrace.reflection.topology;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import java.time.Instant;

/**
 * A model call that a reflection waits for: enough to make it, and to answer it, on any instance.
 *
 * @param callId the call
 * @param request REFLECTION_REQUESTED, without its payload
 * @param requestedAtMs when it was asked for, in Unix milliseconds
 * @param takeovers how many instances had it before and are gone, or have lost its partition
 */
public record ReflectionCall(String callId, Event request, long requestedAtMs, int takeovers) {

    /** The call of a round, from 1. The same on every replay. */
    static ReflectionCall of(Event request, int round, long nowMs) {
        return new ReflectionCall(
                "reflection/"
                        + Ids.hash(request.namespace() + '\n' + request.id()).substring(0, 24) + '/' + round,
                request,
                nowMs,
                0);
    }

    /** The same call in the hands of another instance. */
    public ReflectionCall takenOver() {
        return new ReflectionCall(callId, request, requestedAtMs, takeovers + 1);
    }

    /** The key in the store of outstanding calls, unique across namespaces. */
    public String key() {
        return Event.qualified(request.namespace(), callId);
    }

    /** The key of the reflection's row. */
    public String reflectionKey() {
        return MemoryStores.reflectionKey(request);
    }

    /** Starts the event that answers this call; the same answer has the same id, however often it is given. */
    public Event.Builder reply(EventType type, Instant now) {
        return request.derive(Ids.hash(key() + '\n' + type.wireName()).substring(0, 32), type, now)
                .source("cognitive.reflect");
    }
}
