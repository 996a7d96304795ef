package dev.millrace.agent.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.engine.config.LlmConfig;
import dev.millrace.engine.config.ModelSettings;
import dev.millrace.llm.config.LlmSettings;
import dev.millrace.llm.config.Price;
import dev.millrace.llm.rates.RateLimit;
import dev.millrace.llm.remote.RemoteSettings.Timeouts;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ModelSettingsTest {

    private static LlmSettings settings(Map<String, String> properties) {
        return ModelSettings.of(new SmallRyeConfigBuilder()
                .addDiscoveredConverters()
                .withSources(new PropertiesConfigSource(properties, "test", 100))
                .withMapping(LlmConfig.class)
                .build()
                .getConfigMapping(LlmConfig.class));
    }

    @Test
    void shouldLeaveEverythingToTheEnvironmentByDefault() {
        assertThat(settings(Map.of())).isEqualTo(LlmSettings.DEFAULTS);
    }

    @Test
    void shouldReadModelsByTheirNames() {
        // when
        LlmSettings settings = settings(Map.of(
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
        assertThat(settings.defaultModel()).isEqualTo("fast");
        assertThat(settings.limits().maxConcurrentCalls()).isEqualTo(7);
        assertThat(settings.models()).containsOnlyKeys("fast", "big-one");
        assertThat(settings.models().get("fast")).satisfies(fast -> {
            assertThat(fast.kind()).isEqualTo(LlmSettings.Kind.GEMINI);
            assertThat(fast.fallback()).isEqualTo("big-one");
            assertThat(fast.price()).isEqualTo(new Price(new BigDecimal("0.30"), new BigDecimal("2.5"), null, null));
            assertThat(fast.endpoint()).isEqualTo(LlmSettings.Endpoint.DEFAULTS);
        });
        assertThat(settings.models().get("big-one")).satisfies(big -> {
            assertThat(big.endpoint())
                    .isEqualTo(new LlmSettings.Endpoint("claude", null, null, Path.of("/run/secrets/key")));
            assertThat(big.timeouts())
                    .isEqualTo(new Timeouts(
                            "models.big-one.", Duration.ofSeconds(10), Duration.ofSeconds(5), Duration.ofMinutes(2)));
            assertThat(big.price()).isNull();
        });
    }

    @Test
    void shouldNameTheKeyOfABadValue() {
        assertThatThrownBy(() -> settings(Map.of(
                        "millrace.llm.models.fast.provider", "openai",
                        "millrace.llm.models.fast.request-timeout", "0s")))
                .hasMessage("millrace.llm.models.fast.request-timeout: expected more than zero, found PT0S");
    }

    @Test
    void shouldReadTheLimitsOfKeys() {
        // when
        LlmSettings settings = settings(Map.of(
                "millrace.llm.keys.team.max-requests", "60",
                "millrace.llm.keys.team.window", "30s",
                "millrace.llm.keys.anthropic.max-tokens", "100000",
                "millrace.llm.models.fast.provider", "openai",
                "millrace.llm.models.fast.key", "team"));

        // then
        assertThat(settings.keys())
                .isEqualTo(Map.of(
                        "team",
                        new RateLimit("team", 60, null, Duration.ofSeconds(30), Duration.ofSeconds(2)),
                        "anthropic",
                        new RateLimit("anthropic", null, 100_000L, Duration.ofMinutes(1), Duration.ofSeconds(2))));
        assertThat(settings.models().get("fast"))
                .satisfies(fast -> assertThat(fast.endpoint().keyName()).isEqualTo("team"));
    }
}
