/**
 * Millrace from a Java program, over HTTP: {@link dev.millrace.client.Millrace#connect} is the way in. Needs the JDK
 * (17 or newer) and Jackson. What it answers with are the records of {@code dev.millrace.api}; what goes wrong is a
 * {@link dev.millrace.client.MillraceException}. Everything but a {@link dev.millrace.client.TaskFeed} may be used by
 * any thread.
 */
@NullMarked
package dev.millrace.client;

import org.jspecify.annotations.NullMarked;
