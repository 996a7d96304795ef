package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.schedule.Schedule;
import dev.millrace.agent.schedule.Schedules;
import dev.millrace.engine.UnitOfWork;
import dev.millrace.schemas.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fires the schedules of one partition. How far a schedule is stands in a row, which is written in the transaction that
 * puts its event on the lane: so a moment is done with once, whoever has the partition. A schedule is home where its
 * session is, and else where its own name leads. For one stream thread.
 */
final class ScheduleClock {

    private static final Logger LOGGER = LoggerFactory.getLogger(ScheduleClock.class);

    /** So many moments of one schedule are fired in one go, so that records do not wait. */
    private static final int AT_ONCE = 50;
    /** What is later than this was missed. */
    private static final Duration LATE = Duration.ofMinutes(1);
    /** How long an event may stand on its lane before it counts as refused. */
    private static final Duration ON_ITS_LANE = Duration.ofMinutes(10);
    /** How long a newer version of a schedule is waited for that another instance knew. */
    private static final Duration NEWER_ON_ITS_WAY = Duration.ofMinutes(1);
    /** How long a schedule that could not be fired rests, and a row without a schedule is kept. */
    private static final Duration REST = Duration.ofMinutes(1);

    private static final long NEVER = Long.MAX_VALUE;

    private final KeyValueStore<String, ScheduleRow> rows;
    private final Schedules known;
    private final Predicate<String> isHome;
    private final Past past;
    private final Outbox outbox;
    private final Map<String, Long> orphans = new HashMap<>();
    private long change = -1;
    private List<Own> own = List.of();

    /**
     * What became of events that were fired.
     *
     * @param task the row of the task of this key; {@code null} = there is none
     * @param seen whether this event was taken from its lane
     */
    record Past(Function<String, @Nullable StoredTask> task, Predicate<Event> seen) {}

    private static final class Own {
        private final Schedule schedule;
        private long dueMs;

        Own(Schedule schedule, long dueMs) {
            this.schedule = schedule;
            this.dueMs = dueMs;
        }
    }

    /**
     * As the store has them.
     *
     * @param isHome whether this key belongs to this partition
     */
    ScheduleClock(
            KeyValueStore<String, ScheduleRow> rows,
            Schedules known,
            Predicate<String> isHome,
            Past past,
            Outbox outbox) {
        this.rows = rows;
        this.known = known;
        this.isHome = isHome;
        this.past = past;
        this.outbox = outbox;
    }

    /** Fires what is due, each schedule in a unit of its own. */
    void run(UnitOfWork unit, long nowMs) {
        Schedules.Known now = known.known();
        if (now.change() != change) {
            own = mine(now.schedules(), nowMs);
            change = now.change();
        }
        for (Own one : own) {
            if (one.dueMs <= nowMs) {
                boolean kept = unit.attempt(() -> fire(one.schedule, nowMs)).isEmpty();
                one.dueMs = kept ? dueMs(one.schedule) : nowMs + REST.toMillis();
            }
        }
    }

    /** Removes rows of schedules that are no longer there, or no longer here, after a while. Within a unit. */
    void sweep(long nowMs) {
        Set<String> there = new HashSet<>();
        own.forEach(one -> there.add(one.schedule.key()));
        Set<String> without = new HashSet<>();
        try (KeyValueIterator<String, ScheduleRow> all = rows.all()) {
            all.forEachRemaining(row -> {
                if (!there.contains(row.key)) {
                    without.add(row.key);
                }
            });
        }
        orphans.keySet().retainAll(without);
        without.forEach(key -> orphans.putIfAbsent(key, nowMs));
        orphans.forEach((key, sinceMs) -> {
            if (nowMs - sinceMs >= REST.toMillis()) {
                rows.delete(key);
            }
        });
    }

    private List<Own> mine(List<Schedule> all, long nowMs) {
        IdentityHashMap<Schedule, Own> before = new IdentityHashMap<>();
        own.forEach(one -> before.put(one.schedule, one));
        return all.stream()
                .filter(schedule -> isHome.test(schedule.homeKey()))
                .map(schedule -> {
                    Own same = before.get(schedule);
                    return same == null ? new Own(schedule, firstDueMs(schedule, nowMs)) : same;
                })
                .toList();
    }

    /**
     * When one is due that was not known so before. Where another instance knew a newer version, that one is about to
     * come here; if it does not, it was removed, and this one was made again by a clock that is behind.
     */
    private long firstDueMs(Schedule schedule, long nowMs) {
        ScheduleRow row = rows.get(schedule.key());
        long dueMs = dueMs(schedule);
        boolean isOld = row != null && row.changedAtMs() > schedule.changedAt().toEpochMilli();
        return isOld ? Math.max(dueMs, nowMs + NEWER_ON_ITS_WAY.toMillis()) : dueMs;
    }

    private long dueMs(Schedule schedule) {
        ScheduleRow row = rows.get(schedule.key());
        if (schedule.paused()) {
            return NEVER;
        }
        return schedule.timing()
                .timetable()
                .next(done(schedule, row))
                .map(Instant::toEpochMilli)
                .orElse(NEVER);
    }

    /** Up to when its moments are done with. A version before may have fired something since this one was made. */
    private static Instant done(Schedule schedule, @Nullable ScheduleRow row) {
        long changedAtMs = schedule.changedAt().toEpochMilli();
        return Instant.ofEpochMilli(row == null ? changedAtMs : Math.max(changedAtMs, row.lastMs()));
    }

    private void fire(Schedule schedule, long nowMs) {
        ScheduleRow row = rows.get(schedule.key());
        Instant now = Instant.ofEpochMilli(nowMs);
        Schedule.Timing timing = schedule.timing();
        int most = timing.missed() == Schedule.Missed.ALL ? timing.missedLimit() : 1;
        List<Instant> due = timing.timetable().last(done(schedule, row), now, most);
        String lastEventId = row == null ? null : row.lastEventId();
        long lastFiredMs = row == null ? 0 : row.lastFiredMs();
        Instant last = done(schedule, row);
        for (Instant planned : due.subList(0, Math.min(AT_ONCE, due.size()))) {
            last = planned;
            Event event = schedule.fired(planned, now);
            boolean tooLate = timing.missed() == Schedule.Missed.SKIP
                    && planned.plus(LATE).isBefore(now);
            if (tooLate || goesOn(schedule, lastEventId, lastFiredMs, now)) {
                LOGGER.atInfo()
                        .addKeyValue("schedule", schedule.key())
                        .addKeyValue("scheduledAt", planned)
                        .addKeyValue("reason", tooLate ? "missed" : "the one before goes on")
                        .log("A moment of a schedule is passed over");
            } else {
                outbox.lane(event, now);
                lastEventId = event.id();
                lastFiredMs = nowMs;
            }
        }
        rows.put(
                schedule.key(),
                new ScheduleRow(schedule.changedAt().toEpochMilli(), last.toEpochMilli(), lastEventId, lastFiredMs));
    }

    /** Whether what was fired before stands in the way. */
    private boolean goesOn(Schedule schedule, @Nullable String eventId, long firedMs, Instant now) {
        if (schedule.conversation().overlap() == Schedule.Overlap.ALLOW || eventId == null) {
            return false;
        }
        StoredTask task = past.task().apply(Event.qualified(schedule.namespace(), eventId));
        if (task != null) {
            return !(task.state() instanceof TaskState.Ended) && !(task.state() instanceof TaskState.Completed);
        }
        return !past.seen().test(schedule.firedByHand(eventId, now))
                && now.toEpochMilli() - firedMs < ON_ITS_LANE.toMillis();
    }
}
