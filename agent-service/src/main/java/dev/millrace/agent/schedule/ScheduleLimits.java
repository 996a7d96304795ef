package dev.millrace.agent.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What schedules may cost.
 *
 * @param most how many there may be, of all namespaces together; 0 = none
 * @param shortest the shortest time between two moments of one; 1 s or more
 */
public record ScheduleLimits(int most, Duration shortest) {

    /** So many moments that are to come are looked at. */
    private static final int LOOKED_AT = 100;

    private static final Instant NEVER = Instant.parse("9999-01-01T00:00:00Z");

    public ScheduleLimits {
        if (most < 0) {
            throw new IllegalArgumentException("millrace.agent.schedules.max: expected 0 or more, found " + most);
        }
        if (shortest.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException(
                    "millrace.agent.schedules.shortest-interval: expected 1s or more, found " + shortest);
        }
    }

    /**
     * Why this schedule is one that cannot be had.
     *
     * @param there how many others there are
     * @return a sentence for people; empty if it can be had
     */
    public Optional<String> problem(Schedule schedule, int there) {
        if (there >= most) {
            return Optional.of("expected fewer than " + most
                    + " schedules (millrace.agent.schedules.max) to be there, found " + there);
        }
        List<Instant> moments = schedule.timing().timetable().first(schedule.changedAt(), NEVER, LOOKED_AT);
        if (moments.isEmpty()) {
            return Optional.of(
                    schedule.timing().cron() == null
                            ? "at: expected a time to come, found "
                                    + schedule.timing().at()
                            : "cron: expected a date that there is, found \""
                                    + schedule.timing().cron() + "\"");
        }
        for (int i = 1; i < moments.size(); i++) {
            Duration between = Duration.between(moments.get(i - 1), moments.get(i));
            if (between.compareTo(shortest) < 0) {
                return Optional.of("cron: expected " + shortest + " or more between two moments"
                        + " (millrace.agent.schedules.shortest-interval), found " + between);
            }
        }
        return Optional.empty();
    }
}
