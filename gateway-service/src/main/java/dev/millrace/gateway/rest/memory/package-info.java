/** What agents remember, for people to read and to set right. */
@NullMarked
package dev.millrace.gateway.rest.memory;

import org.jspecify.annotations.NullMarked;
