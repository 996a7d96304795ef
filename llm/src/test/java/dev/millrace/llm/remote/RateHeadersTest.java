package dev.millrace.llm.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RateHeadersTest {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private static @Nullable Duration nextRequestIn(Map<String, String> headers) {
        return RateHeaders.nextRequestIn(
                HttpHeaders.of(
                        headers.entrySet().stream()
                                .collect(Collectors.toMap(Map.Entry::getKey, header -> List.of(header.getValue()))),
                        (name, value) -> true),
                NOW);
    }

    @ParameterizedTest
    @CsvSource({"1s, 1000", "6m0s, 360000", "20ms, 20", "1h2m3s, 3723000", "1.5s, 1500"})
    void shouldReadOpenAisDurations(String reset, long millis) {
        assertThat(nextRequestIn(Map.of("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", reset)))
                .isEqualTo(Duration.ofMillis(millis));
    }

    @Test
    void shouldExpectTheNextRequestAfterItsPartOfTheTime() {
        assertThat(nextRequestIn(Map.of(
                        "x-ratelimit-remaining-requests", "0",
                        "x-ratelimit-limit-requests", "60",
                        "x-ratelimit-reset-requests", "60s")))
                .isEqualTo(Duration.ofSeconds(1));
        assertThat(nextRequestIn(Map.of(
                        "anthropic-ratelimit-requests-remaining", "0",
                        "anthropic-ratelimit-requests-limit", "50",
                        "anthropic-ratelimit-requests-reset", "2026-01-01T00:01:00Z")))
                .isEqualTo(Duration.ofMillis(1200));
    }

    @Test
    void shouldSayNothingWhereSomeAreLeftOrNothingCanBeRead() {
        assertThat(nextRequestIn(Map.of())).isNull();
        assertThat(nextRequestIn(Map.of(
                        "anthropic-ratelimit-requests-remaining",
                        "0",
                        "anthropic-ratelimit-requests-reset",
                        "9999-12-31T23:59:59Z")))
                .isEqualTo(Duration.ofDays(1));
        assertThat(nextRequestIn(Map.of(
                        "x-ratelimit-remaining-requests", "3",
                        "x-ratelimit-reset-requests", "1s")))
                .isNull();
        assertThat(nextRequestIn(Map.of(
                        "x-ratelimit-remaining-requests", "0",
                        "x-ratelimit-reset-requests", "soon")))
                .isNull();
        assertThat(nextRequestIn(Map.of(
                        "anthropic-ratelimit-requests-remaining", "0",
                        "anthropic-ratelimit-requests-reset", "yesterday")))
                .isNull();
    }
}
