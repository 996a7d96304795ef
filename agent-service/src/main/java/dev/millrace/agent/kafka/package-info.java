/**
 * Plain Kafka clients of the agent service beside its topology: the reader of {@code definitions} and the producer of
 * model replies.
 */
@NullMarked
package dev.millrace.agent.kafka;

import org.jspecify.annotations.NullMarked;
