package dev.millrace.llm.openai;

import dev.millrace.llm.Secret;
import dev.millrace.llm.SettingRules;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An OpenAI-compatible endpoint, as an operator sets it under {@code millrace.llm.openai.}.
 *
 * @param baseUrl up to and including the version ({@code base-url}); null = OpenAI itself
 * @param apiKey sent as a bearer token ({@code api-key}); null = none is sent
 * @param model the default model's name there ({@code model}); null = {@value #DEFAULT_MODEL}
 * @param connectTimeout for the connection ({@code connect-timeout}), more than zero
 * @param requestTimeout for one attempt from request to whole reply ({@code request-timeout}), more than zero
 */
public record OpenAiSettings(
        @Nullable URI baseUrl,
        @Nullable Secret apiKey,
        @Nullable String model,
        Duration connectTimeout,
        Duration requestTimeout) {

    /** Where OpenAI is. */
    public static final URI OPENAI = URI.create("https://api.openai.com/v1");

    /** The model that is asked unless another one is named. */
    public static final String DEFAULT_MODEL = "gpt-4o-mini";

    /** What is expected of a base URL, for error messages. */
    public static final String URL_WANTED = "an http or https URL such as " + OPENAI;

    /** Nothing set, 10 seconds to connect and 2 minutes to reply. */
    public static final OpenAiSettings DEFAULTS =
            new OpenAiSettings(null, null, null, Duration.ofSeconds(10), Duration.ofMinutes(2));

    public OpenAiSettings {
        if (baseUrl != null) {
            String problem = problemOf(baseUrl);
            if (problem != null) {
                throw SettingRules.violation("openai.base-url", URL_WANTED, problem);
            }
        }
        if (model != null && model.isBlank()) {
            throw SettingRules.violation("openai.model", "a name", "a blank text");
        }
        SettingRules.positive("openai.connect-timeout", connectTimeout);
        SettingRules.positive("openai.request-timeout", requestTimeout);
    }

    /** Why this is no base URL, without quoting what may be a password; null if it is one. */
    public static @Nullable String problemOf(URI url) {
        if (url.getUserInfo() != null) {
            return "one with user and password";
        }
        String scheme = url.getScheme();
        return url.getHost() != null && ("http".equals(scheme) || "https".equals(scheme)) ? null : "\"" + url + "\"";
    }
}
