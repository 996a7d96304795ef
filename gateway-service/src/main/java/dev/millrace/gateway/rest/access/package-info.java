/**
 * Who may do what over HTTP: each route says what it needs ({@link dev.millrace.gateway.rest.access.Needs}), one filter
 * asks for it, and what comes in a body is asked for by whoever reads it
 * ({@link dev.millrace.gateway.rest.access.Access}).
 */
@NullMarked
package dev.millrace.gateway.rest.access;

import org.jspecify.annotations.NullMarked;
