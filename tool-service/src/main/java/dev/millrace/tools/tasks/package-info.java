/** Tools that look at tasks, of the caller's namespace only. They ask agent-service's query side over HTTP. */
@NullMarked
package dev.millrace.tools.tasks;

import org.jspecify.annotations.NullMarked;
