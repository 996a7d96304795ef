/**
 * Whether a person has to agree before a tool call runs: the tool's own policy, narrowed or widened by the agent's,
 * with conditions on the call's arguments. What cannot be decided is asked. Knows neither Kafka nor the task machine's
 * state; start at {@link dev.millrace.agent.approval.Approvals}.
 */
@NullMarked
package dev.millrace.agent.approval;

import org.jspecify.annotations.NullMarked;
