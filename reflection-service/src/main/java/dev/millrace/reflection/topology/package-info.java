/**
 * The shell of the memory machine: reads requests, lets {@code core} work out what follows, and writes documents,
 * replies and state in one transaction. Start with {@link dev.millrace.reflection.topology.MemoryTopology}.
 */
@NullMarked
package dev.millrace.reflection.topology;

import org.jspecify.annotations.NullMarked;
