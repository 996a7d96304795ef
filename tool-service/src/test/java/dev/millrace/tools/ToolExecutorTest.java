package dev.millrace.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.requests.Reply;
import dev.millrace.requests.Request;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.ToolDefinition.SideEffects;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.content.LargeResults;
import dev.millrace.tools.content.MemoryContent;
import dev.millrace.tools.secrets.Secrets;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class ToolExecutorTest {

    private static final long SAYS_NOTHING = 0;

    private final MeterRegistry meters = new SimpleMeterRegistry();

    @Test
    void shouldGiveTheResult() throws InterruptedException {
        // given
        ToolExecutor executor = executor(tool("echo", 1_000, (params, context) -> params));
        // when
        Reply reply = executor.handle(Calls.request("echo", Map.of("text", "a"), SAYS_NOTHING));
        // then
        assertThat(completed(reply)).isEqualTo(Map.of("text", "a"));
        assertThat(measured()).containsExactly("echo completed");
    }

    @Test
    void shouldTellTheToolOnWhoseBehalfItWorks() throws InterruptedException {
        // given
        ToolExecutor executor = executor(tool(
                "who",
                1_000,
                (params, context) -> context.namespace() + " " + context.taskId() + " " + context.callId()));
        // when
        Reply reply = executor.handle(Calls.request("who", Map.of(), SAYS_NOTHING));
        // then
        assertThat(completed(reply)).isEqualTo("default task-1 call-1");
    }

    @Test
    void shouldTakeNothingForAResult() throws InterruptedException {
        // given
        ToolExecutor executor = executor(tool("nothing", 1_000, (params, context) -> null));
        // when
        Reply reply = executor.handle(Calls.request("nothing", Map.of(), SAYS_NOTHING));
        // then
        assertThat(completed(reply)).isNull();
    }

    @Test
    @DisplayName("F-090, F-301: an unknown tool is named, with the one that may have been meant")
    void shouldAnswerForAnUnknownTool() throws InterruptedException {
        // given
        ToolExecutor executor = executor(tool("read_file", 1_000, (params, context) -> "x"));
        // when
        Reply.Failed far = failed(executor.handle(Calls.request("x", Map.of(), SAYS_NOTHING)));
        Reply.Failed near = failed(executor.handle(Calls.request("readFile", Map.of(), SAYS_NOTHING)));
        Reply.Failed misspelt = failed(executor.handle(Calls.request("raed_file", Map.of(), SAYS_NOTHING)));
        // then
        assertThat(far.error()).isEqualTo("Tool \"x\" not found");
        assertThat(far.code()).isEqualTo("tool_not_found");
        assertThat(near.error()).isEqualTo("Tool \"readFile\" not found. Did you mean \"read_file\"?");
        assertThat(misspelt.error()).contains("Did you mean \"read_file\"?");
        assertThat(measured()).containsOnly("unknown failed");
    }

    @Test
    @DisplayName("F-090: a tool that takes too long is interrupted, and the words are those of the specification")
    void shouldEndATimeOut() throws InterruptedException {
        // given
        CountDownLatch interrupted = new CountDownLatch(1);
        ToolExecutor executor = executor(tool("slow", 50, (params, context) -> {
            try {
                return new CountDownLatch(1).await(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
            }
        }));
        // when
        Reply.Failed reply = failed(executor.handle(Calls.request("slow", Map.of(), SAYS_NOTHING)));
        // then
        assertThat(reply.error()).isEqualTo("Tool execution timed out after 50ms");
        assertThat(reply.code()).isEqualTo("tool_timeout");
        assertThat(reply.durationMs()).isGreaterThanOrEqualTo(49);
        assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldNotWaitForAToolThatIgnoresItsInterrupt() throws InterruptedException {
        // given
        AtomicBoolean end = new AtomicBoolean();
        ToolExecutor executor = executor(tool("stubborn", 50, (params, context) -> {
            while (!end.get()) {
                Thread.onSpinWait();
            }
            return "late";
        }));
        // when
        Reply.Failed reply = failed(executor.handle(Calls.request("stubborn", Map.of(), SAYS_NOTHING)));
        end.set(true);
        // then
        assertThat(reply.code()).isEqualTo("tool_timeout");
    }

    @Test
    @DisplayName("tools that compute without end, twice as many as there are cores, hold up nothing else")
    void shouldStarveNobody() throws InterruptedException {
        // given
        AtomicBoolean end = new AtomicBoolean();
        ToolThreads threads = new ToolThreads(1_000);
        ToolExecutor executor = executor(
                threads,
                0,
                tool("endless", 200, (params, context) -> {
                    while (!end.get()) {
                        Thread.onSpinWait();
                    }
                    return "late";
                }),
                tool("quick", 5_000, (params, context) -> "done"));
        List<Reply> replies = Collections.synchronizedList(new ArrayList<>());
        List<Thread> callers = new ArrayList<>();
        // when
        try {
            for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
                callers.add(Thread.ofPlatform().start(() -> {
                    try {
                        replies.add(executor.handle(Calls.request("endless", Map.of(), SAYS_NOTHING)));
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }));
            }
            CountDownLatch virtual = new CountDownLatch(1);
            Thread.ofVirtual().start(virtual::countDown);
            // then
            assertThat(virtual.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(completed(executor.handle(Calls.request("quick", Map.of(), SAYS_NOTHING))))
                    .isEqualTo("done");
            for (Thread caller : callers) {
                caller.join();
            }
            assertThat(replies)
                    .hasSameSizeAs(callers)
                    .allSatisfy(reply -> assertThat(failed(reply).code()).isEqualTo("tool_timeout"));
        } finally {
            end.set(true);
        }
    }

    @Test
    @DisplayName(
            "a thread that does not heed its interrupt keeps its place among the calls of its tool, and no other's")
    void shouldGiveNoPlaceBackThatIsStillTaken() throws InterruptedException {
        // given
        AtomicBoolean end = new AtomicBoolean();
        ToolThreads threads = new ToolThreads(1_000);
        ToolExecutor executor = executor(threads, 2, stubborn(end), tool("quick", 5_000, (params, context) -> "done"));
        try {
            // when
            List<String> codes = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                codes.add(failed(executor.handle(Calls.request("stubborn", Map.of(), SAYS_NOTHING)))
                        .code());
            }
            // then
            assertThat(codes).containsExactly("tool_timeout", "tool_timeout", "tool_busy");
            assertThat(completed(executor.handle(Calls.request("quick", Map.of(), SAYS_NOTHING))))
                    .isEqualTo("done");
        } finally {
            end.set(true);
        }
        while (!failed(executor.handle(Calls.request("stubborn", Map.of("quick", true), SAYS_NOTHING)))
                .code()
                .equals("execution_error")) {
            Thread.sleep(10);
        }
    }

    @Test
    @Timeout(20)
    @DisplayName("a thread takes the next call, which sees nothing of the interrupt of the one before")
    void shouldKeepAThreadAndNotItsInterrupt() throws InterruptedException {
        // given
        List<Thread> interrupted = Collections.synchronizedList(new ArrayList<>());
        ToolExecutor executor = executor(
                tool("slow", 50, (params, context) -> {
                    interrupted.add(Thread.currentThread());
                    while (!Thread.currentThread().isInterrupted()) {
                        Thread.onSpinWait();
                    }
                    return "late, and still interrupted";
                }),
                tool("quick", 5_000, (params, context) -> {
                    boolean same = Thread.currentThread().equals(interrupted.getFirst());
                    return Thread.currentThread().isInterrupted() ? "interrupted" : same ? "same" : "other";
                }));
        assertThat(failed(executor.handle(Calls.request("slow", Map.of(), SAYS_NOTHING)))
                        .code())
                .isEqualTo("tool_timeout");
        // when: until that thread has noticed
        @Nullable Object found = "other";
        while ("other".equals(found)) {
            found = completed(executor.handle(Calls.request("quick", Map.of(), SAYS_NOTHING)));
        }
        // then
        assertThat(found).isEqualTo("same");
    }

    @Test
    @DisplayName("so many threads may be stuck and no more; when one of them ends, tools run again")
    void shouldBoundTheThreadsThatAreStuck() throws InterruptedException {
        // given
        AtomicBoolean end = new AtomicBoolean();
        AtomicLong now = new AtomicLong();
        ToolThreads threads = new ToolThreads(2, now::get);
        ToolExecutor executor = executor(threads, 0, stubborn(end), tool("quick", 5_000, (params, context) -> "done"));
        try {
            // when: two time-outs, a moment ago
            executor.handle(Calls.request("stubborn", Map.of(), SAYS_NOTHING));
            executor.handle(Calls.request("stubborn", Map.of(), SAYS_NOTHING));
            now.addAndGet(ToolThreads.HEEDED_WITHIN.toNanos());
            // then: they may yet end
            assertThat(threads.isFull()).isFalse();
            assertThat(completed(executor.handle(Calls.request("quick", Map.of(), SAYS_NOTHING))))
                    .isEqualTo("done");
            // when
            now.incrementAndGet();
            // then
            assertThat(threads.isFull()).isTrue();
            assertThat(threads.stuck()).isEqualTo(2);
            assertThat(threads.describe()).isEqualTo("stubborn: 2");
            assertThat(failed(executor.handle(Calls.request("quick", Map.of(), SAYS_NOTHING))))
                    .extracting(Reply.Failed::code)
                    .isEqualTo("tool_busy");
        } finally {
            end.set(true);
        }
        while (threads.stuck() > 0) {
            Thread.sleep(10);
        }
        assertThat(completed(executor.handle(Calls.request("quick", Map.of(), SAYS_NOTHING))))
                .isEqualTo("done");
    }

    @Test
    @DisplayName("the longest error that a model is told")
    void shouldCutALongError() throws InterruptedException {
        // given
        ToolExecutor executor = executor(tool("talks", 1_000, (params, context) -> {
            throw new ToolException(
                    "mcp_tool_error", "x".repeat(params.get("length") instanceof Integer length ? length : 0));
        }));
        // when
        Reply.Failed whole =
                failed(executor.handle(Calls.request("talks", Map.of("length", ToolExecutor.MAX_ERROR), SAYS_NOTHING)));
        Reply.Failed cut = failed(
                executor.handle(Calls.request("talks", Map.of("length", ToolExecutor.MAX_ERROR + 1), SAYS_NOTHING)));
        // then
        assertThat(whole.error()).hasSize(ToolExecutor.MAX_ERROR).endsWith("x");
        assertThat(cut.error()).hasSize(ToolExecutor.MAX_ERROR + 1).endsWith("…");
    }

    private static CallableTool stubborn(AtomicBoolean end) {
        return tool("stubborn", 50, (params, context) -> {
            while (!end.get()) {
                Thread.onSpinWait();
            }
            throw new IllegalStateException("late");
        });
    }

    @Test
    @DisplayName("X-14: the requester may shorten the tool's time and not lengthen it")
    void shouldHeedTheRequestersTimeOut() throws InterruptedException {
        // given
        ToolExecutor executor =
                executor(tool("slow", 200, (params, context) -> new CountDownLatch(1).await(1, TimeUnit.MINUTES)));
        // when
        Reply.Failed shorter = failed(executor.handle(Calls.request("slow", Map.of(), 20)));
        Reply.Failed longer = failed(executor.handle(Calls.request("slow", Map.of(), 60_000)));
        // then
        assertThat(shorter.error()).isEqualTo("Tool execution timed out after 20ms");
        assertThat(longer.error()).isEqualTo("Tool execution timed out after 200ms");
    }

    @Test
    @DisplayName("X-14: a tool that says nothing has 30 s")
    void shouldHaveTheDefaultTimeOut() {
        assertThat(ToolDefinition.DEFAULT_TIMEOUT_MS).isEqualTo(30_000);
    }

    @Test
    @DisplayName("a schema whose references double at each level holds no call up, and lets none through unchecked")
    void shouldGiveUpACheckThatNeverEnds() throws InterruptedException {
        // given: 2^40 ways
        Map<String, Object> definitions = new HashMap<>();
        for (int level = 0; level < 40; level++) {
            Map<String, Object> next = Map.of("$ref", "#/$defs/l" + (level + 1));
            definitions.put("l" + level, Map.of("anyOf", List.of(next, next)));
        }
        definitions.put("l40", Map.of("type", "integer"));
        AtomicBoolean called = new AtomicBoolean();
        CallableTool trap = new CallableTool() {
            @Override
            public ToolDefinition definition() {
                return new ToolDefinition(
                        "trap",
                        "Tests.",
                        JsonObject.of(Map.of(
                                "type",
                                "object",
                                "$defs",
                                definitions,
                                "properties",
                                Map.of("a", Map.of("$ref", "#/$defs/l0")))),
                        "tool",
                        1_000,
                        SideEffects.READ_ONLY);
            }

            @Override
            public Object call(JsonObject params, ToolContext context) {
                called.set(true);
                return "done";
            }
        };
        // when
        Reply.Failed reply = failed(Calls.executor(trap).handle(Calls.request("trap", Map.of("a", "no number"), 0)));
        // then
        assertThat(reply.code()).isEqualTo("invalid_arguments");
        assertThat(reply.error()).contains("too long to check");
        assertThat(called).isFalse();
    }

    @Test
    @DisplayName("F-301: arguments that do not fit are refused before the tool is called")
    void shouldCheckTheArguments() throws InterruptedException {
        // given
        AtomicBoolean called = new AtomicBoolean();
        CallableTool strict = new CallableTool() {
            @Override
            public ToolDefinition definition() {
                return new ToolDefinition(
                        "strict",
                        "Tests.",
                        JsonObject.of(Map.of(
                                "type",
                                "object",
                                "properties",
                                Map.of(
                                        "path",
                                        Map.of("type", "string", "minLength", 1, "maxLength", 10),
                                        "deep",
                                        Map.of("type", "boolean")),
                                "required",
                                List.of("path"),
                                "additionalProperties",
                                false)),
                        "tool",
                        1_000,
                        SideEffects.READ_ONLY);
            }

            @Override
            public Object call(JsonObject params, ToolContext context) {
                called.set(true);
                return "ok";
            }
        };
        ToolExecutor executor = executor(strict);
        List<Map<String, @Nullable Object>> wrong = List.of(
                Map.of(),
                Map.of("path", 1),
                Map.of("path", ""),
                Map.of("path", "x".repeat(11)),
                Map.of("path", "a", "deep", "yes"),
                Map.of("path", "a", "more", 1),
                Map.of("path", List.of("a")));
        // when
        List<Reply.Failed> replies = new ArrayList<>();
        for (Map<String, @Nullable Object> params : wrong) {
            replies.add(failed(executor.handle(Calls.request("strict", params, SAYS_NOTHING))));
        }
        // then
        assertThat(replies).extracting(Reply.Failed::code).containsOnly("invalid_arguments");
        assertThat(replies).extracting(Reply.Failed::error).allMatch(error -> error.startsWith("VALIDATION ERROR: "));
        assertThat(called).isFalse();
    }

    @Test
    void shouldPassOnWhatAToolRefuses() throws InterruptedException {
        // given
        ToolExecutor executor = executor(tool("no", 1_000, (params, context) -> {
            throw new ToolException("file_not_found", "File not found: \"a\"");
        }));
        // when
        Reply.Failed reply = failed(executor.handle(Calls.request("no", Map.of(), SAYS_NOTHING)));
        // then
        assertThat(reply.code()).isEqualTo("file_not_found");
        assertThat(reply.error()).isEqualTo("File not found: \"a\"");
        assertThat(measured()).containsExactly("no failed");
    }

    @Test
    @DisplayName("F-090, F-301: an exception or an error inside a tool is a failed call and nothing more")
    void shouldSurviveWhatAToolThrows() throws InterruptedException {
        // given
        ToolExecutor executor = executor(
                tool("exception", 1_000, (params, context) -> {
                    throw new IllegalStateException("a bug");
                }),
                tool("error", 1_000, (params, context) -> {
                    throw new StackOverflowError();
                }),
                tool("no-json", 1_000, (params, context) -> new Object()));
        // when
        Reply.Failed exception = failed(executor.handle(Calls.request("exception", Map.of(), SAYS_NOTHING)));
        Reply.Failed error = failed(executor.handle(Calls.request("error", Map.of(), SAYS_NOTHING)));
        Reply.Failed noJson = failed(executor.handle(Calls.request("no-json", Map.of(), SAYS_NOTHING)));
        // then
        assertThat(List.of(exception, error, noJson))
                .extracting(Reply.Failed::code)
                .containsOnly("execution_error");
        assertThat(exception.error()).startsWith("EXECUTION ERROR: ");
    }

    @Test
    @DisplayName("a result that is too large is cut, and the whole is kept")
    void shouldCutAResultThatIsTooLarge() throws InterruptedException {
        // given
        ToolExecutor executor = executor(tool("large", 5_000, (params, context) -> "x".repeat(20_000)));
        // when
        Object result = completed(executor.handle(Calls.request("large", Map.of(), SAYS_NOTHING)));
        // then
        assertThat(result)
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.MAP)
                .containsEntry("truncated", true)
                .containsEntry("totalBytes", 20_000)
                .containsKeys("note", "reference", "start");
    }

    @Test
    void shouldRunCallsSideBySide() throws InterruptedException {
        // given
        CountDownLatch both = new CountDownLatch(2);
        ToolExecutor executor = executor(tool("meet", 10_000, (params, context) -> {
            both.countDown();
            return both.await(5, TimeUnit.SECONDS);
        }));
        AtomicReference<@Nullable Reply> other = new AtomicReference<>();
        // when
        Thread thread = Thread.ofVirtual().start(() -> other.set(handle(executor, "meet")));
        Reply reply = executor.handle(Calls.request("meet", Map.of(), SAYS_NOTHING));
        thread.join();
        // then
        assertThat(completed(reply)).isEqualTo(true);
        assertThat(other.get()).isInstanceOf(Reply.Completed.class);
    }

    @Test
    void shouldHandOnItsOwnInterrupt() throws InterruptedException {
        // given
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch toolInterrupted = new CountDownLatch(1);
        ToolExecutor executor = executor(tool("slow", 60_000, (params, context) -> {
            begun.countDown();
            try {
                return new CountDownLatch(1).await(1, TimeUnit.MINUTES);
            } finally {
                toolInterrupted.countDown();
            }
        }));
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread caller = Thread.ofVirtual().start(() -> {
            try {
                executor.handle(Calls.request("slow", Map.of(), SAYS_NOTHING));
            } catch (InterruptedException e) {
                interrupted.set(true);
            }
        });
        begun.await();
        // when
        caller.interrupt();
        caller.join();
        // then
        assertThat(interrupted).isTrue();
        assertThat(toolInterrupted.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    @DisplayName("F-159: two tools with one name are refused")
    void shouldRefuseASecondToolOfTheSameName() {
        // given
        CallableTool first = tool("echo", 1, (params, context) -> "a");
        CallableTool second = tool("echo", 1, (params, context) -> "b");
        // when / then
        assertThatThrownBy(() -> new ToolRegistry(List.of(first, second)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"echo\"");
    }

    private interface Body {
        @Nullable
        Object call(JsonObject params, ToolContext context) throws ToolException, InterruptedException;
    }

    private static CallableTool tool(String name, long timeoutMs, Body body) {
        return new CallableTool() {
            @Override
            public ToolDefinition definition() {
                return new ToolDefinition(
                        name,
                        "Tests.",
                        JsonObject.of(Map.of("type", "object")),
                        "tool",
                        timeoutMs,
                        SideEffects.READ_ONLY);
            }

            @Override
            public @Nullable Object call(JsonObject params, ToolContext context)
                    throws ToolException, InterruptedException {
                return body.call(params, context);
            }
        };
    }

    private ToolExecutor executor(ToolThreads threads, int maxConcurrent, CallableTool... tools) {
        ToolPolicies policies = new ToolPolicies(
                Map.of(), new ToolPolicies.Policy(null, maxConcurrent, 0, new ToolDefinition.Retry(1, 1)));
        return new ToolExecutor(
                new ToolRegistry(List.of(tools)),
                new CallGuards(policies, 1_000, Duration.ofSeconds(30), threads),
                new LargeResults(new MemoryContent(), 10_000, 1_000_000),
                Secrets.NONE,
                meters);
    }

    private ToolExecutor executor(CallableTool... tools) {
        return new ToolExecutor(
                new ToolRegistry(List.of(tools)),
                new CallGuards(ToolPolicies.NONE, 5, Duration.ofSeconds(30)),
                new LargeResults(new MemoryContent(), 10_000, 1_000_000),
                Secrets.NONE,
                meters);
    }

    /** Tool and outcome of each call. */
    private List<String> measured() {
        return meters.find("millrace.tools.calls").timers().stream()
                .flatMap(timer -> Collections.nCopies(
                        Math.toIntExact(timer.count()),
                        timer.getId().getTag("toolName") + " " + timer.getId().getTag("outcome"))
                        .stream())
                .toList();
    }

    private static @Nullable Reply handle(ToolExecutor executor, String toolName) {
        Request request = Calls.request(toolName, Map.of(), SAYS_NOTHING);
        try {
            return executor.handle(request);
        } catch (InterruptedException e) {
            return null;
        }
    }

    private static @Nullable Object completed(Reply reply) {
        assertThat(reply).isInstanceOf(Reply.Completed.class);
        return ((Reply.Completed) reply).result();
    }

    private static Reply.Failed failed(Reply reply) {
        assertThat(reply).isInstanceOf(Reply.Failed.class);
        return (Reply.Failed) reply;
    }
}
