/**
 * The gateway's side of Kafka: {@link dev.millrace.gateway.kafka.EventSender} puts events on their lanes, {@link
 * dev.millrace.gateway.kafka.JournalTail} reads the journal for those who listen. No framework, no HTTP.
 */
@NullMarked
package dev.millrace.gateway.kafka;

import org.jspecify.annotations.NullMarked;
