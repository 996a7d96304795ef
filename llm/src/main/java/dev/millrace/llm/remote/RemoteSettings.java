package dev.millrace.llm.remote;

import dev.millrace.llm.Secret;
import dev.millrace.llm.SettingRules;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One model at a provider.
 *
 * @param provider whose API it speaks
 * @param baseUrl the endpoint; for OpenAI, Anthropic and Gemini up to and including the version
 * @param apiKey null = none is sent
 * @param keyName what messages call the key: the environment variable or the setting that it comes from
 * @param model the model's name there, not blank
 * @param timeouts how long to wait for what
 * @param maxOutputTokens for requests that name no limit, 1 or more; null = the provider's own (Anthropic has none and
 *     gets {@value #ANTHROPIC_OUTPUT_TOKENS})
 * @param thinkingTokens how much it may think before it answers, 1 or more; null = as the provider likes
 * @param contextWindow tokens that it takes, request and reply together, 1 or more; null = what its maker says
 */
public record RemoteSettings(
        Provider provider,
        URI baseUrl,
        @Nullable Secret apiKey,
        String keyName,
        String model,
        Timeouts timeouts,
        @Nullable Integer maxOutputTokens,
        @Nullable Integer thinkingTokens,
        @Nullable Integer contextWindow) {

    /** A model that takes what its maker says. */
    public RemoteSettings(
            Provider provider,
            URI baseUrl,
            @Nullable Secret apiKey,
            String keyName,
            String model,
            Timeouts timeouts,
            @Nullable Integer maxOutputTokens,
            @Nullable Integer thinkingTokens) {
        this(provider, baseUrl, apiKey, keyName, model, timeouts, maxOutputTokens, thinkingTokens, null);
    }

    static final int ANTHROPIC_OUTPUT_TOKENS = 8192;

    /** What is expected of a base URL, for error messages. */
    public static final String URL_WANTED = "an http or https URL such as " + Provider.OPENAI.baseUrl();

    /**
     * How long to wait for what; each more than zero.
     *
     * @param prefix of the settings, for messages: {@code models.<name>.}
     * @param connect for the connection ({@code connect-timeout})
     * @param firstToken from the request to the first piece of a streamed reply ({@code first-token-timeout})
     * @param request for one attempt from request to whole reply ({@code request-timeout})
     */
    public record Timeouts(String prefix, Duration connect, Duration firstToken, Duration request) {

        /** 10 seconds, 1 minute and 2 minutes. */
        public static final Timeouts DEFAULTS =
                new Timeouts("models.default.", Duration.ofSeconds(10), Duration.ofMinutes(1), Duration.ofMinutes(2));

        public Timeouts {
            SettingRules.positive(prefix + "connect-timeout", connect);
            SettingRules.positive(prefix + "first-token-timeout", firstToken);
            SettingRules.positive(prefix + "request-timeout", request);
        }
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
