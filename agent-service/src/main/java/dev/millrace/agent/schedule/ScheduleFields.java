package dev.millrace.agent.schedule;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Spelling;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A schedule as somebody has written it: reads it and says everything that is wrong with it. Once. */
public final class ScheduleFields {

    /** The longest definition, as JSON in bytes: its events have to fit on their topic. */
    public static final int MAX_BYTES = 256 * 1024;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
    private static final int DEFAULT_MISSED = 100;
    /** A year. */
    private static final long MAX_TTL_MS = 365L * 24 * 3_600 * 1_000;

    /** What goes into the payload of its events as it is. */
    private static final List<String> CONTENT =
            List.of("text", "template", "body", "taskType", "metadata", "callbackUrl");

    private static final List<String> OWN =
            List.of("cron", "at", "zone", "missed", "missedLimit", "overlap", "sessionId", "priority", "ttl", "paused");

    private final JsonObject fields;
    private final List<String> problems = new ArrayList<>();

    /** These fields, as JSON values. */
    public ScheduleFields(JsonObject fields) {
        this.fields = fields;
    }

    /**
     * The schedule.
     *
     * @param changedAt since when
     * @throws InvalidScheduleException if it is none
     */
    public Schedule read(String namespace, String name, Instant changedAt) throws InvalidScheduleException {
        if (!NAME.matcher(name).matches()) {
            problems.add(
                    "name: expected 1 to 64 letters, digits, dots, hyphens or underscores that begin with a letter or"
                            + " digit, found \"" + name + "\"");
        }
        requireKnown();
        if (Json.write(fields).length > MAX_BYTES) {
            problems.add("expected at most " + MAX_BYTES + " bytes as JSON, found more");
        }
        Schedule.Missed missed = choice("missed", Schedule.Missed.class, Schedule.Missed.ONE);
        int missedLimit = (int) number("missedLimit", 1, Schedule.MAX_MISSED, DEFAULT_MISSED);
        Schedule.Timing timing = timing(missed, missedLimit);
        Schedule.Conversation conversation = conversation();
        boolean paused = flag("paused");
        if (timing == null || !problems.isEmpty()) {
            throw new InvalidScheduleException(problems);
        }
        JsonObject.Builder content = JsonObject.builder();
        CONTENT.forEach(field -> content.putIfPresent(field, fields.get(field)));
        Schedule schedule =
                new Schedule(namespace, name, timing, conversation, content.build(), paused, wholeMillis(changedAt));
        problems.addAll(schedule.eventProblems());
        if (!problems.isEmpty()) {
            throw new InvalidScheduleException(problems);
        }
        return schedule;
    }

    /** In lower case, as it is written. */
    static String word(Enum<?> choice) {
        return choice.name().toLowerCase(Locale.ROOT);
    }

    static Instant instant(@Nullable Object text) throws InvalidScheduleException {
        try {
            return wholeMillis(Instant.parse(String.valueOf(text)));
        } catch (DateTimeException | ArithmeticException e) {
            throw new InvalidScheduleException(List.of("changedAt: expected a time, found " + text));
        }
    }

    private static Instant wholeMillis(Instant moment) {
        return Instant.ofEpochMilli(moment.toEpochMilli());
    }

    private void requireKnown() {
        TreeSet<String> known = new TreeSet<>(OWN);
        known.addAll(CONTENT);
        fields.keySet().stream()
                .filter(field -> !known.contains(field))
                .forEach(field -> problems.add("unknown field `"
                        + field + "`"
                        + Spelling.nearest(field, known)
                                .map(near -> "; did you mean `" + near + "`?")
                                .orElse("; there are " + String.join(", ", known))));
    }

    private Schedule.@Nullable Timing timing(Schedule.Missed missed, int missedLimit) {
        String cron = text("cron");
        String at = text("at");
        String zoneId = text("zone");
        if ((cron == null) == (at == null)) {
            problems.add("expected either cron or at, found " + (cron == null ? "neither" : "both"));
            return null;
        }
        try {
            ZoneId zone = zoneId == null ? ZoneOffset.UTC : ZoneId.of(zoneId);
            Timetable timetable =
                    cron == null ? new Timetable.Once(moment(String.valueOf(at), zone)) : CronTimetable.of(cron, zone);
            return new Schedule.Timing(cron, at, zoneId == null ? "UTC" : zoneId, timetable, missed, missedLimit);
        } catch (DateTimeException e) {
            problems.add("zone: expected a time zone such as Europe/Berlin or UTC, found \"" + zoneId + "\"");
        } catch (IllegalArgumentException e) {
            problems.add(String.valueOf(e.getMessage()));
        }
        return null;
    }

    private static Instant moment(String at, ZoneId zone) {
        try {
            return wholeMillis(OffsetDateTime.parse(at).toInstant());
        } catch (DateTimeException | ArithmeticException notWithOffset) {
            try {
                return wholeMillis(LocalDateTime.parse(at).atZone(zone).toInstant());
            } catch (DateTimeException | ArithmeticException e) {
                throw new IllegalArgumentException(
                        "at: expected a date and time such as 2027-01-31T09:00:00 (in zone) or 2027-01-31T09:00:00Z, found"
                                + " \"" + at + "\"",
                        e);
            }
        }
    }

    private Schedule.Conversation conversation() {
        String sessionId = text("sessionId");
        Schedule.Overlap overlap = choice("overlap", Schedule.Overlap.class, Schedule.Overlap.ALLOW);
        if (overlap == Schedule.Overlap.SKIP && sessionId == null) {
            problems.add(
                    "overlap: expected allow where there is no sessionId, since what the event before led to is looked"
                            + " for in its session, found skip");
        }
        int lowest = Event.lowestPriority(KnownEventType.SCHEDULE_FIRED);
        Integer priority =
                fields.get("priority") == null ? null : (Integer) (int) number("priority", lowest, 999, lowest);
        Long ttl = fields.get("ttl") == null ? null : (Long) number("ttl", 1, MAX_TTL_MS, 1);
        return new Schedule.Conversation(sessionId, priority, ttl, overlap);
    }

    private @Nullable String text(String field) {
        Object value = fields.get(field);
        if (value == null) {
            return null;
        }
        if (value instanceof String text && !text.isBlank()) {
            return text;
        }
        problems.add(field + ": expected a text that is not blank, found " + shown(value));
        return null;
    }

    private long number(String field, long least, long most, long otherwise) {
        Object value = fields.get(field);
        if (value == null) {
            return otherwise;
        }
        if ((value instanceof Integer || value instanceof Long)
                && ((Number) value).longValue() >= least
                && ((Number) value).longValue() <= most) {
            return ((Number) value).longValue();
        }
        problems.add(field + ": expected a whole number from " + least + " to " + most + ", found " + shown(value));
        return otherwise;
    }

    private boolean flag(String field) {
        Object value = fields.get(field);
        if (value != null && !(value instanceof Boolean)) {
            problems.add(field + ": expected true or false, found " + shown(value));
        }
        return Boolean.TRUE.equals(value);
    }

    private <E extends Enum<E>> E choice(String field, Class<E> type, E otherwise) {
        Object value = fields.get(field);
        if (value == null) {
            return otherwise;
        }
        for (E one : type.getEnumConstants()) {
            if (word(one).equals(value)) {
                return one;
            }
        }
        problems.add(field + ": expected one of "
                + Arrays.stream(type.getEnumConstants())
                        .map(ScheduleFields::word)
                        .collect(Collectors.joining(", "))
                + ", found " + shown(value));
        return otherwise;
    }

    private static String shown(Object value) {
        String text = Json.writeText(value);
        return text.length() > 100 ? text.substring(0, 100) + "…" : text;
    }
}
