package dev.millrace.tool.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ToolApiTest {

    @Test
    void shouldGiveAContextForTests() {
        ToolContext context = ToolContext.of("call-1");
        assertThat(context.callId()).isEqualTo("call-1");
        assertThat(context.idempotencyKey()).isEqualTo("call-1");
        assertThat(context.session()).isEmpty();
        assertThat(context.namespace()).isEqualTo("default");
        assertThat(context.taskId()).isNotBlank();
        assertThat(context.deadline()).isEqualTo(Instant.MAX);
    }

    @Test
    void shouldSayWhetherTheSameMayWorkAgain() {
        ToolException no = new ToolException("sold_out", "There is none left.");
        ToolException later = ToolException.passing("busy", "Come back.", Duration.ofSeconds(3));
        ToolException soon = ToolException.passing("busy", "Come back.");
        ToolException perhaps = ToolException.uncertain("lost", "Who knows?");

        assertThat(no).hasMessage("There is none left.");
        assertThat(no.code()).isEqualTo("sold_out");
        assertThat(no.again()).isEqualTo(ToolException.Again.NEVER);
        assertThat(no.retryAfter()).isEmpty();
        assertThat(later.again()).isEqualTo(ToolException.Again.PASSING);
        assertThat(later.retryAfter()).contains(Duration.ofSeconds(3));
        assertThat(soon.again()).isEqualTo(ToolException.Again.PASSING);
        assertThat(soon.retryAfter()).isEmpty();
        assertThat(perhaps.again()).isEqualTo(ToolException.Again.UNCERTAIN);
    }
}
