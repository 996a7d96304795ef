package dev.millrace.llm.config;

import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.Secret;
import dev.millrace.llm.SettingRules;
import dev.millrace.llm.rates.RateLimit;
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
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Makes the models that the settings and the environment ask for. */
public final class LanguageModels {

    /** The default model's name at its provider. */
    public static final String MILLRACE_MODEL = "MILLRACE_MODEL";

    /** The first character behind the visible ones of ASCII. */
    private static final char DELETE = 0x7f;

    /** What the default model is called if nobody gave it a name. */
    private static final String DEFAULT = "default";

    private static final String USUAL_DEFAULT = "balanced";

    private final LlmConfig config;
    private final Map<String, LlmConfig.Model> configured;
    private final Map<String, String> environment;

    private LanguageModels(LlmConfig config, Map<String, String> environment) {
        this.config = config;
        this.configured = new TreeMap<>(config.models());
        this.environment = environment;
    }

    /**
     * What the dispatcher may spend.
     *
     * @throws IllegalArgumentException if a value is no good; the message names the key
     */
    public static DispatcherLimits limits(LlmConfig config) {
        return new DispatcherLimits(
                config.maxConcurrentCalls(),
                config.maxAttempts(),
                config.callTimeout(),
                config.retryBackoff(),
                config.maxRetryBackoff());
    }

    /**
     * The limits of providers' keys, by the names of the keys.
     *
     * @throws IllegalArgumentException if a value is no good; the message names the key
     */
    public static Map<String, RateLimit> keys(LlmConfig config) {
        Map<String, RateLimit> keys = new TreeMap<>();
        config.keys()
                .forEach((name, key) -> keys.put(
                        name,
                        new RateLimit(
                                name,
                                key.maxRequests().orElse(null),
                                key.maxTokens().orElse(null),
                                key.window(),
                                key.margin())));
        return keys;
    }

    /**
     * The models to use, as one that knows them by their names. The default, for requests that name none, is
     *
     * <ol>
     *   <li>the one that {@code default} names;
     *   <li>else the scripted model, if the settings name a script for it;
     *   <li>else the one called {@code default}, else {@code balanced}, else the only one that is configured;
     *   <li>else, if none is configured, what the environment has a key or an endpoint for, in this order: OpenAI
     *   ({@code
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
    public static LanguageModel fromEnvironment(LlmConfig config, Map<String, String> environment) {
        limits(config); // a bad one is found at the start, too
        return new LanguageModels(config, environment).all();
    }

    private NamedModels all() {
        String defaultName = defaultName();
        Map<String, NamedModels.Named> models = new TreeMap<>();
        configured.forEach((name, model) -> models.put(name, named(name, model, name.equals(defaultName))));
        if (!models.containsKey(defaultName)) {
            Provider provider = providerOfEnvironment();
            models.put(
                    defaultName,
                    new NamedModels.Named(
                            provider == null
                                    ? scripted(
                                            config.scripted().script(),
                                            config.scripted().callLog())
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
        String chosen = config.defaultModel().orElse(null);
        if (chosen != null) {
            if (!configured.containsKey(chosen)) {
                throw SettingRules.violation("default", names(), "\"" + chosen + "\"");
            }
            return chosen;
        }
        boolean script = config.scripted().script().isPresent();
        if (script && configured.containsKey(DEFAULT)) {
            throw SettingRules.violation(
                    "default", names() + ", since scripted.script and models.default are both set up", "no value");
        }
        if (script || configured.isEmpty() || configured.containsKey(DEFAULT)) {
            return DEFAULT;
        }
        if (configured.containsKey(USUAL_DEFAULT)) {
            return USUAL_DEFAULT;
        }
        if (configured.size() == 1) {
            return configured.keySet().iterator().next();
        }
        throw SettingRules.violation("default", names(), "no value");
    }

    private String names() {
        return configured.isEmpty() ? "a name under models" : "one of " + String.join(", ", configured.keySet());
    }

    /** Limits of a key that no model uses are a slip of the pen, and the key that was meant has none. */
    private void checkKeys(Map<String, NamedModels.Named> models) {
        Set<String> used = new TreeSet<>();
        models.values().forEach(model -> {
            if (model.key() != null) {
                used.add(model.key());
            }
        });
        for (String name : keys(config).keySet()) {
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
        if (config.scripted().script().isEmpty()) {
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
        return new RemoteSettings(
                provider,
                baseUrl(provider),
                secret(provider.keyVariable()),
                provider.keyVariable(),
                Objects.requireNonNullElse(model, provider.model()),
                RemoteSettings.Timeouts.DEFAULTS,
                null,
                null);
    }

    private NamedModels.Named named(String name, LlmConfig.Model model, boolean isDefault) {
        String fallback = model.fallback().orElse(null);
        if (fallback != null && (fallback.equals(name) || !configured.containsKey(fallback))) {
            throw SettingRules.violation(
                    key(name, "fallback"), "the name of another model under models", "\"" + fallback + "\"");
        }
        Integer contextWindow = atLeastOne(name, "context-window", model.contextWindow());
        Provider provider = model.provider().remote();
        LanguageModel made = provider == null
                ? scripted(model.script(), model.callLog())
                : new RemoteModel(remote(name, provider, model, isDefault));
        return new NamedModels.Named(
                model.record().isPresent()
                        ? new RecordingModel(made, model.record().get())
                        : made,
                model.price().map(LanguageModels::price).orElse(null),
                fallback,
                keyOf(name, model),
                contextWindow);
    }

    private static Price price(LlmConfig.Price price) {
        return new Price(
                price.input(),
                price.output(),
                price.cachedInput().orElse(null),
                price.cacheWrite().orElse(null));
    }

    private static @Nullable Integer atLeastOne(String name, String key, Optional<Integer> value) {
        value.ifPresent(number -> SettingRules.atLeastOne(key(name, key), number));
        return value.orElse(null);
    }

    /** What the key of a model is called where limits are set. */
    private static @Nullable String keyOf(String name, LlmConfig.Model model) {
        if (model.key().isPresent()) {
            if (model.key().get().isBlank()) {
                throw SettingRules.violation(key(name, "key"), "the name of a key", "a blank text");
            }
            return model.key().get();
        }
        Provider provider = model.provider().remote();
        boolean usual = model.baseUrl().isEmpty()
                && model.apiKeyEnv().isEmpty()
                && model.apiKeyFile().isEmpty();
        return provider == null ? null : usual ? provider.wireName() : name;
    }

    private RemoteSettings remote(String name, Provider provider, LlmConfig.Model model, boolean isDefault) {
        RemoteSettings.Timeouts timeouts = new RemoteSettings.Timeouts(
                key(name, ""), model.connectTimeout(), model.firstTokenTimeout(), model.requestTimeout());
        URI url = model.baseUrl().orElse(null);
        if (url != null) {
            String problem = RemoteSettings.problemOf(url);
            if (problem != null) {
                throw SettingRules.violation(key(name, "base-url"), RemoteSettings.URL_WANTED, problem);
            }
        }
        if (model.model().isPresent() && model.model().get().isBlank()) {
            throw SettingRules.violation(key(name, "model"), "a name", "a blank text");
        }
        Integer maxOutputTokens = atLeastOne(name, "max-output-tokens", model.maxOutputTokens());
        Integer thinkingTokens = atLeastOne(name, "thinking-tokens", model.thinkingTokens());
        if (thinkingTokens != null && provider == Provider.OPENAI) {
            throw SettingRules.violation(
                    key(name, "thinking-tokens"), "nothing, since this API has no word for it", "a number");
        }
        String fromEnvironment = isDefault ? variable(MILLRACE_MODEL) : null;
        return new RemoteSettings(
                provider,
                url == null ? baseUrl(provider) : url,
                key(name, provider, model),
                keyName(name, provider, model),
                model.model().orElse(Objects.requireNonNullElse(fromEnvironment, provider.model())),
                timeouts,
                maxOutputTokens,
                thinkingTokens,
                model.contextWindow().orElse(null));
    }

    /** The key; null if the endpoint may do without. */
    private @Nullable Secret key(String name, Provider provider, LlmConfig.Model model) {
        if (model.apiKeyFile().isPresent()) {
            if (model.apiKeyEnv().isPresent()) {
                throw SettingRules.violation(key(name, "api-key-file"), "nothing beside api-key-env", "a file");
            }
            return secretIn(key(name, "api-key-file"), model.apiKeyFile().get());
        }
        if (model.apiKeyEnv().isPresent()) {
            Secret key = secret(model.apiKeyEnv().get());
            if (key == null) {
                throw SettingRules.violation(
                        key(name, "api-key-env"),
                        "a key in the environment variable " + model.apiKeyEnv().get(),
                        "none");
            }
            return key;
        }
        if (model.baseUrl().isPresent()) {
            return null; // the usual key is the provider's, and not for somebody else's endpoint
        }
        Secret key = secret(provider.keyVariable());
        if (key == null && provider.wantsKey() && variable(provider.urlVariable()) == null) {
            throw SettingRules.violation(
                    "models." + name,
                    "a key in " + provider.keyVariable() + ", in the variable that api-key-env names, or in the file "
                            + "api-key-file",
                    "none");
        }
        return key;
    }

    private static String keyName(String name, Provider provider, LlmConfig.Model model) {
        if (model.apiKeyFile().isPresent()) {
            return model.apiKeyFile().get() + " (" + SettingRules.PREFIX + key(name, "api-key-file") + ")";
        }
        return model.apiKeyEnv()
                .orElse(
                        model.baseUrl().isPresent()
                                ? SettingRules.PREFIX + key(name, "api-key-env")
                                : provider.keyVariable());
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
        return sendable(text, SettingRules.PREFIX + key + " (" + file + ")");
    }

    /** The key in this variable; {@code null} = there is none. */
    private @Nullable Secret secret(String variable) {
        String value = variable(variable);
        return value == null ? null : sendable(value, "the environment variable " + variable);
    }

    /**
     * A key that a header may hold. HTTP clients refuse any other one with a message that quotes it, and this one does
     * not.
     */
    private static Secret sendable(String value, String where) {
        if (!value.chars().allMatch(c -> c > ' ' && c < DELETE)) {
            throw new IllegalArgumentException(where
                    + ": expected a key of visible ASCII characters in one line, found others (a byte order mark, a"
                    + " blank, a second line or a character that was pasted with it)");
        }
        return new Secret(value);
    }

    private static String key(String name, String key) {
        return "models." + name + "." + key;
    }

    private static ScriptedModel scripted(Optional<Path> file, Optional<Path> callLog) {
        Script script = file.map(Script::load).orElseGet(Script::builtIn);
        return new ScriptedModel(script, callLog.orElse(script.callLog()));
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
