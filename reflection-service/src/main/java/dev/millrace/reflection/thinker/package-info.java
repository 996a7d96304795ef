/** Makes the model calls of reflections, on virtual threads, through the dispatcher that tasks use too. */
@NullMarked
package dev.millrace.reflection.thinker;

import org.jspecify.annotations.NullMarked;
