package dev.millrace.agent.schedule;

import dev.millrace.agent.files.DefinitionPublisher;
import dev.millrace.schemas.JsonObject;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Writes schedules: checks them, and puts them where every instance reads them. Safe for any thread; waits for the
 * brokers.
 */
public final class ScheduleBook {

    private final Schedules known;
    private final DefinitionPublisher publisher;
    private final ScheduleLimits limits;
    private final Clock clock;

    /** What became of a change. */
    public sealed interface Outcome {}

    /**
     * It is as it was to be.
     *
     * @param schedule as it is now; the last one if it was removed
     * @param isNew whether it was not there before
     */
    public record Done(Schedule schedule, boolean isNew) implements Outcome {}

    /** It is no schedule that could be had, for these reasons. */
    public record Refused(List<String> problems) implements Outcome {}

    /** There is none of this name. */
    public record Unknown() implements Outcome {}

    /** The brokers did not take it in time. */
    public record NotStored() implements Outcome {}

    /** Writes for these. */
    public ScheduleBook(Schedules known, DefinitionPublisher publisher, ScheduleLimits limits, Clock clock) {
        this.known = known;
        this.publisher = publisher;
        this.limits = limits;
        this.clock = clock;
    }

    /** The schedules that there are. */
    public Schedules known() {
        return known;
    }

    /**
     * Defines a schedule, or defines it anew. One that says what the one before says changes nothing.
     *
     * @param fields as somebody has written them
     */
    public synchronized Outcome put(String namespace, String name, JsonObject fields) throws InterruptedException {
        Optional<Schedule> before = known.find(namespace, name);
        Schedule schedule;
        try {
            schedule = new ScheduleFields(fields).read(namespace, name, since(before));
        } catch (InvalidScheduleException e) {
            return new Refused(e.problems());
        }
        if (before.filter(schedule::saysTheSame).isPresent()) {
            return new Done(before.get(), false);
        }
        int others = known.all().size() - (before.isPresent() ? 1 : 0);
        Optional<String> problem = limits.problem(schedule, others);
        return problem.isPresent() ? new Refused(List.of(problem.get())) : store(schedule, before.isEmpty());
    }

    /** Has nothing be due for a while, or has it go on from now. */
    public synchronized Outcome pause(String namespace, String name, boolean paused) throws InterruptedException {
        Optional<Schedule> before = known.find(namespace, name);
        if (before.isEmpty()) {
            return new Unknown();
        }
        return before.get().paused() == paused
                ? new Done(before.get(), false)
                : store(before.get().paused(paused, since(before)), false);
    }

    /** Takes a schedule back. */
    public synchronized Outcome remove(String namespace, String name) throws InterruptedException {
        Optional<Schedule> before = known.find(namespace, name);
        if (before.isEmpty()) {
            return new Unknown();
        }
        if (!publisher.publish(Schedule.KIND + '/' + before.get().key(), null)) {
            return new NotStored();
        }
        known.remove(namespace, name);
        return new Done(before.get(), false);
    }

    private Outcome store(Schedule schedule, boolean isNew) throws InterruptedException {
        if (!publisher.publish(Schedule.KIND + '/' + schedule.key(), schedule.toJson())) {
            return new NotStored();
        }
        known.put(schedule);
        return new Done(schedule, isNew);
    }

    /** Now, and later than the version before also where two clocks differ. */
    private Instant since(Optional<Schedule> before) {
        Instant now = Instant.ofEpochMilli(clock.millis());
        return before.map(schedule -> schedule.changedAt().plusMillis(1))
                .filter(least -> least.isAfter(now))
                .orElse(now);
    }
}
