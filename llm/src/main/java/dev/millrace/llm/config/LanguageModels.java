package dev.millrace.llm.config;

import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.Secret;
import dev.millrace.llm.SettingRules;
import dev.millrace.llm.config.LlmSettings.NamedModel;
import dev.millrace.llm.remote.Provider;
import dev.millrace.llm.remote.RemoteModel;
import dev.millrace.llm.remote.RemoteSettings;
import dev.millrace.llm.scripted.InvalidScriptException;
import dev.millrace.llm.scripted.RecordingModel;
import dev.millrace.llm.scripted.Script;
import dev.millrace.llm.scripted.ScriptedModel;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Makes the models that the settings and the environment ask for. */
public final class LanguageModels {

    /** The default model's name at its provider. */
    public static final String MILLRACE_MODEL = "MILLRACE_MODEL";

    /** What the default model is called if nobody gave it a name. */
    private static final String DEFAULT = "default";

    private static final String USUAL_DEFAULT = "balanced";

    private final LlmSettings settings;
    private final Map<String, String> environment;

    private LanguageModels(LlmSettings settings, Map<String, String> environment) {
        this.settings = settings;
        this.environment = environment;
    }

    /**
     * The models to use, as one that knows them by their names. The default, for requests that name none, is
     *
     * <ol>
     *   <li>the one that {@code default} names;
     *   <li>else the scripted model, if the settings name a script for it;
     *   <li>else the one called {@code default}, else {@code balanced}, else the only one that is configured;
     *   <li>else, if none is configured, what the environment has a key or an endpoint for, in this order: OpenAI ({@code
     *       OPENAI_API_KEY} or {@code OPENAI_BASE_URL}), Anthropic ({@code ANTHROPIC_API_KEY}), Gemini ({@code
     *       GEMINI_API_KEY}), Ollama ({@code OLLAMA_BASE_URL}); with {@value #MILLRACE_MODEL};
     *   <li>else the scripted model, with its own script.
     * </ol>
     *
     * <p>A variable without text counts as absent. Nothing is connected to yet.
     *
     * @param environment as {@link System#getenv()} gives it
     * @throws IllegalArgumentException if a value is no good; the message names the key or variable
     * @throws InvalidScriptException if the script is no good
     */
    public static LanguageModel fromEnvironment(LlmSettings settings, Map<String, String> environment) {
        return new LanguageModels(settings, environment).all();
    }

    private NamedModels all() {
        String defaultName = defaultName();
        Map<String, NamedModels.Named> models = new TreeMap<>();
        settings.models().forEach((name, model) -> models.put(name, named(name, model, name.equals(defaultName))));
        if (!models.containsKey(defaultName)) {
            Provider provider = providerOfEnvironment();
            models.put(
                    defaultName,
                    new NamedModels.Named(
                            provider == null
                                    ? scripted(settings.scripted())
                                    : new RemoteModel(remote(provider, variable(MILLRACE_MODEL))),
                            null,
                            null,
                            provider == null ? null : provider.wireName(),
                            null));
        }
        checkKeys(models);
        return new NamedModels(models, defaultName);
    }

    private String defaultName() {
        String chosen = settings.defaultModel();
        if (chosen != null) {
            if (!settings.models().containsKey(chosen)) {
                throw SettingRules.violation("default", names(), "\"" + chosen + "\"");
            }
            return chosen;
        }
        boolean script = settings.scripted().script() != null;
        if (script && settings.models().containsKey(DEFAULT)) {
            throw SettingRules.violation(
                    "default", names() + ", since scripted.script and models.default are both set up", "no value");
        }
        if (script || settings.models().isEmpty() || settings.models().containsKey(DEFAULT)) {
            return DEFAULT;
        }
        if (settings.models().containsKey(USUAL_DEFAULT)) {
            return USUAL_DEFAULT;
        }
        if (settings.models().size() == 1) {
            return settings.models().keySet().iterator().next();
        }
        throw SettingRules.violation("default", names(), "no value");
    }

    private String names() {
        return settings.models().isEmpty()
                ? "a name under models"
                : "one of " + String.join(", ", settings.models().keySet());
    }

    /** Limits of a key that no model uses are a slip of the pen, and the key that was meant has none. */
    private void checkKeys(Map<String, NamedModels.Named> models) {
        Set<String> used = new TreeSet<>();
        models.values().forEach(model -> {
            if (model.key() != null) {
                used.add(model.key());
            }
        });
        for (String name : settings.keys().keySet()) {
            if (!used.contains(name)) {
                throw SettingRules.violation(
                        "keys." + name,
                        used.isEmpty()
                                ? "nothing, since no model that is set up is asked with a key"
                                : "the name of a key that a model is asked with, which are " + String.join(", ", used),
                        "limits for a key that none is asked with");
            }
        }
    }

    /** Who the environment has a key or an endpoint for; null if nobody, or if a script is to answer. */
    private @Nullable Provider providerOfEnvironment() {
        if (settings.scripted().script() == null) {
            for (Provider provider : Provider.values()) {
                boolean key = provider.wantsKey() && variable(provider.keyVariable()) != null;
                boolean endpoint = variable(provider.urlVariable()) != null;
                // for these two an endpoint alone is enough: many of them want no key
                if (key || (endpoint && (provider == Provider.OPENAI || provider == Provider.OLLAMA))) {
                    return provider;
                }
            }
        }
        return null;
    }

    private RemoteSettings remote(Provider provider, @Nullable String model) {
        RemoteSettings usual = RemoteSettings.of(provider, secret(variable(provider.keyVariable())));
        return new RemoteSettings(
                provider,
                baseUrl(provider),
                usual.apiKey(),
                usual.keyName(),
                model == null ? usual.model() : model,
                usual.timeouts(),
                null,
                null);
    }

    private NamedModels.Named named(String name, NamedModel model, boolean isDefault) {
        String fallback = model.fallback();
        if (fallback != null && (fallback.equals(name) || !settings.models().containsKey(fallback))) {
            throw SettingRules.violation(
                    key(name, "fallback"), "the name of another model under models", "\"" + fallback + "\"");
        }
        Integer contextWindow = model.budget().contextWindow();
        if (contextWindow != null) {
            SettingRules.atLeastOne(key(name, "context-window"), contextWindow);
        }
        Provider provider = provider(model.kind());
        LanguageModel made =
                provider == null ? scripted(model.script()) : new RemoteModel(remote(name, provider, model, isDefault));
        LanguageModel heard = model.recording() == null ? made : new RecordingModel(made, model.recording());
        return new NamedModels.Named(heard, model.price(), fallback, keyOf(name, model), contextWindow);
    }

    /** What the key of a model is called where limits are set. */
    private static @Nullable String keyOf(String name, NamedModel model) {
        LlmSettings.Endpoint endpoint = model.endpoint();
        if (endpoint.keyName() != null) {
            if (endpoint.keyName().isBlank()) {
                throw SettingRules.violation(key(name, "key"), "the name of a key", "a blank text");
            }
            return endpoint.keyName();
        }
        Provider provider = provider(model.kind());
        if (provider == null) {
            return null;
        }
        boolean usual = endpoint.baseUrl() == null && endpoint.apiKeyEnv() == null && endpoint.apiKeyFile() == null;
        return usual ? provider.wireName() : name;
    }

    /** Null for the scripted model. */
    private static @Nullable Provider provider(LlmSettings.Kind kind) {
        return switch (kind) {
            case OPENAI -> Provider.OPENAI;
            case ANTHROPIC -> Provider.ANTHROPIC;
            case GEMINI -> Provider.GEMINI;
            case OLLAMA -> Provider.OLLAMA;
            case SCRIPTED -> null;
        };
    }

    private RemoteSettings remote(String name, Provider provider, NamedModel model, boolean isDefault) {
        LlmSettings.Endpoint endpoint = model.endpoint();
        URI url = endpoint.baseUrl();
        if (url != null) {
            String problem = RemoteSettings.problemOf(url);
            if (problem != null) {
                throw SettingRules.violation(key(name, "base-url"), RemoteSettings.URL_WANTED, problem);
            }
        }
        if (endpoint.model() != null && endpoint.model().isBlank()) {
            throw SettingRules.violation(key(name, "model"), "a name", "a blank text");
        }
        if (model.budget().maxOutputTokens() != null) {
            SettingRules.atLeastOne(
                    key(name, "max-output-tokens"), model.budget().maxOutputTokens());
        }
        if (model.budget().thinkingTokens() != null) {
            SettingRules.atLeastOne(key(name, "thinking-tokens"), model.budget().thinkingTokens());
            if (provider == Provider.OPENAI) {
                throw SettingRules.violation(
                        key(name, "thinking-tokens"), "nothing, since this API has no word for it", "a number");
            }
        }
        String fromEnvironment = isDefault ? variable(MILLRACE_MODEL) : null;
        return new RemoteSettings(
                provider,
                url == null ? baseUrl(provider) : url,
                key(name, provider, endpoint),
                keyName(name, provider, endpoint),
                Objects.requireNonNullElse(
                        endpoint.model(), Objects.requireNonNullElse(fromEnvironment, provider.model())),
                model.timeouts(),
                model.budget().maxOutputTokens(),
                model.budget().thinkingTokens(),
                model.budget().contextWindow());
    }

    /** The key; null if the endpoint may do without. */
    private @Nullable Secret key(String name, Provider provider, LlmSettings.Endpoint endpoint) {
        if (endpoint.apiKeyFile() != null) {
            if (endpoint.apiKeyEnv() != null) {
                throw SettingRules.violation(key(name, "api-key-file"), "nothing beside api-key-env", "a file");
            }
            return secretIn(key(name, "api-key-file"), endpoint.apiKeyFile());
        }
        if (endpoint.apiKeyEnv() != null) {
            Secret key = secret(variable(endpoint.apiKeyEnv()));
            if (key == null) {
                throw SettingRules.violation(
                        key(name, "api-key-env"), "a key in the environment variable " + endpoint.apiKeyEnv(), "none");
            }
            return key;
        }
        if (endpoint.baseUrl() != null) {
            return null; // the usual key is the provider's, and not for somebody else's endpoint
        }
        Secret key = secret(variable(provider.keyVariable()));
        if (key == null && provider.wantsKey() && variable(provider.urlVariable()) == null) {
            throw SettingRules.violation(
                    "models." + name,
                    "a key in " + provider.keyVariable() + ", in the variable that api-key-env names, or in the file "
                            + "api-key-file",
                    "none");
        }
        return key;
    }

    private static String keyName(String name, Provider provider, LlmSettings.Endpoint endpoint) {
        if (endpoint.apiKeyFile() != null) {
            return endpoint.apiKeyFile() + " (" + SettingRules.PREFIX + key(name, "api-key-file") + ")";
        }
        if (endpoint.apiKeyEnv() != null) {
            return endpoint.apiKeyEnv();
        }
        return endpoint.baseUrl() == null ? provider.keyVariable() : SettingRules.PREFIX + key(name, "api-key-env");
    }

    private static Secret secretIn(String key, Path file) {
        String text;
        try {
            text = Files.readString(file).strip();
        } catch (IOException e) {
            throw SettingRules.violation(
                    key,
                    "a file with a key",
                    file + ", which cannot be read (" + e.getClass().getSimpleName() + ")");
        }
        if (text.isEmpty()) {
            throw SettingRules.violation(key, "a file with a key", file + ", which is empty");
        }
        return new Secret(text);
    }

    private static @Nullable Secret secret(@Nullable String value) {
        return value == null ? null : new Secret(value);
    }

    private static String key(String name, String key) {
        return "models." + name + "." + key;
    }

    private static ScriptedModel scripted(LlmSettings.Scripted settings) {
        Script script = settings.script() == null ? Script.builtIn() : Script.load(settings.script());
        return new ScriptedModel(script, settings.callLog() == null ? script.callLog() : settings.callLog());
    }

    /** The endpoint in the environment, else the provider's own. */
    private URI baseUrl(Provider provider) {
        String variable = provider.urlVariable();
        String url = variable(variable);
        if (url == null) {
            return provider.baseUrl();
        }
        URI parsed;
        try {
            parsed = new URI(url);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(
                    variable + ": expected " + RemoteSettings.URL_WANTED + ", found what is no URL", e);
        }
        String problem = RemoteSettings.problemOf(parsed);
        if (problem != null) {
            throw new IllegalArgumentException(
                    variable + ": expected " + RemoteSettings.URL_WANTED + ", found " + problem);
        }
        return parsed;
    }

    private @Nullable String variable(String name) {
        String value = environment.get(name);
        return value == null || value.isBlank() ? null : value.strip();
    }
}
