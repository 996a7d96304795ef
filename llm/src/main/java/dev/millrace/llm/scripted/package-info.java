/**
 * A language model without a language model: it answers by a script, always the same way. Tests, demos and load runs
 * use it, and a fresh installation until it gets a key. {@code docs/scripted-model.md} describes the script; start at
 * {@link dev.millrace.llm.scripted.ScriptedModel}.
 *
 * <p>Nothing here draws a random number, and the clock is only read for the log of calls.
 */
@NullMarked
package dev.millrace.llm.scripted;

import org.jspecify.annotations.NullMarked;
