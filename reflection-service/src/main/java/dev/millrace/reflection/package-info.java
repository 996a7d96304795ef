/**
 * Memory and reflection: the machine that writes what is remembered, keyed by namespace. Start with {@link
 * dev.millrace.reflection.topology.MemoryTopology}; {@code core} holds its rules.
 */
@NullMarked
package dev.millrace.reflection;

import org.jspecify.annotations.NullMarked;
