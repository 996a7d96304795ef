/**
 * Which model answers: the operator's settings, and their meeting with the usual environment variables. Start at {@link
 * dev.millrace.llm.config.LanguageModels}.
 */
@NullMarked
package dev.millrace.llm.config;

import org.jspecify.annotations.NullMarked;
