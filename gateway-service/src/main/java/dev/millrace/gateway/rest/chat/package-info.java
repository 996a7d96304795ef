/** Agents as if they were models of OpenAI's, for any client of that API. */
@NullMarked
package dev.millrace.gateway.rest.chat;

import org.jspecify.annotations.NullMarked;
