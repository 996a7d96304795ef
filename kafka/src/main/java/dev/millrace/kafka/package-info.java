/**
 * What every service does with Kafka in the same way: checking (or making) the topics at start, following a topic or
 * asking it single questions, and sending records that somebody waits for. Nothing here knows a service or a framework;
 * {@link dev.millrace.kafka.TopicSetup} and {@link dev.millrace.kafka.TopicFollower} are where to start.
 */
@NullMarked
package dev.millrace.kafka;

import org.jspecify.annotations.NullMarked;
