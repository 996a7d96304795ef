package dev.millrace.agent.config;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Which language model answers, and how much may be spent. Without any of it the environment decides: {@code
 * OPENAI_API_KEY} or {@code OPENAI_BASE_URL} selects that endpoint (with {@code MILLRACE_MODEL}), else the scripted model
 * answers.
 */
@ConfigMapping(prefix = "millrace.llm")
public interface LlmConfig {

    /** {@code openai} (or anything that speaks its API) or {@code scripted}. Absent = whatever else is set suggests. */
    Optional<Provider> provider();

    /** Model calls that may run at the same time in this instance. At least 1 (F-103). */
    @WithDefault("3")
    int maxConcurrentCalls();

    /** How often one call may ask the model. At least 1. */
    @WithDefault("4")
    int maxAttempts();

    /** The budget of one call from its permit to its outcome, pauses between attempts included. */
    @WithDefault("3m")
    Duration callTimeout();

    /** The pause after the first failed attempt; it doubles with each further one. */
    @WithDefault("500ms")
    Duration retryBackoff();

    /** The longest such pause; a provider's Retry-After may exceed it. */
    @WithDefault("20s")
    Duration maxRetryBackoff();

    /** The OpenAI-compatible endpoint. */
    OpenAi openai();

    /** The scripted model. */
    Scripted scripted();

    /** Kinds of model. */
    enum Provider {
        /** OpenAI, or anything that speaks its chat completions API. */
        OPENAI,
        /** The deterministic model that follows a script. */
        SCRIPTED
    }

    /** The OpenAI-compatible endpoint. */
    interface OpenAi {

        /** Up to and including the version. Absent = OPENAI_BASE_URL, else OpenAI itself. */
        Optional<URI> baseUrl();

        /** Absent = OPENAI_API_KEY, else none is sent. From the environment or a secret file only. */
        Optional<String> apiKey();

        /** The default model's name there. Absent = MILLRACE_MODEL, else the adapter's default. */
        Optional<String> model();

        /** For the connection. */
        @WithDefault("10s")
        Duration connectTimeout();

        /** For one attempt from request to whole reply. */
        @WithDefault("2m")
        Duration requestTimeout();
    }

    /** The scripted model. */
    interface Scripted {

        /** A YAML file, see {@code docs/scripted-model.md}. Absent = the script that comes with Millrace. */
        Optional<Path> script();

        /** A file that gets one line per call. Absent = what the script says. */
        Optional<Path> callLog();
    }
}
