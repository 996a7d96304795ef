/**
 * The door of every HTTP server of Millrace: which hosts it answers for and which web pages it listens to. {@link
 * dev.millrace.http.Doorkeeper} decides, {@link dev.millrace.http.Door} puts it in front of all routes. Knows no route
 * but those of static files.
 */
@NullMarked
package dev.millrace.http;

import org.jspecify.annotations.NullMarked;
