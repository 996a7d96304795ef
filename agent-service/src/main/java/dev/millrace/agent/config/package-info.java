/**
 * Wires the agent service: configuration, start and stop, health and metrics. The only package with container
 * annotations beside {@code rest}.
 */
@NullMarked
package dev.millrace.agent.config;

import org.jspecify.annotations.NullMarked;
