/**
 * Agents as files: reads {@code agents/<name>/AGENT.md}, follows a folder of them, and puts what it finds on the
 * definitions topic, from which every instance takes its agents. {@code docs/agents.md} is the reference of the format.
 * Start at {@link dev.millrace.agent.files.AgentFile} and {@link dev.millrace.agent.files.AgentFolder}.
 */
@NullMarked
package dev.millrace.agent.files;

import org.jspecify.annotations.NullMarked;
