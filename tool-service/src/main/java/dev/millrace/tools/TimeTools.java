package dev.millrace.tools;

import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolException;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Size;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** Tools about time. */
public final class TimeTools {

    /** A call holds a permit of the service while it lasts, so it is short. */
    static final int MAX_SECONDS = 60;

    private final Clock clock;

    public TimeTools(Clock clock) {
        this.clock = clock;
    }

    /** The time, with its offset, and the zone that was asked for. */
    record Now(String time, String timezone) {}

    /** It is over. */
    record Slept(double sleptSeconds) {}

    @Tool(
            name = "current_time",
            value = "Tells the current date and time, in UTC or in a time zone.",
            sideEffects = SideEffects.READ_ONLY,
            timeoutMs = 5_000)
    Now currentTime(
            @Param("IANA time zone such as Europe/Vienna. Absent = UTC.")
                    Optional<@Size(min = 1, max = 64) String> timezone)
            throws ToolException {
        String name = timezone.orElse("UTC");
        try {
            ZonedDateTime now = clock.instant().atZone(ZoneId.of(name)).truncatedTo(ChronoUnit.SECONDS);
            return new Now(DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(now), name);
        } catch (DateTimeException e) {
            throw new ToolException(
                    "unknown_timezone",
                    "timezone: expected an IANA name such as Europe/Vienna, found \"" + name + "\"");
        }
    }

    @Tool(
            value = "Waits, for up to a minute.",
            sideEffects = SideEffects.READ_ONLY,
            timeoutMs = (MAX_SECONDS + 5) * 1_000)
    Slept sleep(@Param("Seconds, up to " + MAX_SECONDS + ".") @Min(0) @Max(MAX_SECONDS) double duration)
            throws InterruptedException {
        Thread.sleep(Duration.ofNanos((long) (duration * 1e9)));
        return new Slept(duration);
    }
}
