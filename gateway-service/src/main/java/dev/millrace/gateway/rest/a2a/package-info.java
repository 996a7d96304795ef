/** Agents for clients that speak A2A: a task there is a task here. docs/a2a.md. */
@NullMarked
package dev.millrace.gateway.rest.a2a;

import org.jspecify.annotations.NullMarked;
