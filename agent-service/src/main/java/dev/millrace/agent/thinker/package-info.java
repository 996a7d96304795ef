/**
 * Makes the model calls that the task machine asks for: builds the prompt from the transcript when a permit is free,
 * and puts the reply on a lane as an event. Runs on virtual threads, never on a stream thread.
 */
@NullMarked
package dev.millrace.agent.thinker;

import org.jspecify.annotations.NullMarked;
