/** A real Kafka broker inside this JVM, with its data on disk. */
@NullMarked
package dev.millrace.broker;

import org.jspecify.annotations.NullMarked;
