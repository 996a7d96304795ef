/**
 * What every service does with Kafka in the same way: checking (or making) the topics at start, and putting aside a
 * record that it could not use. Nothing here knows a service or a framework; {@link
 * dev.millrace.schemas.kafka.TopicSetup} is where to start.
 */
@NullMarked
package dev.millrace.schemas.kafka;

import org.jspecify.annotations.NullMarked;
