/**
 * Load runs. A {@link dev.millrace.bench.Workload} says what is done and measured, {@link dev.millrace.bench.Bench} runs it by
 * name and writes down what came out, with the commit, the JDK and the machine. Each workload runs against a broker of its
 * own in this process. Nothing here is part of a test: numbers of a busy machine would be.
 */
@NullMarked
package dev.millrace.bench;

import org.jspecify.annotations.NullMarked;
