package dev.millrace.llm.config;

import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.openai.OpenAiSettings;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What an operator may set for language models, under {@code millrace.llm.}. What is null here may still come from the
 * environment: see {@link LanguageModels#fromEnvironment}.
 *
 * @param provider which kind of model answers ({@code provider}); null = whatever the other settings and the
 *     environment suggest
 * @param openai the OpenAI-compatible endpoint ({@code openai.*})
 * @param scripted the scripted model ({@code scripted.*})
 * @param limits permits, retries and budgets of the dispatcher
 */
public record LlmSettings(
        @Nullable Provider provider, OpenAiSettings openai, Scripted scripted, DispatcherLimits limits) {

    /** Nothing set: the environment decides, and without it the scripted model with its own script answers. */
    public static final LlmSettings DEFAULTS =
            new LlmSettings(null, OpenAiSettings.DEFAULTS, Scripted.DEFAULTS, DispatcherLimits.DEFAULTS);

    /** The kinds of model. */
    public enum Provider {
        /** OpenAI, or anything that speaks its chat completions API. */
        OPENAI,
        /** The deterministic model that follows a script. */
        SCRIPTED
    }

    /**
     * The scripted model.
     *
     * @param script a YAML file ({@code scripted.script}); null = the script that comes with Millrace
     * @param callLog a file that gets one line per call ({@code scripted.call-log}); overrides the script's own {@code
     *     callLog}; null = no override
     */
    public record Scripted(@Nullable Path script, @Nullable Path callLog) {

        /** The script that comes with Millrace, no log of calls. */
        public static final Scripted DEFAULTS = new Scripted(null, null);
    }
}
