/**
 * For tests only: a real broker for a test run, in this process or in a container, and what tests do with it. A test
 * class asks for it with {@link dev.millrace.testing.RequiresBroker} and gets a {@link
 * dev.millrace.testing.TestBroker} as a parameter; topics come per test from {@link
 * dev.millrace.testing.TestBroker#createTopics()}, so that tests share the broker and nothing else.
 * Whoever needs whole processes starts them as {@link dev.millrace.testing.ServiceProcess} and talks to their {@link
 * dev.millrace.testing.HttpApi}.
 */
@NullMarked
package dev.millrace.testing;

import org.jspecify.annotations.NullMarked;
