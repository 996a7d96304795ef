/**
 * Knowledge on its topic: keys and values of its records, the one way of writing them
 * ({@link dev.millrace.knowledge.kafka.KnowledgeWriter}), and what makes the index follow
 * ({@link dev.millrace.knowledge.kafka.KnowledgeFollower}).
 */
@NullMarked
package dev.millrace.knowledge.kafka;

import org.jspecify.annotations.NullMarked;
