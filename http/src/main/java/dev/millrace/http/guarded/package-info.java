/**
 * The HTTP client for addresses that others choose: what it connects to is looked at first, and no answer is read
 * without end. No framework, and nothing of tools.
 */
@NullMarked
package dev.millrace.http.guarded;

import org.jspecify.annotations.NullMarked;
