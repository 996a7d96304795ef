package dev.millrace.agent.topology;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Payload;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.common.header.Headers;

/** System events that concern every partition, and not the one that their key happens to lead to. */
final class Broadcast {

    /** The partition that all of them pass first. */
    static final int FIRST_PARTITION = 0;

    private Broadcast() {}

    /**
     * Whether it is one: that everything stops or goes on, not just one instance, or that a whole namespace is to be
     * forgotten.
     */
    static boolean isOne(Event event) {
        return resumesAdmission(event) || stopsAdmission(event) || forgets(event);
    }

    /** Whether a whole namespace is to be forgotten. */
    static boolean forgets(Event event) {
        return event.payload() instanceof Payload.ForgetRequested request
                && request.scope().equals(ForgetScope.Kind.NAMESPACE.wireName());
    }

    /** Whether it is a request to forget one task, and one partition of all that look for it is given it here. */
    static boolean isSearch(Headers headers, Event event) {
        return event.payload() instanceof Payload.ForgetRequested request
                && request.scope().equals(ForgetScope.Kind.TASK.wireName())
                && headers.lastHeader(Outbox.BROADCAST) != null;
    }

    /** Whether nothing is to be admitted from now on. */
    static boolean stopsAdmission(Event event) {
        return event.payload() instanceof Payload.SystemShuttingDown stops && stops.instance() == null;
    }

    /** Whether tasks are admitted again. An instance that says that it has started ends no drain. */
    static boolean resumesAdmission(Event event) {
        return event.payload() instanceof Payload.SystemStarted starts && starts.instance() == null;
    }

    /** All partitions but this one. */
    static Set<Integer> others(int partition, int partitions) {
        return IntStream.range(0, partitions)
                .filter(other -> other != partition)
                .boxed()
                .collect(Collectors.toUnmodifiableSet());
    }
}
