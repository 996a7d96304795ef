package dev.millrace.engine.config;

import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.config.LlmSettings;
import dev.millrace.llm.config.Price;
import dev.millrace.llm.rates.RateLimit;
import dev.millrace.llm.remote.RemoteSettings;
import java.util.Map;
import java.util.stream.Collectors;

/** The configuration of language models in the llm module's words. */
public final class ModelSettings {

    private ModelSettings() {}

    /** Fails with a message that names the key if a value is no good. */
    public static LlmSettings of(LlmConfig config) {
        return new LlmSettings(
                config.defaultModel().orElse(null),
                config.models().entrySet().stream()
                        .collect(Collectors.toMap(Map.Entry::getKey, e -> model(e.getKey(), e.getValue()))),
                new LlmSettings.Scripted(
                        config.scripted().script().orElse(null),
                        config.scripted().callLog().orElse(null)),
                new DispatcherLimits(
                        config.maxConcurrentCalls(),
                        config.maxAttempts(),
                        config.callTimeout(),
                        config.retryBackoff(),
                        config.maxRetryBackoff()),
                config.keys().entrySet().stream()
                        .collect(Collectors.toMap(Map.Entry::getKey, e -> limit(e.getKey(), e.getValue()))));
    }

    private static RateLimit limit(String name, LlmConfig.Key key) {
        return new RateLimit(
                name, key.maxRequests().orElse(null), key.maxTokens().orElse(null), key.window(), key.margin());
    }

    private static LlmSettings.NamedModel model(String name, LlmConfig.Model model) {
        return new LlmSettings.NamedModel(
                switch (model.provider()) {
                    case OPENAI -> LlmSettings.Kind.OPENAI;
                    case ANTHROPIC -> LlmSettings.Kind.ANTHROPIC;
                    case GEMINI -> LlmSettings.Kind.GEMINI;
                    case OLLAMA -> LlmSettings.Kind.OLLAMA;
                    case SCRIPTED -> LlmSettings.Kind.SCRIPTED;
                },
                new LlmSettings.Endpoint(
                        model.model().orElse(null),
                        model.baseUrl().orElse(null),
                        model.apiKeyEnv().orElse(null),
                        model.apiKeyFile().orElse(null),
                        model.key().orElse(null)),
                new RemoteSettings.Timeouts(
                        "models." + name + ".",
                        model.connectTimeout(),
                        model.firstTokenTimeout(),
                        model.requestTimeout()),
                new LlmSettings.Budget(
                        model.maxOutputTokens().orElse(null),
                        model.thinkingTokens().orElse(null),
                        model.contextWindow().orElse(null)),
                model.price().map(ModelSettings::price).orElse(null),
                model.fallback().orElse(null),
                new LlmSettings.Scripted(
                        model.script().orElse(null), model.callLog().orElse(null)),
                model.record().orElse(null));
    }

    private static Price price(LlmConfig.Price price) {
        return new Price(
                price.input(),
                price.output(),
                price.cachedInput().orElse(null),
                price.cacheWrite().orElse(null));
    }
}
