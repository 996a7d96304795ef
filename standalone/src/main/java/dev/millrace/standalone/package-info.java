/**
 * One process: broker, all services, command line. {@link dev.millrace.standalone.Main} hands the arguments to a
 * command; only {@code up} starts Quarkus and the broker, in that order of importance: the broker first, since every
 * service needs it. The commands that talk to a running Millrace are in {@code cli}.
 */
@NullMarked
package dev.millrace.standalone;

import org.jspecify.annotations.NullMarked;
