/** The installation as a whole: draining, dead letters, and forgetting. */
@NullMarked
package dev.millrace.gateway.rest.system;

import org.jspecify.annotations.NullMarked;
