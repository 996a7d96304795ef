package dev.millrace.agent.topology;

import org.jspecify.annotations.Nullable;

/**
 * How far a schedule is.
 *
 * @param changedAtMs which version of it this is about, in Unix milliseconds
 * @param lastMs the last of its moments that is done with, in Unix milliseconds
 * @param lastEventId the id of the last event that was fired; {@code null} = none was
 * @param lastFiredMs when that was, in Unix milliseconds; 0 = never
 */
record ScheduleRow(long changedAtMs, long lastMs, @Nullable String lastEventId, long lastFiredMs) {}
