/** The task machine, its Kafka Streams shell, the thinker and the query side. */
@NullMarked
package dev.millrace.agent;

import org.jspecify.annotations.NullMarked;
