package dev.millrace.llm.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.config.LlmConfig.Kind;
import dev.millrace.llm.rates.RateLimit;
import dev.millrace.testing.Configured;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LlmConfigTest {

    private static LlmConfig config(Map<String, String> properties) {
        return Configured.of(LlmConfig.class, properties);
    }

    @Test
    void shouldLeaveEverythingToTheEnvironmentByDefault() {
        // when
        LlmConfig config = config(Map.of());

        // then
        assertThat(config.defaultModel()).isEmpty();
        assertThat(config.models()).isEmpty();
        assertThat(config.scripted().script()).isEmpty();
        assertThat(config.scripted().callLog()).isEmpty();
        assertThat(LanguageModels.limits(config)).isEqualTo(DispatcherLimits.DEFAULTS);
        assertThat(LanguageModels.keys(config)).isEmpty();
    }

    @Test
    void shouldReadModelsByTheirNames() {
        // when
        LlmConfig config = config(Map.of(
                "millrace.llm.default", "fast",
                "millrace.llm.max-concurrent-calls", "7",
                "millrace.llm.models.fast.provider", "gemini",
                "millrace.llm.models.fast.fallback", "big-one",
                "millrace.llm.models.fast.price.input", "0.30",
                "millrace.llm.models.fast.price.output", "2.5",
                "millrace.llm.models.big-one.provider", "anthropic",
                "millrace.llm.models.big-one.model", "claude",
                "millrace.llm.models.big-one.api-key-file", "/run/secrets/key",
                "millrace.llm.models.big-one.first-token-timeout", "5s"));

        // then
        assertThat(config.defaultModel()).contains("fast");
        assertThat(LanguageModels.limits(config).maxConcurrentCalls()).isEqualTo(7);
        assertThat(config.models()).containsOnlyKeys("fast", "big-one");
        assertThat(config.models().get("fast")).satisfies(fast -> {
            assertThat(fast.provider()).isEqualTo(Kind.GEMINI);
            assertThat(fast.fallback()).contains("big-one");
            assertThat(fast.price()).hasValueSatisfying(price -> {
                assertThat(price.input()).isEqualTo(new BigDecimal("0.30"));
                assertThat(price.output()).isEqualTo(new BigDecimal("2.5"));
                assertThat(price.cachedInput()).isEmpty();
                assertThat(price.cacheWrite()).isEmpty();
            });
            assertThat(fast.model()).isEmpty();
            assertThat(fast.baseUrl()).isEmpty();
            assertThat(fast.apiKeyEnv()).isEmpty();
            assertThat(fast.apiKeyFile()).isEmpty();
            assertThat(fast.key()).isEmpty();
        });
        assertThat(config.models().get("big-one")).satisfies(big -> {
            assertThat(big.model()).contains("claude");
            assertThat(big.baseUrl()).isEmpty();
            assertThat(big.apiKeyEnv()).isEmpty();
            assertThat(big.apiKeyFile()).contains(Path.of("/run/secrets/key"));
            assertThat(big.connectTimeout()).isEqualTo(Duration.ofSeconds(10));
            assertThat(big.firstTokenTimeout()).isEqualTo(Duration.ofSeconds(5));
            assertThat(big.requestTimeout()).isEqualTo(Duration.ofMinutes(2));
            assertThat(big.price()).isEmpty();
        });
    }

    @Test
    void shouldNameTheKeyOfABadValue() {
        // given
        LlmConfig timeout = config(Map.of(
                "millrace.llm.models.fast.provider", "openai",
                "millrace.llm.models.fast.request-timeout", "0s"));
        LlmConfig limit = config(Map.of("millrace.llm.max-concurrent-calls", "0"));

        // then
        assertThatThrownBy(() -> LanguageModels.fromEnvironment(timeout, Map.of()))
                .hasMessage("millrace.llm.models.fast.request-timeout: expected more than zero, found PT0S");
        assertThatThrownBy(() -> LanguageModels.fromEnvironment(limit, Map.of()))
                .hasMessage("millrace.llm.max-concurrent-calls: expected 1 or more, found 0");
    }

    @Test
    void shouldReadTheLimitsOfKeys() {
        // when
        LlmConfig config = config(Map.of(
                "millrace.llm.keys.team.max-requests", "60",
                "millrace.llm.keys.team.window", "30s",
                "millrace.llm.keys.anthropic.max-tokens", "100000",
                "millrace.llm.models.fast.provider", "openai",
                "millrace.llm.models.fast.key", "team"));

        // then
        assertThat(LanguageModels.keys(config))
                .isEqualTo(Map.of(
                        "team",
                        new RateLimit("team", 60, null, Duration.ofSeconds(30), Duration.ofSeconds(2)),
                        "anthropic",
                        new RateLimit("anthropic", null, 100_000L, Duration.ofMinutes(1), Duration.ofSeconds(2))));
        assertThat(config.models().get("fast"))
                .satisfies(fast -> assertThat(fast.key()).contains("team"));
    }
}
