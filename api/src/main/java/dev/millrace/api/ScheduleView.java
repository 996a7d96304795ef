package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A schedule; docs/schedules.md says what each part means. What is absent was not said. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@Schema(name = "Schedule", description = "docs/schedules.md says what each part means. Either cron or at is there.")
public record ScheduleView(
        String name,
        String namespace,
        @Schema(examples = "0 9 * * 1-5") @Nullable String cron,
        @Schema(examples = "2027-01-31T09:00:00") @Nullable String at,

        @Schema(description = "The time zone of cron, and of at if that names none.", examples = "Europe/Berlin")
        String zone,

        @Schema(
                description = "What becomes of moments at which nobody was there.",
                enumeration = {"skip", "one", "all"})
        String missed,

        @Schema(description = "How many of them all makes up for, 1 to 1000.")
        int missedLimit,

        @Schema(
                description = "What becomes of a moment at which the task of the one before still goes on.",
                enumeration = {"allow", "skip"})
        String overlap,

        @Schema(description = "The conversation of its tasks; absent = each has one of its own.") @Nullable
        String sessionId,

        @Nullable Integer priority,

        @Schema(
                description =
                        "What nobody has begun after so many milliseconds is no longer wanted; absent = always is.")
        @Nullable
        Long ttl,

        @Nullable String text,

        @Schema(description = "As in SCHEDULE_FIRED; makes the text of body and metadata.") @Nullable
        String template,

        @Schema(description = "Any JSON.") @Nullable Object body,

        @Schema(description = "Name of the agent; absent = general.") @Nullable
        String taskType,

        @Nullable Map<String, @Nullable Object> metadata,
        @Nullable String callbackUrl,
        boolean paused,

        @Schema(description = "Since when it is so. Nothing before that is due.")
        String changedAt,

        @Schema(description = "When it is due next, in UTC; empty = never again, or it is paused.")
        List<String> next) {

    // written out, since javac forgets in compact form that the map's values may be null
    public ScheduleView(
            String name,
            String namespace,
            @Nullable String cron,
            @Nullable String at,
            String zone,
            String missed,
            int missedLimit,
            String overlap,
            @Nullable String sessionId,
            @Nullable Integer priority,
            @Nullable Long ttl,
            @Nullable String text,
            @Nullable String template,
            @Nullable Object body,
            @Nullable String taskType,
            @Nullable Map<String, @Nullable Object> metadata,
            @Nullable String callbackUrl,
            boolean paused,
            String changedAt,
            List<String> next) {
        this.name = name;
        this.namespace = namespace;
        this.cron = cron;
        this.at = at;
        this.zone = zone;
        this.missed = missed;
        this.missedLimit = missedLimit;
        this.overlap = overlap;
        this.sessionId = sessionId;
        this.priority = priority;
        this.ttl = ttl;
        this.text = text;
        this.template = template;
        this.body = body;
        this.taskType = taskType;
        this.metadata = metadata;
        this.callbackUrl = callbackUrl;
        this.paused = paused;
        this.changedAt = changedAt;
        this.next = List.copyOf(next);
    }

    /** What somebody says of a schedule. Either cron or at, and either text or template. */
    @Schema(
            name = "ScheduleDefinition",
            description =
                    "Either cron or at, and either text or template. What is absent is as the schedule says by default.")
    public record Definition(
            @Schema(
                    description = "minute hour day-of-month month day-of-week, with seconds before them or without; or"
                            + " @hourly, @daily, @weekly, @monthly, @yearly.",
                    examples = "0 9 * * 1-5")
            @Nullable
            String cron,

            @Schema(description = "A date and time, in zone if it names no offset.", examples = "2027-01-31T09:00:00")
            @Nullable
            String at,

            @Schema(description = "Of cron and at.", defaultValue = "UTC", examples = "Europe/Berlin") @Nullable
            String zone,

            @Schema(
                    defaultValue = "one",
                    enumeration = {"skip", "one", "all"})
            @Nullable
            String missed,

            @Schema(description = "1 to 1000.", defaultValue = "100") @Nullable
            Integer missedLimit,

            @Schema(
                    description = "skip needs a sessionId.",
                    defaultValue = "allow",
                    enumeration = {"allow", "skip"})
            @Nullable
            String overlap,

            @Nullable String sessionId,
            @Schema(description = "100 to 999") @Nullable Integer priority,

            @Schema(description = "What nobody has begun after so many milliseconds is no longer wanted.") @Nullable
            Long ttl,

            @Nullable String text,
            @Nullable String template,
            @Nullable Object body,
            @Nullable String taskType,
            @Nullable Map<String, @Nullable Object> metadata,
            @Nullable String callbackUrl,
            @Nullable Boolean paused) {

        // written out, since javac forgets in compact form that the map's values may be null
        public Definition(
                @Nullable String cron,
                @Nullable String at,
                @Nullable String zone,
                @Nullable String missed,
                @Nullable Integer missedLimit,
                @Nullable String overlap,
                @Nullable String sessionId,
                @Nullable Integer priority,
                @Nullable Long ttl,
                @Nullable String text,
                @Nullable String template,
                @Nullable Object body,
                @Nullable String taskType,
                @Nullable Map<String, @Nullable Object> metadata,
                @Nullable String callbackUrl,
                @Nullable Boolean paused) {
            this.cron = cron;
            this.at = at;
            this.zone = zone;
            this.missed = missed;
            this.missedLimit = missedLimit;
            this.overlap = overlap;
            this.sessionId = sessionId;
            this.priority = priority;
            this.ttl = ttl;
            this.text = text;
            this.template = template;
            this.body = body;
            this.taskType = taskType;
            this.metadata = metadata;
            this.callbackUrl = callbackUrl;
            this.paused = paused;
        }
    }

    /** All schedules of a namespace. */
    @Schema(name = "Schedules")
    public record All(List<ScheduleView> schedules) {}
}
