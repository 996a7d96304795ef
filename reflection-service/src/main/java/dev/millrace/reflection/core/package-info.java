/**
 * What memory is and what may be done to it: documents, their paths and limits, the memory tools. Pure: no clock, no
 * chance, no I/O, no framework. Start with {@link dev.millrace.reflection.core.MemoryTools}.
 */
@NullMarked
package dev.millrace.reflection.core;

import org.jspecify.annotations.NullMarked;
