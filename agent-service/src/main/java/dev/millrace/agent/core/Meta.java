package dev.millrace.agent.core;

import java.time.Instant;

/**
 * What every event has.
 *
 * @param eventId the event's id; ids of what follows are derived from it
 * @param taskId the task it is for
 * @param time when it happened, as the event says; decides nothing, since anyone may say anything
 * @param nowMs the clock of the shell when it took the event, in Unix milliseconds; deadlines are reckoned from it
 */
public record Meta(String eventId, String taskId, Instant time, long nowMs) {}
