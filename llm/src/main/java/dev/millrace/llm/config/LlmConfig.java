package dev.millrace.llm.config;

import dev.millrace.llm.remote.Provider;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import io.smallrye.config.WithName;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which language models answer, and how much may be spent. Without any of it the environment decides: the key or
 * endpoint of a provider ({@code OPENAI_API_KEY}, {@code OPENAI_BASE_URL}, {@code ANTHROPIC_API_KEY},
 * {@code GEMINI_API_KEY}, {@code OLLAMA_BASE_URL}) selects it (with {@code MILLRACE_MODEL}), else the scripted model
 * answers.
 */
@ConfigMapping(prefix = "millrace.llm")
public interface LlmConfig {

    /** The name of the model for agents that name none. Absent = {@code default}, {@code balanced}, or the only one. */
    @WithName("default")
    Optional<String> defaultModel();

    /** Models by the name that agents use, such as fast, balanced and powerful; see {@code docs/models.md}. */
    Map<String, Model> models();

    /** Limits of providers' keys, by the names of the keys; see {@code docs/models.md}. */
    Map<String, Key> keys();

    /** Model calls that may run at the same time in this instance. At least 1. */
    @WithDefault("3")
    int maxConcurrentCalls();

    /** How often one call may ask a model. At least 1. */
    @WithDefault("4")
    int maxAttempts();

    /** The budget of one call from its permit to its outcome, pauses between attempts and the fallback included. */
    @WithDefault("3m")
    Duration callTimeout();

    /** The pause after the first failed attempt; it doubles with each further one. */
    @WithDefault("500ms")
    Duration retryBackoff();

    /** The longest such pause; a provider's Retry-After may exceed it. */
    @WithDefault("20s")
    Duration maxRetryBackoff();

    /** The scripted model as the default. */
    Scripted scripted();

    /** Kinds of model. */
    enum Kind {
        /** OpenAI, or anything that speaks its chat completions API. */
        OPENAI(Provider.OPENAI),
        /** Anthropic. */
        ANTHROPIC(Provider.ANTHROPIC),
        /** Google Gemini. */
        GEMINI(Provider.GEMINI),
        /** Ollama's own API. */
        OLLAMA(Provider.OLLAMA),
        /** The deterministic model that follows a script. */
        SCRIPTED(null);

        private final @Nullable Provider remote;

        Kind(@Nullable Provider remote) {
            this.remote = remote;
        }

        /** Who is asked over HTTP; null if nobody. */
        @Nullable
        Provider remote() {
            return remote;
        }
    }

    /** What may be asked with one key of a provider, by all instances together. */
    interface Key {

        /** Requests in any window. Absent = any number. */
        Optional<Integer> maxRequests();

        /** Tokens in any window, input and output. Absent = any number. */
        Optional<Long> maxTokens();

        /** The time that the limits are for; it slides. */
        @WithDefault("1m")
        Duration window();

        /**
         * How much later than its permission a request may reach the provider; so much longer than the window it
         * counts.
         */
        @WithDefault("2s")
        Duration margin();
    }

    /** One model. */
    interface Model {

        /**
         * {@code openai} (or anything that speaks its API), {@code anthropic}, {@code gemini}, {@code ollama} or
         * {@code scripted}.
         */
        Kind provider();

        /** Its name there. Absent = the provider's usual one; for the default model MILLRACE_MODEL first. */
        Optional<String> model();

        /**
         * The endpoint, up to and including the version. Absent = the provider's variable, else the provider itself.
         */
        Optional<URI> baseUrl();

        /**
         * The environment variable that holds the key. Absent = the provider's usual one, and no key if there is a base
         * URL.
         */
        Optional<String> apiKeyEnv();

        /** A file that holds the key and nothing else. */
        Optional<Path> apiKeyFile();

        /**
         * What its key is called under {@code keys}; models that share a key share its limits. Absent = {@code openai},
         * {@code anthropic}, {@code gemini} or {@code ollama} for that provider's usual key, the model's own name for
         * any other.
         */
        Optional<String> key();

        /** For the connection. */
        @WithDefault("10s")
        Duration connectTimeout();

        /** From the request to the first piece of a streamed reply. */
        @WithDefault("1m")
        Duration firstTokenTimeout();

        /** For one attempt from request to whole reply. */
        @WithDefault("2m")
        Duration requestTimeout();

        /** Tokens of a reply. Absent = the provider's own limit; Anthropic has none and gets 8192. */
        Optional<Integer> maxOutputTokens();

        /**
         * How much it may think before it answers; Ollama only knows yes or no, OpenAI nothing. Absent = as it likes.
         */
        Optional<Integer> thinkingTokens();

        /**
         * Tokens that it takes, request and reply together; conversations are compacted before they get there. Absent =
         * what its maker says, 128000 if it is not known, 4096 with Ollama, which is told this number.
         */
        Optional<Integer> contextWindow();

        /** The name of the model that is asked if this one fails for good and not because of the request. */
        Optional<String> fallback();

        /** What it costs, for budgets and reports. */
        Optional<Price> price();

        /**
         * For the scripted model: a YAML file, see {@code docs/scripted-model.md}. Absent = the script that comes with
         * Millrace.
         */
        Optional<Path> script();

        /** For the scripted model: a file that gets one line per call. Absent = what the script says. */
        Optional<Path> callLog();

        /** A file that gets what this model answers, as a script to be played again. Absent = nothing is recorded. */
        Optional<Path> record();
    }

    /** US dollars per million tokens. */
    interface Price {

        /** For the request. */
        BigDecimal input();

        /** For the reply, thinking included. */
        BigDecimal output();

        /** For what came from the provider's cache. Absent = as input. */
        Optional<BigDecimal> cachedInput();

        /** For what went into it. Absent = as input. */
        Optional<BigDecimal> cacheWrite();
    }

    /** The scripted model as the default. */
    interface Scripted {

        /** A YAML file, see {@code docs/scripted-model.md}. Absent = the script that comes with Millrace. */
        Optional<Path> script();

        /** A file that gets one line per call. Absent = what the script says. */
        Optional<Path> callLog();
    }
}
