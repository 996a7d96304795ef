package dev.millrace.llm.config;

import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.Secret;
import dev.millrace.llm.SettingRules;
import dev.millrace.llm.openai.OpenAiModel;
import dev.millrace.llm.openai.OpenAiSettings;
import dev.millrace.llm.scripted.InvalidScriptException;
import dev.millrace.llm.scripted.Script;
import dev.millrace.llm.scripted.ScriptedModel;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes the model that the settings and the environment ask for. */
public final class LanguageModels {

    /** The key; its presence selects the OpenAI-compatible endpoint. */
    public static final String OPENAI_API_KEY = "OPENAI_API_KEY";

    /** The endpoint; its presence selects the OpenAI-compatible endpoint, with or without a key. */
    public static final String OPENAI_BASE_URL = "OPENAI_BASE_URL";

    /** The model's name at the endpoint. */
    public static final String MILLRACE_MODEL = "MILLRACE_MODEL";

    private LanguageModels() {}

    /**
     * The model to use: what the settings say, and where they say nothing, what the environment suggests.
     *
     * <ol>
     *   <li>{@code provider}, if set, decides.
     *   <li>A script in the settings means the scripted model; a base URL or key in the settings means the endpoint.
     *   <li>{@value #OPENAI_API_KEY} or {@value #OPENAI_BASE_URL} in the environment means the endpoint.
     *   <li>Otherwise the scripted model answers, by its own script.
     * </ol>
     *
     * <p>A variable without text counts as absent. Nothing is connected to yet.
     *
     * @param environment as {@link System#getenv()} gives it
     * @throws IllegalArgumentException if a value is no good; the message names the key or variable
     * @throws InvalidScriptException if the script is no good
     */
    public static LanguageModel fromEnvironment(LlmSettings settings, Map<String, String> environment) {
        OpenAiSettings openai = withEnvironment(settings.openai(), environment);
        return switch (provider(settings, openai)) {
            case OPENAI -> {
                if (openai.apiKey() == null && openai.baseUrl() == null) {
                    throw SettingRules.violation(
                            "provider",
                            "a key in " + OPENAI_API_KEY + ", or an endpoint without one in " + OPENAI_BASE_URL
                                    + ", for \"openai\"",
                            "neither");
                }
                yield new OpenAiModel(openai);
            }
            case SCRIPTED -> scripted(settings.scripted());
        };
    }

    private static LlmSettings.Provider provider(LlmSettings settings, OpenAiSettings openai) {
        if (settings.provider() != null) {
            return settings.provider();
        }
        boolean script = settings.scripted().script() != null;
        boolean endpoint =
                settings.openai().baseUrl() != null || settings.openai().apiKey() != null;
        if (script && endpoint) {
            throw SettingRules.violation("provider", "\"openai\" or \"scripted\", since both are set up", "no value");
        }
        if (script) {
            return LlmSettings.Provider.SCRIPTED;
        }
        return openai.baseUrl() != null || openai.apiKey() != null
                ? LlmSettings.Provider.OPENAI
                : LlmSettings.Provider.SCRIPTED;
    }

    private static ScriptedModel scripted(LlmSettings.Scripted settings) {
        Script script = settings.script() == null ? Script.builtIn() : Script.load(settings.script());
        return new ScriptedModel(script, settings.callLog() == null ? script.callLog() : settings.callLog());
    }

    private static OpenAiSettings withEnvironment(OpenAiSettings settings, Map<String, String> environment) {
        String key = variable(environment, OPENAI_API_KEY);
        return new OpenAiSettings(
                settings.baseUrl() != null ? settings.baseUrl() : baseUrl(environment),
                settings.apiKey() != null ? settings.apiKey() : key == null ? null : new Secret(key),
                settings.model() != null ? settings.model() : variable(environment, MILLRACE_MODEL),
                settings.connectTimeout(),
                settings.requestTimeout());
    }

    private static @Nullable URI baseUrl(Map<String, String> environment) {
        String url = variable(environment, OPENAI_BASE_URL);
        if (url == null) {
            return null;
        }
        URI parsed;
        try {
            parsed = new URI(url);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(
                    OPENAI_BASE_URL + ": expected " + OpenAiSettings.URL_WANTED + ", found what is no URL", e);
        }
        String problem = OpenAiSettings.problemOf(parsed);
        if (problem != null) {
            throw new IllegalArgumentException(
                    OPENAI_BASE_URL + ": expected " + OpenAiSettings.URL_WANTED + ", found " + problem);
        }
        return parsed;
    }

    private static @Nullable String variable(Map<String, String> environment, String name) {
        String value = environment.get(name);
        return value == null || value.isBlank() ? null : value.strip();
    }
}
