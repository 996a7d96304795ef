package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.ToolDefinition.Approval;
import dev.millrace.schemas.ToolDefinition.Retry;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Each bound of the contract at the bound and one past it. */
class BoundsTest {

    private static Event.Builder event() {
        return Event.root("e1", KnownEventType.HEARTBEAT, Instant.EPOCH);
    }

    private static void refused(ThrowingCallable made) {
        assertThatThrownBy(made).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("expected");
    }

    @Test
    void shouldBoundTheEnvelope() {
        assertThat(event().source("s".repeat(Event.MAX_SOURCE_LENGTH)).build().source())
                .hasSize(Event.MAX_SOURCE_LENGTH);
        refused(() -> event().source("s".repeat(Event.MAX_SOURCE_LENGTH + 1)).build());
        refused(() -> event().namespace("/acme").build());
        assertThat(event().priority(0).build().priority()).isZero();
        refused(() -> event().priority(-1).build());
    }

    @Test
    void shouldNameWhatIsInANamespace() {
        assertThat(Event.qualified("default", "t1")).isEqualTo("t1");
        assertThat(Event.qualified("default", "/t1")).isEqualTo("default//t1");
        assertThat(Event.qualified("acme", "t1")).isEqualTo("acme/t1");
    }

    @Test
    void shouldBoundNumbers() {
        BigInteger largest = BigInteger.ONE.shiftLeft(1024).subtract(BigInteger.ONE);
        assertThat(number(largest)).isEqualTo(largest);
        refused(() -> number(largest.add(BigInteger.ONE)));
        assertThat(number(BigInteger.valueOf(Long.MAX_VALUE))).isEqualTo(Long.MAX_VALUE);
        assertThat(number(BigInteger.valueOf(Long.MAX_VALUE).add(BigInteger.ONE)))
                .isInstanceOf(BigInteger.class);
        assertThat(number(new BigDecimal("1e307"))).isNotNull();
        refused(() -> number(new BigDecimal("1e1000")));
        refused(() -> number(new BigDecimal("1e-100000")));
    }

    private static Object number(Number value) {
        return Objects.requireNonNull(
                event().payload(Map.of("number", value)).build().fields().get("number"));
    }

    @Test
    void shouldFindWhatIsInAPayloadAndNothingElse() {
        Map<String, ?> payload = event().payload(Map.of("here", 1)).build().fields();

        assertThat(payload.containsKey("here")).isTrue();
        assertThat(payload.containsKey("there")).isFalse();
    }

    @Test
    void shouldBoundCursors() {
        assertThat(new JournalCursor(0, 0)).hasToString("0:0");
        refused(() -> new JournalCursor(-1, 0));
        refused(() -> new JournalCursor(0, -1));
    }

    @Test
    void shouldBoundDefinitionsOfTools() {
        assertThat(new Approval.When("x".repeat(Approval.When.MAX_EXPRESSION_LENGTH)).expression())
                .isNotBlank();
        refused(() -> new Approval.When("x".repeat(Approval.When.MAX_EXPRESSION_LENGTH + 1)));
        refused(() -> new Approval.When(" "));
        assertThat(new Retry(1, 0).maxAttempts()).isEqualTo(1);
        assertThat(new Retry(Retry.MAX_ATTEMPTS, 0).maxAttempts()).isEqualTo(Retry.MAX_ATTEMPTS);
        refused(() -> new Retry(0, 0));
        refused(() -> new Retry(Retry.MAX_ATTEMPTS + 1, 0));
        refused(() -> new Retry(1, -1));
    }

    @Test
    void shouldTellTheEndOfAStream() {
        assertThat(StreamType.values())
                .filteredOn(StreamType::ends)
                .containsExactlyInAnyOrder(StreamType.COMPLETED, StreamType.ERROR);
        assertThat(StreamType.values())
                .allSatisfy(type -> assertThat(type.code()).isEqualTo(399));
    }

    @Test
    void shouldShowAnEventWithItsPlace() {
        Event heartbeat = event().build();

        assertThat(new JournalEntry(new JournalCursor(2, 7), heartbeat).toJson())
                .containsAllEntriesOf(EventJson.toJson(heartbeat))
                .containsEntry("cursor", "2:7");
    }
}
