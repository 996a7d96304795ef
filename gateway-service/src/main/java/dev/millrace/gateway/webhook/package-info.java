/** Webhooks of other systems: whether one is from whom it says, and which event it becomes. No HTTP, no Kafka. */
@NullMarked
package dev.millrace.gateway.webhook;

import org.jspecify.annotations.NullMarked;
