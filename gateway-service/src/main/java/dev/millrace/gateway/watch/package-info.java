/** Folders of this machine whose changes are events. No HTTP, no Kafka. */
@NullMarked
package dev.millrace.gateway.watch;

import org.jspecify.annotations.NullMarked;
