/** What an operator may set that is the same for every machine. */
@NullMarked
package dev.millrace.engine.config;

import org.jspecify.annotations.NullMarked;
