package dev.millrace.agent.schedule;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.InputTemplate;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One schedule as it was defined: when it is due, and what its {@link KnownEventType#SCHEDULE_FIRED} says then. What
 * came before it was defined, changed or resumed is never due.
 *
 * @param namespace the tenant
 * @param name unique in its namespace
 * @param timing when it is due
 * @param conversation where its events belong
 * @param content what they say, as their schema has it, without what is added to their metadata
 * @param paused whether nothing is due meanwhile
 * @param changedAt since when it is defined so; also what tells its versions apart
 */
public record Schedule(
        String namespace,
        String name,
        Timing timing,
        Conversation conversation,
        JsonObject content,
        boolean paused,
        Instant changedAt) {

    /** The kind in keys of definitions. */
    public static final String KIND = "schedule";
    /** The most moments that were missed and are made up for. */
    public static final int MAX_MISSED = 1000;

    /** What becomes of moments at which nobody was there. */
    public enum Missed {
        /** Nothing: only the last one is made up for, and only if it was less than a minute ago. */
        SKIP,
        /** The last one is made up for, however long ago it was. */
        ONE,
        /** Each is made up for, up to a number; of more, the last ones. */
        ALL
    }

    /** What becomes of a moment at which what the one before led to still goes on. */
    public enum Overlap {
        /** It counts. */
        ALLOW,
        /** It is passed over. */
        SKIP
    }

    /**
     * When it is due.
     *
     * @param cron an expression; {@code null} = it is due once
     * @param at as it was written; {@code null} = it is due by an expression
     * @param zone id of the time zone of either
     * @param timetable what is meant
     * @param missed what becomes of moments at which nobody was there
     * @param missedLimit how many of those {@link Missed#ALL} makes up for, 1 to {@value #MAX_MISSED}
     */
    public record Timing(
            @Nullable String cron,
            @Nullable String at,
            String zone,
            Timetable timetable,
            Missed missed,
            int missedLimit) {}

    /**
     * Where its events belong.
     *
     * @param sessionId {@code null} = each is a conversation of its own
     * @param priority {@code null} = the type's
     * @param ttl after how many milliseconds one that nobody has begun to work on is no longer wanted; {@code null} =
     *     each is wanted for ever
     * @param overlap what if the one before still goes on
     */
    public record Conversation(
            @Nullable String sessionId,
            @Nullable Integer priority,
            @Nullable Long ttl,
            Overlap overlap) {}

    /** What it is called among all namespaces, and in the keys of definitions behind the kind. */
    public String key() {
        return key(namespace, name);
    }

    /** The same of one that need not be there. */
    public static String key(String namespace, String name) {
        return namespace + '/' + name;
    }

    /** What decides on the partition that keeps its place: that of its session, if it has one. */
    public String homeKey() {
        String session = conversation.sessionId();
        return session == null ? key() : Event.qualified(namespace, session);
    }

    /** The event of one moment, always the same for the same one. */
    public Event fired(Instant planned, Instant now) {
        return event(
                Ids.derived(
                        key() + '@' + changedAt.toEpochMilli() + '@' + planned.toEpochMilli(),
                        KnownEventType.SCHEDULE_FIRED,
                        0),
                planned,
                now);
    }

    /** The event of a moment that somebody has chosen by hand. */
    public Event firedByHand(String id, Instant now) {
        return event(id, now, now);
    }

    private Event event(String id, Instant planned, Instant now) {
        JsonObject.Builder metadata = JsonObject.builder();
        if (content.get("metadata") instanceof JsonObject given) {
            metadata.putAll(given);
        }
        metadata.put(KIND, name).put("scheduledAt", planned.toString());
        return Event.root(id, KnownEventType.SCHEDULE_FIRED, now)
                .source(KIND + '/' + name)
                .namespace(namespace)
                .sessionId(conversation.sessionId())
                .priority(conversation.priority())
                .expiry(conversation.ttl() == null ? null : now.plusMillis(conversation.ttl()))
                .payload(JsonObject.builder()
                        .putAll(content)
                        .put("metadata", metadata.build())
                        .build())
                .build();
    }

    /** Why its events would be refused, for people; empty if they would not. */
    List<String> eventProblems() {
        Event example;
        try {
            example = fired(changedAt, changedAt);
        } catch (IllegalArgumentException e) {
            return List.of(String.valueOf(e.getMessage()));
        }
        List<String> problems = new ArrayList<>(EventSchemas.problems(example));
        if (problems.isEmpty() && content.get("text") == null && content.get("template") instanceof String template) {
            problems.addAll(new InputTemplate(template).problems(example.fields()));
        }
        return problems;
    }

    /** The same, paused or not, since some moment. */
    public Schedule paused(boolean nowPaused, Instant now) {
        return new Schedule(namespace, name, timing, conversation, content, nowPaused, now);
    }

    /** The same since another moment. */
    public Schedule since(Instant moment) {
        return new Schedule(namespace, name, timing, conversation, content, paused, moment);
    }

    /** Whether another says the same, whenever it was said. */
    public boolean saysTheSame(Schedule other) {
        return fields().equals(other.fields());
    }

    /** As it stands on the topic. */
    public byte[] toJson() {
        return Json.write(JsonObject.builder()
                .putAll(fields())
                .put("namespace", namespace)
                .put("name", name)
                .put("changedAt", changedAt.toString())
                .build());
    }

    /** As it would be written by hand. */
    public JsonObject fields() {
        return JsonObject.builder()
                .putIfPresent("cron", timing.cron())
                .putIfPresent("at", timing.at())
                .put("zone", timing.zone())
                .put("missed", ScheduleFields.word(timing.missed()))
                .put("missedLimit", timing.missedLimit())
                .put("overlap", ScheduleFields.word(conversation.overlap()))
                .putIfPresent("sessionId", conversation.sessionId())
                .putIfPresent("priority", conversation.priority())
                .putIfPresent("ttl", conversation.ttl())
                .putAll(content)
                .put("paused", paused)
                .build();
    }

    /**
     * One that stands on the topic.
     *
     * @param key what stands in the record's key behind the kind
     * @throws MalformedEventException if it is no JSON object
     * @throws InvalidScheduleException if it is no schedule
     */
    public static Schedule ofJson(String key, byte[] json) throws MalformedEventException, InvalidScheduleException {
        JsonObject stored = Json.readObject(json);
        Object namespace = stored.get("namespace");
        Object name = stored.get("name");
        if (!(namespace instanceof String tenant)
                || !(name instanceof String named)
                || !key.equals(key(tenant, named))) {
            throw new InvalidScheduleException(
                    List.of("namespace, name: expected those of the key " + key + ", found " + namespace + '/' + name));
        }
        JsonObject fields = stored.without(Set.of("namespace", "name", "changedAt"));
        return new ScheduleFields(fields).read(tenant, named, ScheduleFields.instant(stored.get("changedAt")));
    }
}
