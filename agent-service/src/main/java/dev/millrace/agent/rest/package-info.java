/**
 * The internal HTTP API of the query side, under {@code /internal}: what the gateway asks. It may use JAX-RS and CDI;
 * it decides nothing, {@link dev.millrace.agent.projection} does the work.
 */
@NullMarked
package dev.millrace.agent.rest;

import org.jspecify.annotations.NullMarked;
