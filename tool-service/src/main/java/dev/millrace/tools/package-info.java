/** Runs the built-in tools. */
@NullMarked
package dev.millrace.tools;

import org.jspecify.annotations.NullMarked;
