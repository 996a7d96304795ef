/**
 * Language models: the port {@link dev.millrace.llm.LanguageModel} with its request and reply, the dispatcher that hands
 * out permits and retries, the scripted model, and the adapter for OpenAI-compatible endpoints.
 *
 * <p>A plain library: no Kafka, no container, no knowledge of tasks or events. LangChain4j's types stay behind the
 * adapter. Start at {@link dev.millrace.llm.ModelDispatcher}; {@code LanguageModels} makes the model
 * that the settings ask for.
 */
@NullMarked
package dev.millrace.llm;

import org.jspecify.annotations.NullMarked;
