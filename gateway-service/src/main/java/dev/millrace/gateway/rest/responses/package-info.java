/** Agents as OpenAI's Responses have models: a response is a turn of a task. docs/openai.md. */
@NullMarked
package dev.millrace.gateway.rest.responses;

import org.jspecify.annotations.NullMarked;
