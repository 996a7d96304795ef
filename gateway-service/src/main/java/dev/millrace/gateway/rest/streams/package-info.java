/**
 * Events as they happen, as server-sent events. {@link dev.millrace.gateway.rest.streams.SsePump} is the one that
 * writes them.
 */
@NullMarked
package dev.millrace.gateway.rest.streams;

import org.jspecify.annotations.NullMarked;
