/** Agents for user interfaces that speak AG-UI: a run is a turn of a task. docs/agui.md. */
@NullMarked
package dev.millrace.gateway.rest.agui;

import org.jspecify.annotations.NullMarked;
