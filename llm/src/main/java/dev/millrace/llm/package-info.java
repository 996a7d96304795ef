/**
 * Language models: the port {@link dev.millrace.llm.LanguageModel} with its request and reply, and {@link
 * dev.millrace.llm.ModelDispatcher}, which hands out permits and retries.
 *
 * <p>A plain library: no Kafka, no container, no knowledge of tasks or events. This package knows none of the packages
 * below it: {@code scripted} and {@code openai} are models, {@code config} picks the one that the settings ask for.
 */
@NullMarked
package dev.millrace.llm;

import org.jspecify.annotations.NullMarked;
