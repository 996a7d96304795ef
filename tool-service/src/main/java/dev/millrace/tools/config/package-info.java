/**
 * Wires the tool service: configuration, start and stop, health and metrics. The only package with container
 * annotations.
 */
@NullMarked
package dev.millrace.tools.config;

import org.jspecify.annotations.NullMarked;
