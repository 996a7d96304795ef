/**
 * Load runs. A {@link dev.millrace.bench.Workload} says what is done and measured, {@link dev.millrace.bench.Bench}
 * runs it by name and writes down what came out, with the commit, the JDK and the machine. Each workload runs against
 * brokers of its own. No numbers are part of a test: those of a busy machine would be; the crash runs ({@code crash})
 * count what must not be.
 */
@NullMarked
package dev.millrace.bench;

import org.jspecify.annotations.NullMarked;
