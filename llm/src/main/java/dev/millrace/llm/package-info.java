/** Language models: the port, LangChain4j adapters, the scripted model, the dispatcher with permits. */
@NullMarked
package dev.millrace.llm;

import org.jspecify.annotations.NullMarked;
