package dev.millrace.llm;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What an operator may set for language models, under {@code millrace.llm.}. What is null here may still come from the
 * environment: see {@code LanguageModels}.
 *
 * @param provider which kind of model answers; null = whatever the other settings and the environment suggest
 * @param openai the OpenAI-compatible endpoint
 * @param scripted the scripted model
 * @param limits permits, retries and budgets of the dispatcher
 */
public record LlmSettings(@Nullable Provider provider, OpenAi openai, Scripted scripted, DispatcherLimits limits) {

    /** The prefix of every key. */
    public static final String PREFIX = "millrace.llm.";

    /** Nothing set: the environment decides, and without it the scripted model with its own script answers. */
    public static final LlmSettings DEFAULTS =
            new LlmSettings(null, OpenAi.DEFAULTS, Scripted.DEFAULTS, DispatcherLimits.DEFAULTS);

    /** The kinds of model. */
    public enum Provider {
        /** OpenAI, or anything that speaks its chat completions API. */
        OPENAI,
        /** The deterministic model that follows a script. */
        SCRIPTED
    }

    /**
     * An OpenAI-compatible endpoint.
     *
     * @param baseUrl up to and including the version, as in {@code https://api.openai.com/v1}; null = from the
     *     environment, else OpenAI itself
     * @param apiKey null = from the environment, else none is sent
     * @param model the default model's name there; null = from the environment, else {@code gpt-4o-mini}
     * @param connectTimeout for the connection, more than zero
     * @param requestTimeout for one attempt from request to whole reply, more than zero
     */
    public record OpenAi(
            @Nullable URI baseUrl,
            @Nullable Secret apiKey,
            @Nullable String model,
            Duration connectTimeout,
            Duration requestTimeout) {

        /** Nothing set, 10 seconds to connect and 2 minutes to reply. */
        public static final OpenAi DEFAULTS =
                new OpenAi(null, null, null, Duration.ofSeconds(10), Duration.ofMinutes(2));

        public OpenAi {
            if (baseUrl != null) {
                checkBaseUrl("openai.base-url", baseUrl);
            }
            if (model != null && model.isBlank()) {
                throw bad("openai.model", "a name", "a blank text");
            }
            positive("openai.connect-timeout", connectTimeout);
            positive("openai.request-timeout", requestTimeout);
        }
    }

    /**
     * The scripted model.
     *
     * @param script a YAML file; null = the script that comes with Millrace
     * @param callLog a file that gets one line per call; overrides the script's own {@code callLog}; null = no
     *     override
     */
    public record Scripted(@Nullable Path script, @Nullable Path callLog) {

        /** The script that comes with Millrace, no log of calls. */
        public static final Scripted DEFAULTS = new Scripted(null, null);
    }

    static URI checkBaseUrl(String key, URI url) {
        String scheme = url.getScheme();
        if (url.getHost() == null || !("http".equals(scheme) || "https".equals(scheme))) {
            throw bad(key, "an http or https URL such as https://api.openai.com/v1", "\"" + url + "\"");
        }
        if (url.getUserInfo() != null) {
            throw bad(key, "a URL without user and password", "one with them");
        }
        return url;
    }

    static void atLeastOne(String key, int value) {
        if (value < 1) {
            throw bad(key, "1 or more", String.valueOf(value));
        }
    }

    static void positive(String key, Duration value) {
        if (value.isZero() || value.isNegative()) {
            throw bad(key, "more than zero", value.toString());
        }
    }

    static IllegalArgumentException bad(String key, String expected, String found) {
        return new IllegalArgumentException(PREFIX + key + ": expected " + expected + ", found " + found);
    }
}
