package dev.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.KnownEventType;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What is under way goes on after a restart, from nothing but the stores. */
@ExtendWith(MillraceTest.class)
class RestartTest {

    private static final Duration DAY = Duration.ofHours(24);

    @BeforeEach
    void agents(TestMillrace millrace) {
        millrace.agent("clerk", "---\ndescription: Pays refunds.\ntools: [pay]\n---\nYou pay refunds.\n");
        millrace.model().whenUser("refund").calls("pay").says("Done: {{result.pay}}");
    }

    @Test
    @DisplayName("a task that waits for an approval is approved after a restart, and its tool called once")
    void shouldWaitForAnApproval(TestMillrace millrace) {
        // given
        TestTool pay = millrace.tool("pay").needsApproval(DAY).returns("p-1");
        TestTask task = millrace.start("clerk", "refund 17");

        // when
        millrace.restart();

        // then
        assertThat(task).waitsForApprovalOf("pay").hasNotEnded();
        assertThat(task.approve())
                .completedWith("Done: \"p-1\"")
                .madeModelCalls(2)
                .isOneChain();
        millrace.restart();
        assertThat(pay.calls()).hasSize(1);
        assertThat(task.events().stream().filter(event -> event.type() == KnownEventType.TASK_COMPLETED))
                .hasSize(1);
        assertThat(millrace.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("the answer to a tool call that was out arrives after a restart; the call is not made again")
    void shouldTakeAnAnswer(TestMillrace millrace) {
        // given
        TestTool pay = millrace.tool("pay").isSilent();
        TestTask task = millrace.start("clerk", "refund 17");

        // when
        millrace.restart();
        assertThat(task).hasNotEnded();
        task.answerCall("pay", "late");

        // then
        assertThat(task).completedWith("Done: \"late\"");
        assertThatThrownBy(() -> task.answerCall("pay", "later"))
                .hasMessageContaining("Expected a call of pay that is out, found task");
        assertThat(pay.calls()).hasSize(1);
    }

    @Test
    @DisplayName("timers are due when they would have been: an approval expires a day after it was asked for")
    void shouldKeepTimers(TestMillrace millrace) {
        // given
        TestTool pay = millrace.tool("pay").needsApproval(DAY).returns("p-1");
        TestTask task = millrace.start("clerk", "refund 17");
        millrace.advance(DAY.minusHours(1));

        // when
        millrace.restart();

        // then
        millrace.advance(Duration.ofMinutes(59));
        assertThat(task).waitsForApprovalOf("pay");
        millrace.advance(Duration.ofMinutes(2));
        assertThat(task).completed().wentThrough(KnownEventType.APPROVAL_DECIDED, KnownEventType.TASK_COMPLETED);
        assertThat(pay.calls()).isEmpty();
    }

    @Test
    @DisplayName("a long life with many restarts: an event that comes again after each is still known")
    void shouldRestartAgainAndAgain(TestMillrace millrace) {
        // given
        millrace.model().whenUser("hello").says("Hello.");
        TestTask first = millrace.start("general", "hello", "chat");

        for (int round = 0; round < 10; round++) {
            // when
            millrace.restart();
            millrace.send(first.events().getFirst());

            // then
            assertThat(millrace.start("general", "hello", "chat")).completedWith("Hello.");
        }
        assertThat(first).madeModelCalls(1);
        assertThat(millrace.tasks()).hasSize(11);
    }
}
