/**
 * What the smallest parts cost on the processor: a transition of the machine, the codec of events, rows of the stores.
 * Benchmarks of JMH, which {@code ./millrace bench micro} runs in JVMs of their own; all of them work on the records of
 * {@link dev.millrace.bench.micro.UsualTask}.
 */
@NullMarked
package dev.millrace.bench.micro;

import org.jspecify.annotations.NullMarked;
