/**
 * Tools on the network. Every address is looked at by {@link dev.millrace.http.guarded.GuardedHttp} at the moment when
 * the connection is made, for the first request as for each redirect.
 */
@NullMarked
package dev.millrace.tools.http;

import org.jspecify.annotations.NullMarked;
