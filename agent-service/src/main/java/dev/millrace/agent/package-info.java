/**
 * What the parts of the agent service share: the agents it knows and the tools they may use. The machine is in {@code
 * core}, what carries it out on Kafka Streams in {@code topology}, model calls in {@code thinker}, the query side in
 * {@code projection} and {@code rest}, and the wiring in {@code config}.
 */
@NullMarked
package dev.millrace.agent;

import org.jspecify.annotations.NullMarked;
