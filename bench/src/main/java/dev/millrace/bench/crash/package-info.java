/**
 * What is left of Millrace's promises when processes are killed, stopped and cut off, a thing at a time and again and
 * again, while tasks are worked on. {@link dev.millrace.bench.crash.CrashRun} is where to start: it breaks something
 * ({@code FaultKind}), waits until all is well again, and has everything checked that docs/guarantees.md promises.
 */
@NullMarked
package dev.millrace.bench.crash;

import org.jspecify.annotations.NullMarked;
