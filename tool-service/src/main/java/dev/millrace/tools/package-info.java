/**
 * What a tool is, and how a call of one is carried out: {@link dev.millrace.tools.ToolExecutor} checks the arguments,
 * keeps the time and turns every outcome into a result that a model can read. The tools on files are in {@code files},
 * those on the network in {@code http}; the wiring is in {@code config}.
 */
@NullMarked
package dev.millrace.tools;

import org.jspecify.annotations.NullMarked;
