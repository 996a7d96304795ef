/**
 * Variables: those of the operator's environment that tools may read, and those that a conversation sets for itself.
 */
@NullMarked
package dev.millrace.tools.env;

import org.jspecify.annotations.NullMarked;
