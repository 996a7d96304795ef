/**
 * Models behind an HTTP API: OpenAI and everything compatible, Anthropic, Google Gemini and Ollama. Start at {@link
 * dev.millrace.llm.remote.RemoteModel}. What is particular to one provider is in its {@code Wire}: the body of a
 * request, and how a reply is read. What is the same for all (sending, streaming, closing, time-outs, failures) is in
 * {@code Exchange} and {@code ProviderFailures}.
 */
@NullMarked
package dev.millrace.llm.remote;

import org.jspecify.annotations.NullMarked;
