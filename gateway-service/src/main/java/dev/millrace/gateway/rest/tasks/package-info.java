/**
 * Tasks, the events that make them, and what people want of them: submitting, asking, deciding, and the one way
 * onto the lanes ({@link dev.millrace.gateway.rest.tasks.TaskIntake}).
 */
@NullMarked
package dev.millrace.gateway.rest.tasks;

import org.jspecify.annotations.NullMarked;
