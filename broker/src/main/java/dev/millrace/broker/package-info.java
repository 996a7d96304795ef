/**
 * A real Kafka broker inside this JVM, with its data on disk: one node that is broker and controller. For {@code
 * standalone} and for tests; production brokers are somebody else's. Nothing here knows Millrace's topics. Start at
 * {@link dev.millrace.broker.EmbeddedBroker}.
 */
@NullMarked
package dev.millrace.broker;

import org.jspecify.annotations.NullMarked;
