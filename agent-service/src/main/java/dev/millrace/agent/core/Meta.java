package dev.millrace.agent.core;

import java.time.Instant;

/**
 * What every event has.
 *
 * @param eventId the event's id; ids of what follows are derived from it
 * @param taskId the task it is for
 * @param time when it happened, as the event says; never the clock
 */
public record Meta(String eventId, String taskId, Instant time) {}
