package dev.millrace.gateway.query;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.api.UsageSums;
import dev.millrace.gateway.query.Quotas.Exceeded;
import dev.millrace.gateway.query.Quotas.Quota;
import dev.millrace.http.client.QueryUnavailableException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class QuotasTest {

    private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");
    private static final Instant MIDNIGHT = Instant.parse("2026-11-22T00:00:00Z");

    private final List<String> asked = new ArrayList<>();
    private Instant now = NOON;
    private long tokens;
    private long costMicros;
    private boolean away;

    private final Clock clock = ((InstantSource) () -> now).withZone(ZoneOffset.UTC);

    private Quotas quotas(Map<String, Quota> quotas) {
        return new Quotas(
                quotas,
                (namespace, from) -> {
                    if (away) {
                        throw new QueryUnavailableException("away", null);
                    }
                    asked.add(namespace + " since " + from);
                    return new UsageSums(1, 0, 0, 1, 0, tokens / 2, tokens - tokens / 2, 0, 0, costMicros, 0);
                },
                clock);
    }

    @Test
    @DisplayName("who has no quota may start anything, and nobody is asked what they used")
    void shouldLimitNobodyWithoutAQuota() {
        Quotas quotas = quotas(Map.of("acme", new Quota(1, 1L, 1L, null)));

        assertThat(quotas.take("other", 1_000_000)).isEmpty();
        assertThat(asked).isEmpty();
    }

    @Test
    @DisplayName("tasks of a minute: as many at once, then one whenever its part of the minute has passed")
    void shouldLimitTasksPerMinute() {
        Quotas quotas = quotas(Map.of("acme", new Quota(60, null, null, null)));

        assertThat(quotas.take("acme", 60)).isEmpty();
        assertThat(quotas.take("acme", 1)).contains(new Exceeded("tasks-per-minute", 60, 1, Duration.ofSeconds(1)));
        now = now.plusMillis(999);
        assertThat(quotas.take("acme", 1)).isPresent();
        now = now.plusMillis(1);
        assertThat(quotas.take("acme", 1)).isEmpty();
        assertThat(quotas.take("acme", 1)).isPresent();
        now = now.plus(Duration.ofHours(3));
        assertThat(quotas.take("acme", 61))
                .as("never more than a minute's at once")
                .isPresent();
        assertThat(quotas.take("acme", 60)).isEmpty();
    }

    @Test
    @DisplayName("what was refused is not counted, and a clock that goes back gives nothing")
    void shouldNotCountRefusals() {
        Quotas quotas = quotas(Map.of("acme", new Quota(2, null, null, null)));

        assertThat(quotas.take("acme", 3)).isPresent();
        assertThat(quotas.take("acme", 2)).isEmpty();
        now = now.minusSeconds(60);
        assertThat(quotas.take("acme", 1)).isPresent();
    }

    @Test
    @DisplayName("the quota of all others is one for each of them")
    void shouldGiveEachOtherAQuotaOfTheirOwn() {
        Quotas quotas = quotas(Map.of("*", new Quota(1, null, null, null), "acme", new Quota(2, null, null, null)));

        assertThat(quotas.take("a", 1)).isEmpty();
        assertThat(quotas.take("b", 1)).isEmpty();
        assertThat(quotas.take("a", 1)).isPresent();
        assertThat(quotas.take("acme", 2)).isEmpty();
    }

    @Test
    @DisplayName("tokens of a day: none is started from the limit on, until midnight in UTC")
    void shouldLimitTokensPerDay() {
        Quotas quotas = quotas(Map.of("acme", new Quota(null, 100L, null, null)));
        tokens = 99;

        assertThat(quotas.take("acme", 1)).isEmpty();
        tokens = 100;
        assertThat(quotas.take("acme", 1)).as("asked a moment ago").isEmpty();
        now = now.plus(Quotas.FRESH);
        assertThat(quotas.take("acme", 1))
                .contains(new Exceeded(
                        "tokens-per-day", 100, 100, Duration.ofHours(12).minus(Quotas.FRESH)));
        now = MIDNIGHT.plus(Duration.ofDays(1));
        tokens = 0;
        assertThat(quotas.take("acme", 1)).isEmpty();
        assertThat(asked)
                .containsExactly(
                        "acme since " + MIDNIGHT,
                        "acme since " + MIDNIGHT,
                        "acme since " + MIDNIGHT.plus(Duration.ofDays(1)));
    }

    @Test
    @DisplayName("cost of a day: the same")
    void shouldLimitCostPerDay() {
        Quotas quotas = quotas(Map.of("acme", new Quota(5, null, 2_000_000L, null)));
        costMicros = 2_000_000;

        assertThat(quotas.take("acme", 1)).map(Exceeded::name).contains("cost-micros-per-day");
    }

    @Test
    @DisplayName("while agent-service is away what was known last counts, and nothing at first")
    void shouldGoByWhatWasKnownLast() {
        Quotas quotas = quotas(Map.of("acme", new Quota(null, 10L, null, null)));
        away = true;
        assertThat(quotas.take("acme", 1)).isEmpty();
        away = false;
        tokens = 10;
        now = now.plus(Quotas.FRESH);
        assertThat(quotas.take("acme", 1)).isPresent();
        away = true;
        now = now.plus(Quotas.FRESH);

        assertThat(quotas.take("acme", 1)).isPresent();
    }

    @Test
    @DisplayName("of more namespaces than are remembered those begin anew that started nothing for longest")
    void shouldForgetWhoStartedNothingForLongest() {
        Quotas quotas = quotas(Map.of("*", new Quota(1, null, null, null)));
        List<Optional<Exceeded>> first = new ArrayList<>();
        for (int i : IntStream.rangeClosed(0, Quotas.REMEMBERED).toArray()) {
            first.add(quotas.take("n" + i, 1));
        }

        assertThat(first).allMatch(Optional::isEmpty);
        assertThat(quotas.take("n" + Quotas.REMEMBERED, 1)).isPresent();
        assertThat(quotas.take("n0", 1)).isEmpty();
    }
}
