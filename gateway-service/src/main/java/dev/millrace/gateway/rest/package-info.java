/**
 * The HTTP API of Millrace, {@code /v1}: requests in, problems (RFC 9457) and server-sent events out. It turns HTTP
 * into events and answers, and knows no rule about tasks. {@link dev.millrace.gateway.rest.tasks.TasksResource} is
 * where to start.
 */
@NullMarked
package dev.millrace.gateway.rest;

import org.jspecify.annotations.NullMarked;
