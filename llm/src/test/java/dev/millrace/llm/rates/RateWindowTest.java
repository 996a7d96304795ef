package dev.millrace.llm.rates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class RateWindowTest {

    private static final long MINUTE = 60_000;
    private static final long MARGIN = 2_000;

    private static RateLimit limit(@Nullable Integer requests, @Nullable Long tokens) {
        return new RateLimit("openai", requests, tokens, Duration.ofMillis(MINUTE), Duration.ofMillis(MARGIN));
    }

    @Test
    void shouldGrantUpToTheLimitAndTheNextOneWhenTheFirstNoLongerCounts() {
        // given
        RateWindow window = new RateWindow(limit(60, null));

        // when
        for (int i = 0; i < 60; i++) {
            assertThat(window.claim("c" + i, 0, 1_000 + i)).isTrue();
        }
        boolean early = window.claim("early", 0, 1_000 + MINUTE + MARGIN - 1);
        window.release("early", 1_000 + MINUTE + MARGIN - 1);
        Duration roomIn = window.untilRoomFor(0);
        boolean onTime = window.claim("onTime", 0, 1_000 + MINUTE + MARGIN);
        boolean second = window.claim("second", 0, 1_000 + MINUTE + MARGIN);

        // then
        assertThat(early).isFalse();
        assertThat(roomIn).isEqualTo(Duration.ofMillis(1));
        assertThat(onTime).isTrue();
        assertThat(second).isFalse();
    }

    @Test
    void shouldCountTokensExactly() {
        // given
        RateWindow window = new RateWindow(limit(null, 1_000L));

        // then
        assertThat(window.claim("a", 600, 0)).isTrue();
        assertThat(window.claim("b", 400, 10)).isTrue();
        assertThat(window.claim("c", 1, 20)).isFalse();
        window.release("c", 20);
        assertThat(window.untilRoomFor(1)).isEqualTo(Duration.ofMillis(MINUTE + MARGIN - 20));
        assertThat(window.untilRoomFor(601)).isEqualTo(Duration.ofMillis(MINUTE + MARGIN - 10));
        window.settle("a", 599, 30);
        assertThat(window.claim("d", 1, 30)).isTrue();
        assertThat(window.tokens(30)).isEqualTo(1_000);
        window.settle("d", 5_000, 40); // it used more than it said
        assertThat(window.untilRoomFor(1)).isEqualTo(Duration.ofMillis(MINUTE + MARGIN - 10));
    }

    @Test
    void shouldFailWhatCanNeverFit() {
        assertThatThrownBy(() -> limit(null, 1_000L).check(1_001))
                .isInstanceOfSatisfying(ModelCallException.class, e -> {
                    assertThat(e.code()).isEqualTo(ModelErrorCode.RATE_LIMITED);
                    assertThat(e.retryable()).isFalse();
                })
                .hasMessageContainingAll("1001 tokens", "openai may use 1000", "millrace.llm.keys.openai.max-tokens");
        assertThatCode(() -> limit(null, 1_000L).check(1_000)).doesNotThrowAnyException();
    }

    @Test
    void shouldCountAClaimOnceAndLetTimeStandStillWhereItGoesBack() {
        // given
        RateWindow window = new RateWindow(limit(2, null));

        // when
        window.claim("a", 5, 1_000);
        window.claim("a", 5, 1_000);
        window.claim("b", 5, 500);

        // then
        assertThat(window.requests(700)).isEqualTo(2);
        assertThat(window.tokens(700)).isEqualTo(10);
        assertThat(window.requests(1_000 + MINUTE + MARGIN)).isZero();
        assertThat(window.tokens(1_000 + MINUTE + MARGIN)).isZero();
    }

    @Test
    @DisplayName("no sliding minute at the provider sees more than the limit, whoever joins, dies or is late")
    void shouldKeepToTheLimitInEveryWindow() {
        for (int seed = 0; seed < 20; seed++) {
            // given: instances that claim in one order; each has its own view, some began to read in the middle
            Random random = new Random(seed);
            List<String> log = new ArrayList<>(); // what each instance read, as "op id"
            List<Long> times = new ArrayList<>();
            List<Long> arrivals = new ArrayList<>();
            long now = 0;
            for (int i = 0; i < 3_000; i++) {
                now += random.nextInt(400);
                String id = "claim" + i;
                // an instance that has just started knows the claims of one window and its margin, and no more
                RateWindow view = new RateWindow(limit(60, null));
                for (int from = firstThatCounts(times, now); from < log.size(); from++) {
                    apply(view, log.get(from), times.get(from));
                }
                boolean granted = view.claim(id, 0, now);
                log.add("claim " + id);
                times.add(now);
                if (!granted) {
                    now += random.nextInt(20); // others may claim before the release is there
                    log.add("release " + id);
                    times.add(now);
                } else if (random.nextInt(20) > 0) { // else it died before it used it
                    arrivals.add(now + random.nextInt((int) MARGIN));
                }
            }

            // then
            arrivals.sort(null);
            for (int i = 60; i < arrivals.size(); i++) {
                assertThat(arrivals.get(i) - arrivals.get(i - 60)).isGreaterThanOrEqualTo(MINUTE);
            }
            assertThat(arrivals.size()).isGreaterThan((int) (now / MINUTE * 50));
        }
    }

    private static int firstThatCounts(List<Long> times, long now) {
        int first = times.size();
        while (first > 0 && now - times.get(first - 1) <= MINUTE + MARGIN) {
            first--;
        }
        return first;
    }

    private static void apply(RateWindow view, String entry, long atMs) {
        String id = entry.substring(entry.indexOf(' ') + 1);
        if (entry.startsWith("claim")) {
            view.claim(id, 0, atMs);
        } else {
            view.release(id, atMs);
        }
    }

    @Test
    void shouldNameTheSettingThatIsNoGood() {
        assertThatThrownBy(() -> limit(0, null))
                .hasMessage("millrace.llm.keys.openai.max-requests: expected 1 or more, found 0");
        assertThatThrownBy(() -> new RateLimit("k", 1, null, Duration.ofMinutes(11), Duration.ofSeconds(2)))
                .hasMessageStartingWith("millrace.llm.keys.k.window: expected at most PT10M");
        assertThatThrownBy(() -> new RateLimit("k", 1, null, Duration.ofSeconds(1), Duration.ofSeconds(2)))
                .hasMessageStartingWith("millrace.llm.keys.k.margin: expected at most the window");
    }
}
