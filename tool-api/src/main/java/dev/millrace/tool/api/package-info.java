/**
 * Java methods as tools of agents, for those who write them: {@link dev.millrace.tool.api.Tool} on a public method
 * makes it one, the schema that a model is shown follows from its parameters, and
 * {@link dev.millrace.tool.api.ToolContext} says on whose behalf it is called. Needs nothing but a JDK, 17 or newer.
 * The service that runs the tools has these types itself: they do not belong into the jar of the tools, and do no harm
 * there.
 */
@NullMarked
package dev.millrace.tool.api;

import org.jspecify.annotations.NullMarked;
