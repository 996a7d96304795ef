/**
 * When work is due that nobody asks for each time: definitions of schedules, their calendars, and which of them are
 * known now. Nothing here has a clock of its own or fires anything; {@code agent.topology} does.
 */
@NullMarked
package dev.millrace.agent.schedule;

import org.jspecify.annotations.NullMarked;
