/**
 * What the agent service tells OpenTelemetry: the work of tasks and their tool calls as the committed journal has them,
 * and model calls as the thinker makes them. Nothing here runs on a stream thread or in a transaction.
 */
@NullMarked
package dev.millrace.agent.telemetry;

import org.jspecify.annotations.NullMarked;
