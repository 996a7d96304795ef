package dev.millrace.llm.remote;

import java.net.URI;
import java.util.Locale;

/** Who can be asked, and what is usual there. */
public enum Provider {
    /** OpenAI, or anything that speaks its chat completions API. */
    OPENAI("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1", "gpt-4o-mini"),
    /** Anthropic's messages API. */
    ANTHROPIC("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com/v1", "claude-sonnet-4-5"),
    /** Google's Gemini API. */
    GEMINI("GEMINI_API_KEY", "GEMINI_BASE_URL", "https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-flash"),
    /** Ollama's own API. */
    OLLAMA("OLLAMA_API_KEY", "OLLAMA_BASE_URL", "http://127.0.0.1:11434", "llama3.2");

    private final String keyVariable;
    private final String urlVariable;
    private final URI baseUrl;
    private final String model;

    Provider(String keyVariable, String urlVariable, String baseUrl, String model) {
        this.keyVariable = keyVariable;
        this.urlVariable = urlVariable;
        this.baseUrl = URI.create(baseUrl);
        this.model = model;
    }

    /** The environment variable that usually holds the key. */
    public String keyVariable() {
        return keyVariable;
    }

    /** The environment variable that usually holds the endpoint. */
    public String urlVariable() {
        return urlVariable;
    }

    /** Where the provider is, unless somebody says otherwise. */
    public URI baseUrl() {
        return baseUrl;
    }

    /** The model that is asked, unless somebody names one. */
    public String model() {
        return model;
    }

    /** Whether its own endpoint takes nobody without a key. */
    public boolean wantsKey() {
        return this != OLLAMA;
    }

    /** The name in settings, lower case. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    Wire wire() {
        return switch (this) {
            case OPENAI -> new OpenAiWire();
            case ANTHROPIC -> new AnthropicWire();
            case GEMINI -> new GeminiWire();
            case OLLAMA -> new OllamaWire();
        };
    }
}
