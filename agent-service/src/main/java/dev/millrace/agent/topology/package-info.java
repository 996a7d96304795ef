/**
 * The shell around the task machine: a Kafka Streams topology that reads all lanes, keeps every task's state in stores,
 * and turns what the machine decides into records, in one transaction per commit (exactly once). It carries out and
 * counts; what a task does next is decided in {@code agent.core} alone. Start at
 * {@link dev.millrace.agent.topology.TaskTopology}.
 */
@NullMarked
package dev.millrace.agent.topology;

import org.jspecify.annotations.NullMarked;
