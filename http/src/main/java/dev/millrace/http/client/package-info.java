/**
 * How the other services ask agent-service about tasks: {@link dev.millrace.http.client.AgentClient}, over its private
 * routes below {@code /internal}. No framework.
 */
@NullMarked
package dev.millrace.http.client;

import org.jspecify.annotations.NullMarked;
