/**
 * Tests of agents and tools in milliseconds: {@link dev.millrace.testkit.TestMillrace} is the task machine that runs in
 * production, on Kafka Streams' test driver in place of a broker, with a model that is scripted and tools that the
 * test plays. Nothing in it has a thread or a clock of its own: time passes when the test says so. {@link
 * dev.millrace.testkit.MillraceTest} gives one to each test method of JUnit.
 */
@NullMarked
package dev.millrace.testkit;

import org.jspecify.annotations.NullMarked;
