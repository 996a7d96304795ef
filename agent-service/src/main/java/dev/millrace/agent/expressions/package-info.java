/** Conditions that operators write: expressions that are true or false, bounded in what they cost. */
@NullMarked
package dev.millrace.agent.expressions;

import org.jspecify.annotations.NullMarked;
