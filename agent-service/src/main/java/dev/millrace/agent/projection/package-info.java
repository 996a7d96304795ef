/**
 * The query side: a projection of the journal on local disk that answers what tasks there are and what happened to
 * them. It knows the journal only; nothing else feeds it and it feeds nothing. Start at {@link
 * dev.millrace.agent.projection.TaskProjection}; {@link dev.millrace.agent.projection.TaskRow} says what a task's view
 * is made of. No framework but Kafka Streams; see {@code docs/adr/0006-journal-projection.md}.
 */
@NullMarked
package dev.millrace.agent.projection;

import org.jspecify.annotations.NullMarked;
