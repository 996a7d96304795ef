package dev.millrace.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.requests.Reply;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.ToolDefinition.Approval;
import dev.millrace.schemas.ToolDefinition.Retry;
import dev.millrace.schemas.ToolDefinition.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.content.LargeResults;
import dev.millrace.tools.content.MemoryContent;
import dev.millrace.tools.java.JavaTools;
import dev.millrace.tools.secrets.Secrets;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("failure of tools")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ToolFailureTest {

    private static final Retry FAST = new Retry(4, 1);

    private final AtomicInteger calls = new AtomicInteger();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "connect ETIMEDOUT 10.0.0.1:443",
                "read ECONNRESET",
                "getaddrinfo ENOTFOUND api.example",
                "Rate limit exceeded",
                "rate_limit_error",
                "HTTP 429",
                "status 503 Service Unavailable"
            })
    @DisplayName("F-258, F-261: what fails for a passing reason is tried three times more")
    void shouldTryAgain(String error) throws InterruptedException {
        // given
        CallableTool flaky = tool(SideEffects.READ_ONLY, null, () -> {
            if (calls.incrementAndGet() < 4) {
                throw ForeignFailure.of("mcp_tool_error", error);
            }
            return "done";
        });
        // when
        Reply reply = executor(flaky).handle(Calls.request("t", Map.of(), 0));
        // then
        assertThat(reply).isInstanceOf(Reply.Completed.class);
        assertThat(calls).hasValue(4);
    }

    @Test
    @DisplayName("F-258: the words of a Java tool of others count as those of a server do")
    void shouldTryAgainWhatAForeignJavaToolSays() throws InterruptedException {
        // when
        Reply reply = executor(JavaTools.of(new Foreign()).getFirst()).handle(Calls.request("t", Map.of(), 0));
        // then
        assertThat(reply).isInstanceOf(Reply.Completed.class);
        assertThat(calls).hasValue(4);
    }

    @SuppressWarnings("UnusedMethod") // called as a tool
    private final class Foreign {
        @Tool(value = "Tests.", name = "t", sideEffects = dev.millrace.tool.api.SideEffects.READ_ONLY)
        String call() throws ToolException {
            if (calls.incrementAndGet() < 4) {
                throw new ToolException("order_desk_away", "HTTP 429");
            }
            return "done";
        }
    }

    @Test
    @DisplayName("F-258: and no more than that")
    void shouldGiveUpAfterTheLastAttempt() throws InterruptedException {
        // given
        CallableTool broken = tool(SideEffects.READ_ONLY, null, () -> {
            calls.incrementAndGet();
            throw ToolException.passing("http_failed", "connection refused", null);
        });
        // when
        Reply.Failed reply = failed(executor(broken).handle(Calls.request("t", Map.of(), 0)));
        // then
        assertThat(calls).hasValue(4);
        assertThat(reply.code()).isEqualTo("http_failed");
        assertThat(reply.error()).isEqualTo("connection refused (after 4 attempts)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"file_not_found", "invalid_arguments", "http_failed"})
    void shouldTakeANoForANo(String code) throws InterruptedException {
        // given
        CallableTool no = tool(SideEffects.READ_ONLY, null, () -> {
            calls.incrementAndGet();
            throw new ToolException(code, "File not found: \"report-429.txt\"");
        });
        // when
        Reply.Failed reply = failed(executor(no).handle(Calls.request("t", Map.of(), 0)));
        // then
        assertThat(calls).hasValue(1);
        assertThat(reply.error()).isEqualTo("File not found: \"report-429.txt\"");
    }

    @Test
    void shouldNotRepeatWhatMayHaveBeenDoneUnlessSomebodySaysSo() throws InterruptedException {
        // given
        Body uncertain = () -> {
            calls.incrementAndGet();
            throw ToolException.uncertain("http_failed", "connection reset");
        };
        // when
        executor(tool(SideEffects.DESTRUCTIVE, null, uncertain)).handle(Calls.request("t", Map.of(), 0));
        int destructive = calls.getAndSet(0);
        executor(tool(SideEffects.IDEMPOTENT, null, uncertain)).handle(Calls.request("t", Map.of(), 0));
        int idempotent = calls.getAndSet(0);
        executor(tool(SideEffects.DESTRUCTIVE, new Retry(2, 1), uncertain)).handle(Calls.request("t", Map.of(), 0));
        int declared = calls.getAndSet(0);
        // then
        assertThat(List.of(destructive, idempotent, declared)).containsExactly(1, 4, 2);
    }

    @Test
    void shouldStayInsideTheTimeOut() throws InterruptedException {
        // given
        CallableTool broken = tool(SideEffects.READ_ONLY, new Retry(4, 60_000), () -> {
            calls.incrementAndGet();
            throw ToolException.passing("http_failed", "connection refused", null);
        });
        long start = System.nanoTime();
        // when
        Reply.Failed reply = failed(executor(broken).handle(Calls.request("t", Map.of(), 500)));
        // then
        assertThat(calls).hasValue(1);
        assertThat(reply.code()).isEqualTo("http_failed");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    void shouldWaitAsLongAsItIsAsked() throws InterruptedException {
        // given
        CallableTool limited = tool(SideEffects.READ_ONLY, null, () -> {
            if (calls.incrementAndGet() == 1) {
                throw ToolException.passing("http_status", "429", Duration.ofMillis(200));
            }
            return "done";
        });
        long start = System.nanoTime();
        // when
        Reply reply = executor(limited).handle(Calls.request("t", Map.of(), 0));
        // then
        assertThat(reply).isInstanceOf(Reply.Completed.class);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(200));
    }

    @Test
    @DisplayName("what fails again and again is left alone for a while, then tried once")
    void shouldOpenAndCloseTheCircuit() throws InterruptedException {
        // given
        AtomicLong now = new AtomicLong();
        CallGuards guards =
                new CallGuards(policies(new Retry(1, 1)), 2, Duration.ofSeconds(30), new ToolThreads(1), now::get);
        AtomicInteger broken = new AtomicInteger(1);
        CallableTool tool = tool(SideEffects.READ_ONLY, null, () -> {
            calls.incrementAndGet();
            if (broken.get() == 1) {
                throw ToolException.passing("http_failed", "connection refused", null);
            }
            return "done";
        });
        ToolExecutor executor = executor(guards, tool);
        // when
        for (int i = 0; i < 5; i++) {
            executor.handle(Calls.request("t", Map.of(), 0));
        }
        int whenOpen = calls.get();
        Reply.Failed open = failed(executor.handle(Calls.request("t", Map.of(), 0)));
        now.addAndGet(Duration.ofSeconds(31).toNanos());
        executor.handle(Calls.request("t", Map.of(), 0));
        executor.handle(Calls.request("t", Map.of(), 0));
        int afterOneTry = calls.get();
        broken.set(0);
        now.addAndGet(Duration.ofSeconds(31).toNanos());
        Reply healed = executor.handle(Calls.request("t", Map.of(), 0));
        Reply next = executor.handle(Calls.request("t", Map.of(), 0));
        // then
        assertThat(whenOpen).isEqualTo(2);
        assertThat(open.code()).isEqualTo("circuit_open");
        assertThat(afterOneTry).isEqualTo(3);
        assertThat(List.of(healed, next)).allMatch(reply -> reply instanceof Reply.Completed);
    }

    @Test
    void shouldNotOpenTheCircuitForANo() throws InterruptedException {
        // given
        CallableTool no = tool(SideEffects.READ_ONLY, null, () -> {
            calls.incrementAndGet();
            throw new ToolException("file_not_found", "no");
        });
        ToolExecutor executor = executor(no);
        // when
        for (int i = 0; i < 20; i++) {
            executor.handle(Calls.request("t", Map.of(), 0));
        }
        // then
        assertThat(calls).hasValue(20);
    }

    @Test
    @DisplayName("F-258: only so many calls of a tool at a time")
    void shouldLimitCallsAtATime() throws InterruptedException {
        // given
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        CallableTool slow = tool(SideEffects.READ_ONLY, null, () -> {
            begun.countDown();
            end.await();
            return "done";
        });
        CallGuards guards = new CallGuards(
                new ToolPolicies(Map.of("t", new ToolPolicies.Policy(null, 1, 0, null)), ToolPolicies.Policy.DEFAULT),
                5,
                Duration.ofSeconds(30));
        ToolExecutor executor = executor(guards, slow);
        Thread first = Thread.ofVirtual().start(() -> {
            try {
                executor.handle(Calls.request("t", Map.of(), 0));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        begun.await();
        // when
        Reply.Failed busy = failed(executor.handle(Calls.request("t", Map.of(), 50)));
        end.countDown();
        first.join();
        Reply after = executor.handle(Calls.request("t", Map.of(), 1_000));
        // then
        assertThat(busy.code()).isEqualTo("tool_busy");
        assertThat(after).isInstanceOf(Reply.Completed.class);
    }

    @Test
    void shouldLimitCallsInAMinute() throws InterruptedException {
        // given
        AtomicLong now = new AtomicLong(-5);
        CallGuards guards = new CallGuards(
                new ToolPolicies(Map.of("t", new ToolPolicies.Policy(null, 0, 3, null)), ToolPolicies.Policy.DEFAULT),
                5,
                Duration.ofSeconds(30),
                new ToolThreads(1),
                now::get);
        ToolExecutor executor = executor(guards, tool(SideEffects.READ_ONLY, null, () -> calls.incrementAndGet()));
        // when
        for (int i = 0; i < 3; i++) {
            assertThat(executor.handle(Calls.request("t", Map.of(), 100))).isInstanceOf(Reply.Completed.class);
        }
        Reply.Failed fourth = failed(executor.handle(Calls.request("t", Map.of(), 100)));
        now.addAndGet(Duration.ofSeconds(20).toNanos());
        Reply later = executor.handle(Calls.request("t", Map.of(), 100));
        // then
        assertThat(fourth.code()).isEqualTo("tool_rate_limited");
        assertThat(later).isInstanceOf(Reply.Completed.class);
    }

    @Test
    void shouldLetTheOperatorSayWhoHasToAgree() {
        // given
        ToolPolicies policies = new ToolPolicies(
                Map.of(
                        "T",
                        ToolPolicies.Policy.DEFAULT,
                        "write-file",
                        new ToolPolicies.Policy(ToolPolicies.approval("always"), 0, 0, null)),
                ToolPolicies.Policy.DEFAULT);
        ToolDefinition tool =
                new ToolDefinition("write_file", "d", JsonObject.empty(), "tool", 1, SideEffects.IDEMPOTENT);
        // then
        assertThat(policies.apply(tool).approval()).isEqualTo(new Approval.Always());
        assertThat(ToolPolicies.approval("never")).isEqualTo(new Approval.Never());
        assertThat(ToolPolicies.approval("when: params.size > 3")).isEqualTo(new Approval.When("params.size > 3"));
        assertThatThrownBy(() -> ToolPolicies.approval("sometimes")).hasMessageContaining("found \"sometimes\"");
    }

    private interface Body {
        @Nullable
        Object call() throws ToolException, InterruptedException;
    }

    private static ToolPolicies policies(Retry retry) {
        return new ToolPolicies(Map.of(), new ToolPolicies.Policy(null, 5, 0, retry));
    }

    private static ToolExecutor executor(CallableTool tool) {
        return executor(new CallGuards(policies(FAST), 100, Duration.ofSeconds(30)), tool);
    }

    private static ToolExecutor executor(CallGuards guards, CallableTool tool) {
        return new ToolExecutor(
                new ToolRegistry(List.of(tool)),
                guards,
                new LargeResults(new MemoryContent(), 10_000, 10_000),
                Secrets.NONE,
                new SimpleMeterRegistry());
    }

    private static CallableTool tool(SideEffects effects, @Nullable Retry retry, Body body) {
        return new CallableTool() {
            @Override
            public ToolDefinition definition() {
                return new ToolDefinition(
                                "t", "Tests.", JsonObject.of(Map.of("type", "object")), "tool", 10_000, effects)
                        .withRetry(retry);
            }

            @Override
            public @Nullable Object call(JsonObject params, ToolContext context)
                    throws ToolException, InterruptedException {
                return body.call();
            }
        };
    }

    private static Reply.Failed failed(Reply reply) {
        assertThat(reply).isInstanceOf(Reply.Failed.class);
        return (Reply.Failed) reply;
    }
}
