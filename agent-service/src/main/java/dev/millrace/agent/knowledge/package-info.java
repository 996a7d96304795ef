/**
 * Documents for prompts, as the knowledge service finds them. It may use HTTP, and knows no Kafka and no container.
 */
@NullMarked
package dev.millrace.agent.knowledge;

import org.jspecify.annotations.NullMarked;
