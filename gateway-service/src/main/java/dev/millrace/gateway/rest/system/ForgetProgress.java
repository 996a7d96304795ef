package dev.millrace.gateway.rest.system;

import dev.millrace.api.ForgetReport;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How far a request to forget is, as its events tell: the task machine says for each partition that it is done, and
 * what sub-tasks it has asked for in turn; the memory machine answers each of these.
 *
 * @param request FORGET_REQUESTED
 * @param asked how many TASKS_FORGOTTEN there will be, as far as is known
 * @param tasksDone how many there are
 * @param memoryDone how many of these the memory machine has answered
 * @param removed what is removed so far
 * @param lastAt when the last of it happened, as the machines say; what the request says of its time is of no account
 */
record ForgetProgress(
        Event request, long asked, long tasksDone, long memoryDone, ForgetReport.Removed removed, Instant lastAt) {

    /** Of a request of which nothing is known but itself. */
    static ForgetProgress begun(Event request) {
        return new ForgetProgress(request, 1, 0, 0, new ForgetReport.Removed(0, 0, 0, 0), Instant.EPOCH);
    }

    /** Whether all is done. */
    boolean completed() {
        return tasksDone >= asked && memoryDone >= tasksDone;
    }

    /** What its events tell; empty if there is no request to forget of this id among them. */
    static Optional<ForgetProgress> of(String forgetId, List<Event> events) {
        return events.stream()
                .filter(event -> event.type() == KnownEventType.FORGET_REQUESTED
                        && event.id().equals(forgetId))
                .findFirst()
                .map(request -> {
                    ForgetProgress progress = begun(request);
                    for (Event event : events) {
                        progress = progress.after(event);
                    }
                    return progress;
                });
    }

    private ForgetProgress after(Event event) {
        Instant last = event.timestamp().isAfter(lastAt) ? event.timestamp() : lastAt;
        return switch (event.payload()) {
            case Payload.TasksForgotten told -> {
                boolean whole = ForgetScope.Kind.NAMESPACE.wireName().equals(told.scope());
                yield new ForgetProgress(
                        request,
                        (whole ? told.partitions() : asked) + orNone(told.children()),
                        tasksDone + 1,
                        memoryDone,
                        new ForgetReport.Removed(
                                removed.tasks() + orNone(told.tasks()),
                                removed.cancelled() + orNone(told.cancelled()),
                                removed.documents(),
                                removed.reflections()),
                        last);
            }
            case Payload.MemoryForgotten told ->
                new ForgetProgress(
                        request,
                        asked,
                        tasksDone,
                        memoryDone + 1,
                        new ForgetReport.Removed(
                                removed.tasks(),
                                removed.cancelled(),
                                removed.documents() + orNone(told.documents()),
                                removed.reflections() + orNone(told.reflections())),
                        last);
            default -> this;
        };
    }

    private static long orNone(@Nullable Long number) {
        return number == null ? 0 : number;
    }
}
