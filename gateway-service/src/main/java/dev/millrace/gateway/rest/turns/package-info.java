/**
 * One turn of a task, from what somebody says to where the task ends or needs somebody: what the doors of other
 * people's protocols tell, each in its own words. A view of the journal and of live text; nothing is kept.
 */
@NullMarked
package dev.millrace.gateway.rest.turns;

import org.jspecify.annotations.NullMarked;
