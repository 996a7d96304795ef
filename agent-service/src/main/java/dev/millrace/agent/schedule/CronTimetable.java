package dev.millrace.agent.schedule;

import com.cronutils.model.definition.CronDefinition;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The times of a cron expression in a zone. The library says which times of the clock on the wall are meant; what a
 * change of that clock does to them is said here, as cron has always done it. A schedule with a {@code *} in its
 * seconds, minutes or hours goes by the time that passes: times that the clock leaps over are not there, and those
 * that it shows twice are there twice. Any other means times of the day: one that the clock leaps over is due when it
 * has leapt, and one that it shows twice is due the first time.
 */
public final class CronTimetable implements Timetable {

    /** The longest expression, in characters. */
    public static final int MAX_LENGTH = 200;

    private static final int FIELDS_WITHOUT_SECONDS = 5;
    private static final Map<String, String> NAMED = Map.of(
            "@yearly", "0 0 0 1 1 *",
            "@annually", "0 0 0 1 1 *",
            "@monthly", "0 0 0 1 * *",
            "@weekly", "0 0 0 * * 0",
            "@daily", "0 0 0 * * *",
            "@midnight", "0 0 0 * * *",
            "@hourly", "0 0 * * * *");

    private final ExecutionTime times;
    private final ZoneId zone;
    private final boolean passing;

    private CronTimetable(ExecutionTime times, ZoneId zone, boolean passing) {
        this.times = times;
        this.zone = zone;
        this.passing = passing;
    }

    /**
     * Reads an expression.
     *
     * @param expression minute, hour, day of month, month, day of week (0 or 7 = Sunday), with a field for seconds
     *     before them or without; or one of {@code @hourly}, {@code @daily}, {@code @weekly}, {@code @monthly}, {@code
     *     @yearly}. If both days are restricted, either will do
     * @throws IllegalArgumentException if it is none, in a sentence for people
     */
    public static CronTimetable of(String expression, ZoneId zone) {
        String given = expression.strip();
        if (given.length() > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "cron: expected at most " + MAX_LENGTH + " characters, found " + given.length());
        }
        String written = NAMED.getOrDefault(given.toLowerCase(Locale.ROOT), given);
        List<String> fields = List.of(written.split("\\s+"));
        if (fields.size() != FIELDS_WITHOUT_SECONDS && fields.size() != FIELDS_WITHOUT_SECONDS + 1) {
            throw new IllegalArgumentException(
                    "cron: expected 5 fields (minute hour day-of-month month day-of-week), 6 with seconds before them, or one"
                            + " of @hourly, @daily, @weekly, @monthly, @yearly, found \"" + given + "\"");
        }
        boolean seconds = fields.size() > FIELDS_WITHOUT_SECONDS;
        try {
            ExecutionTime times = ExecutionTime.forCron(
                    new CronParser(definition()).parse(seconds ? written : "0 " + String.join(" ", fields)));
            boolean passing = fields.stream().limit(seconds ? 3 : 2).anyMatch(field -> field.contains("*"));
            return new CronTimetable(times, zone, passing);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("cron: \"" + given + "\" cannot be read: " + e.getMessage(), e);
        }
    }

    private static CronDefinition definition() {
        return CronDefinitionBuilder.defineCron()
                .withSeconds()
                .withValidRange(0, 59)
                .and()
                .withMinutes()
                .withValidRange(0, 59)
                .and()
                .withHours()
                .withValidRange(0, 23)
                .and()
                .withDayOfMonth()
                .withValidRange(1, 31)
                .and()
                .withMonth()
                .withValidRange(1, 12)
                .and()
                .withDayOfWeek()
                .withValidRange(0, 7)
                .withMondayDoWValue(1)
                .withIntMapping(7, 0)
                .and()
                .instance();
    }

    @Override
    public Optional<Instant> next(Instant after) {
        Instant begin = after.truncatedTo(ChronoUnit.SECONDS);
        ZoneOffsetTransition before = zone.getRules().previousTransition(begin.plus(1, ChronoUnit.SECONDS));
        LocalDateTime from = LocalDateTime.ofInstant(begin, zone);
        if (before != null) {
            from = later(from, notAgain(before));
        }
        ZoneOffset offset = zone.getRules().getOffset(begin);
        while (true) {
            ZoneOffsetTransition change = zone.getRules().nextTransition(begin);
            LocalDateTime due = dueAfter(from);
            if (due == null) {
                return Optional.empty();
            }
            if (change == null || due.toInstant(offset).isBefore(change.getInstant())) {
                return Optional.of(due.toInstant(offset));
            }
            if (!passing && change.isGap() && due.isBefore(change.getDateTimeAfter())) {
                return Optional.of(change.getInstant());
            }
            begin = change.getInstant();
            offset = change.getOffsetAfter();
            from = later(change.getDateTimeAfter().minusSeconds(1), notAgain(change));
        }
    }

    /** Times after a change count if they are later than this. */
    private LocalDateTime notAgain(ZoneOffsetTransition change) {
        return !passing && change.isOverlap() ? change.getDateTimeBefore().minusSeconds(1) : LocalDateTime.MIN;
    }

    private static LocalDateTime later(LocalDateTime one, LocalDateTime other) {
        return one.isBefore(other) ? other : one;
    }

    /** On a clock that is never changed. */
    private @Nullable LocalDateTime dueAfter(LocalDateTime time) {
        return times.nextExecution(time.atZone(ZoneOffset.UTC))
                .map(ZonedDateTime::toLocalDateTime)
                .orElse(null);
    }
}
