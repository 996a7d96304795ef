/**
 * Requests and tokens per minute: what a limit is, and the window in which claims are counted. Decides from what it is
 * told alone; who tells it, in which order, is the business of a service.
 */
@NullMarked
package dev.millrace.llm.rates;

import org.jspecify.annotations.NullMarked;
