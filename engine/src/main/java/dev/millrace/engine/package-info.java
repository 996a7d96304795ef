/**
 * What a machine on Kafka Streams has around its own rules, whatever these decide: how its topology runs, how it sends
 * records within a transaction, how it has model calls made and never makes a completed one again. Knows no task, no
 * memory and no container. Start with {@link dev.millrace.engine.MachineStreams} and
 * {@link dev.millrace.engine.OutstandingCalls}.
 */
@NullMarked
package dev.millrace.engine;

import org.jspecify.annotations.NullMarked;
