/**
 * The task machine: what one task does next, decided by a pure function. {@link dev.millrace.agent.core.TaskFsm} takes
 * a {@link dev.millrace.agent.core.TaskState} and a {@link dev.millrace.agent.core.TaskEvent} and gives the next state
 * and the {@link dev.millrace.agent.core.Effect}s. Nothing here knows Kafka, JSON, a framework, the clock or chance: a
 * log of events can be replayed and ends in the same state, byte for byte. What carries it out is in
 * {@code agent.topology}.
 */
@NullMarked
package dev.millrace.agent.core;

import org.jspecify.annotations.NullMarked;
