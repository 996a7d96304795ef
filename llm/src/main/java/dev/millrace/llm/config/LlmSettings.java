package dev.millrace.llm.config;

import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.rates.RateLimit;
import dev.millrace.llm.remote.RemoteSettings;
import java.net.URI;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What an operator may set for language models, under {@code millrace.llm.}. What is absent here may still come from the
 * environment: see {@link LanguageModels#fromEnvironment}.
 *
 * @param defaultModel the name of the model for requests that name none ({@code default}); null = see there
 * @param models models by the name that agents use ({@code models.<name>.*})
 * @param scripted the scripted model as the default ({@code scripted.*})
 * @param limits permits, retries and budgets of the dispatcher
 * @param keys limits of keys by what the keys are called ({@code keys.<name>.*})
 */
public record LlmSettings(
        @Nullable String defaultModel,
        Map<String, NamedModel> models,
        Scripted scripted,
        DispatcherLimits limits,
        Map<String, RateLimit> keys) {

    /** Nothing set: the environment decides, and without it the scripted model with its own script answers. */
    public static final LlmSettings DEFAULTS =
            new LlmSettings(null, Map.of(), Scripted.DEFAULTS, DispatcherLimits.DEFAULTS);

    /** Settings without limits on keys. */
    public LlmSettings(
            @Nullable String defaultModel, Map<String, NamedModel> models, Scripted scripted, DispatcherLimits limits) {
        this(defaultModel, models, scripted, limits, Map.of());
    }

    public LlmSettings {
        models = Collections.unmodifiableMap(new TreeMap<>(models));
        keys = Collections.unmodifiableMap(new TreeMap<>(keys));
    }

    /** The kinds of model. */
    public enum Kind {
        /** OpenAI, or anything that speaks its chat completions API. */
        OPENAI,
        /** Anthropic. */
        ANTHROPIC,
        /** Google Gemini. */
        GEMINI,
        /** Ollama's own API. */
        OLLAMA,
        /** The deterministic model that follows a script. */
        SCRIPTED
    }

    /**
     * One model.
     *
     * @param kind who answers ({@code provider})
     * @param endpoint where and with which key; for the scripted model nothing of it counts but the name of the key
     * @param timeouts how long to wait for what
     * @param budget how much it may say and think
     * @param price what it costs; null = unknown
     * @param fallback the name of the model that is asked when this one fails for good ({@code fallback}); null = none
     * @param script for the scripted model
     * @param recording a file that gets what is asked and answered, as a script ({@code record}); null = none
     */
    public record NamedModel(
            Kind kind,
            Endpoint endpoint,
            RemoteSettings.Timeouts timeouts,
            Budget budget,
            @Nullable Price price,
            @Nullable String fallback,
            Scripted script,
            @Nullable Path recording) {}

    /**
     * Where a model is.
     *
     * @param model its name there ({@code model}); null = MILLRACE_MODEL for the default model, else the provider's usual
     *     one
     * @param baseUrl {@code base-url}; null = the provider's variable, else the provider itself
     * @param apiKeyEnv the environment variable with the key ({@code api-key-env}); null = the provider's usual one, and
     *     none if there is a base URL
     * @param apiKeyFile a file with the key ({@code api-key-file}); null = none
     * @param keyName what the key is called where its limits are set ({@code key}), the scripted model's too; null = the
     *     provider's name for its usual key, and the model's own name for any other
     */
    public record Endpoint(
            @Nullable String model,
            @Nullable URI baseUrl,
            @Nullable String apiKeyEnv,
            @Nullable Path apiKeyFile,
            @Nullable String keyName) {

        /** The provider's own, with its usual key. */
        public static final Endpoint DEFAULTS = new Endpoint(null, null, null, null);

        /** An endpoint whose key has no name of its own. */
        public Endpoint(
                @Nullable String model, @Nullable URI baseUrl, @Nullable String apiKeyEnv, @Nullable Path apiKeyFile) {
            this(model, baseUrl, apiKeyEnv, apiKeyFile, null);
        }
    }

    /**
     * How much a model may produce.
     *
     * @param maxOutputTokens for requests that name no limit ({@code max-output-tokens}); null = the provider's own
     * @param thinkingTokens {@code thinking-tokens}; null = as the provider likes
     * @param contextWindow how much it takes, request and reply together ({@code context-window}); null = as its maker says
     */
    public record Budget(
            @Nullable Integer maxOutputTokens,
            @Nullable Integer thinkingTokens,
            @Nullable Integer contextWindow) {

        /** As the provider likes. */
        public static final Budget DEFAULTS = new Budget(null, null, null);
    }

    /**
     * The scripted model.
     *
     * @param script a YAML file ({@code script}); null = the script that comes with Millrace
     * @param callLog a file that gets one line per call ({@code call-log}); overrides the script's own {@code callLog};
     *     null = no override
     */
    public record Scripted(@Nullable Path script, @Nullable Path callLog) {

        /** The script that comes with Millrace, no log of calls. */
        public static final Scripted DEFAULTS = new Scripted(null, null);
    }
}
