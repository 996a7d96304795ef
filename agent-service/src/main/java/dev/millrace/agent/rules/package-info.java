/**
 * What follows from events of the environment: rules, and which of them takes an event. Pure: knows neither files nor
 * Kafka. Begin with {@link dev.millrace.agent.rules.RuleSet}.
 */
@NullMarked
package dev.millrace.agent.rules;

import org.jspecify.annotations.NullMarked;
