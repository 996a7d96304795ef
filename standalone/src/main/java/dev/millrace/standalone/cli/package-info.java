/**
 * The commands that talk to a running Millrace over its HTTP API, and what they share: the client, the terminal and the
 * exit codes. Nothing here may start Quarkus or a broker, so that a command is done in a blink.
 */
@NullMarked
package dev.millrace.standalone.cli;

import org.jspecify.annotations.NullMarked;
