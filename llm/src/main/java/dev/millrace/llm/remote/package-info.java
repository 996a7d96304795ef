/**
 * Models behind an HTTP API: OpenAI and everything compatible, Anthropic, Google Gemini and Ollama, through LangChain4j.
 * Start at {@link dev.millrace.llm.remote.RemoteModel}. What is particular to one provider is in its {@code Wire}; what
 * is the same for all (sending, closing, time-outs, failures) is in {@code Exchange} and {@code Failures}.
 *
 * <p>LangChain4j is kept to what it is good at, the conversation and the reply in each provider's words. It gets its
 * HTTP client from here, one for each call, since only that lets an interrupt close the connection, keeps a refusal's
 * Retry-After, and lets tool schemas pass unchanged.
 */
@NullMarked
package dev.millrace.llm.remote;

import org.jspecify.annotations.NullMarked;
