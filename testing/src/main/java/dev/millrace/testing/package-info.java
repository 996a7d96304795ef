/** For tests only: a real broker per test run, in this process or in a container. */
@NullMarked
package dev.millrace.testing;

import org.jspecify.annotations.NullMarked;
