/**
 * What the gateway asks, below {@code /internal/knowledge}: for services of this installation only. It may use JAX-RS
 * and CDI.
 */
@NullMarked
package dev.millrace.knowledge.rest;

import org.jspecify.annotations.NullMarked;
