/**
 * The adapter for OpenAI and everything that speaks its chat completions API. The only package that knows LangChain4j;
 * none of its types leaves it. Start at {@link dev.millrace.llm.openai.OpenAiModel}.
 */
@NullMarked
package dev.millrace.llm.openai;

import org.jspecify.annotations.NullMarked;
