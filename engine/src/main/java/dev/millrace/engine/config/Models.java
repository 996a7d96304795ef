package dev.millrace.engine.config;

import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.config.LanguageModels;
import dev.millrace.llm.config.LlmConfig;
import dev.millrace.llm.scripted.InvalidScriptException;
import io.quarkus.arc.DefaultBean;
import io.quarkus.runtime.configuration.ConfigurationException;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** The language models of a process, the same for every machine in it, unless one of them brings its own. */
public class Models {

    @Produces
    @DefaultBean
    @Singleton
    LanguageModel languageModel(LlmConfig config) {
        try {
            return LanguageModels.fromEnvironment(config, System.getenv());
        } catch (IllegalArgumentException | InvalidScriptException e) {
            // of this one Quarkus prints the message and no stack trace: it is for the operator, and says it all
            throw new ConfigurationException(e.getMessage());
        }
    }
}
