/** Moves an installation to other topics, other partitions or another cluster, by way of a file. */
@NullMarked
package dev.millrace.standalone.transfer;

import org.jspecify.annotations.NullMarked;
