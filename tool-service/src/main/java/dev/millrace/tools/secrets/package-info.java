/**
 * Secrets that tools may use and models may not see: named in arguments, filled in on the way out, masked on the way
 * back.
 */
@NullMarked
package dev.millrace.tools.secrets;

import org.jspecify.annotations.NullMarked;
