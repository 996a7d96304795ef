package dev.millrace.llm.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelDelta;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.Requests;
import dev.millrace.llm.StreamListener;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.llm.remote.RemoteSettings.Timeouts;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.StubModelServer.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** What holds for every provider alike, over real HTTP. */
@Timeout(60)
@Tag("slow")
class WireTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Timeouts PATIENT = new Timeouts("models.m.", PATIENCE, PATIENCE, PATIENCE);
    private static final ModelRequest QUESTION =
            Requests.system("Be brief.").thenUser("hi").build();

    private volatile Answer answer = Answer.hangUp();
    private final StubModelServer server = StubModelServer.start(request -> answer);
    private final List<ModelDelta> deltas = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        server.close();
    }

    private ModelReply stream(Dialect dialect) throws ModelCallException {
        return dialect.model(server, PATIENT).stream(QUESTION, deltas::add);
    }

    private ModelCallException streamFailure(Dialect dialect, Timeouts timeouts) {
        return catchThrowableOfType(
                ModelCallException.class, () -> dialect.model(server, timeouts).stream(QUESTION, deltas::add));
    }

    private ModelCallException failure(Dialect dialect) {
        return catchThrowableOfType(
                ModelCallException.class, () -> dialect.model(server, PATIENT).chat(QUESTION));
    }

    private String text() {
        return deltas.stream()
                .map(delta -> delta instanceof ModelDelta.Text(String text) ? text : "")
                .collect(Collectors.joining());
    }

    private String reasoning() {
        return deltas.stream()
                .map(delta -> delta instanceof ModelDelta.Reasoning(String text) ? text : "")
                .collect(Collectors.joining());
    }

    private String arguments(int index) {
        return deltas.stream()
                .map(delta ->
                        delta instanceof ModelDelta.ToolCall call && call.index() == index ? call.arguments() : "")
                .collect(Collectors.joining());
    }

    private static void assertCalls(Dialect dialect, ModelReply reply) {
        assertThat(reply.text()).isNull();
        assertThat(reply.finishReason()).isEqualTo(FinishReason.TOOL_CALLS);
        String derived = ToolCallRequest.derivedId(QUESTION.callId(), 0);
        String first = dialect == Dialect.OLLAMA ? derived : "id-1";
        assertThat(reply.toolCalls().getFirst()).isEqualTo(new ToolCallRequest(first, "find", Map.of("q", "a b")));
        assertThat(reply.toolCalls()).hasSize(2);
        assertThat(reply.toolCalls().get(1).toolName()).isEqualTo("time");
        assertThat(reply.toolCalls().get(1).arguments()).isEmpty();
        assertThat(reply.toolCalls().get(1).malformedArguments()).isNull();
        assertThat(reply.toolCalls().get(1).toolCallId()).isNotEqualTo(first).isNotBlank();
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadAWholeReply(Dialect dialect) throws Exception {
        // given
        answer = dialect.whole();

        // when
        ModelReply reply = dialect.model(server, PATIENT).chat(QUESTION);

        // then
        assertThat(reply)
                .isEqualTo(new ModelReply(
                        "hello world", "let me think", List.of(), FinishReason.STOP, dialect.usage(), "answering"));
        assertThat(server.requests().getFirst().path()).isEqualTo(dialect.wholePath);
        assertThat(server.requests().getFirst().headers()).containsEntry(dialect.keyHeader, dialect.keyValue);
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadTheSameReplyFromAStream(Dialect dialect) throws Exception {
        // given
        answer = dialect.streamed();

        // when
        ModelReply reply = stream(dialect);

        // then
        assertThat(reply)
                .isEqualTo(new ModelReply(
                        "hello world", "let me think", List.of(), FinishReason.STOP, dialect.usage(), "answering"));
        assertThat(text()).isEqualTo("hello world");
        assertThat(reasoning()).isEqualTo("let me think");
        assertThat(deltas).contains(new ModelDelta.Text("hello "), new ModelDelta.Reasoning("let me "));
        assertThat(server.requests().getFirst().path()).isEqualTo(dialect.streamPath);
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadParallelToolCalls(Dialect dialect) throws Exception {
        // given
        answer = dialect.wholeCalls();

        // when
        ModelReply reply = dialect.model(server, PATIENT).chat(QUESTION);

        // then
        assertCalls(dialect, reply);
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadParallelToolCallsFromAStream(Dialect dialect) throws Exception {
        // given
        answer = dialect.streamedCalls();

        // when
        ModelReply reply = stream(dialect);

        // then
        assertCalls(dialect, reply);
        assertThat(WireJson.MAPPER.readTree(arguments(0)).path("q").asText()).isEqualTo("a b");
        assertThat(deltas)
                .filteredOn(delta -> delta instanceof ModelDelta.ToolCall call && "time".equals(call.toolName()))
                .isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("deltas come on the calling thread, before the reply, while the provider is still sending")
    void shouldDeliverDeltasWhileTheReplyIsMade(Dialect dialect) throws Exception {
        // given
        answer = dialect.streamed().pausingBefore(dialect.streamed().chunks().size() - 1, Duration.ofMinutes(10));
        BlockingQueue<String> arrived = new LinkedBlockingQueue<>();
        StreamListener listener = delta -> arrived.add(Thread.currentThread().getName());
        CompletableFuture<ModelCallException> failure = new CompletableFuture<>();
        Thread caller = Thread.ofVirtual()
                .name("caller")
                .start(() -> failure.complete(catchThrowableOfType(
                        ModelCallException.class, () -> dialect.model(server, PATIENT).stream(QUESTION, listener))));

        // when
        String thread = arrived.poll(20, TimeUnit.SECONDS);

        // then
        assertThat(thread).isEqualTo("caller");
        assertThat(failure).isNotDone();
        caller.interrupt();
        caller.join(PATIENCE);
    }

    @ParameterizedTest
    @EnumSource
    void shouldCloseTheConnectionOfACancelledStream(Dialect dialect) throws Exception {
        // given
        answer = dialect.streamed().pausingBefore(dialect.streamed().chunks().size() - 1, Duration.ofMinutes(10));
        CompletableFuture<ModelCallException> failure = new CompletableFuture<>();
        CompletableFuture<Boolean> begun = new CompletableFuture<>();
        Thread caller = Thread.ofVirtual()
                .start(() -> failure.complete(catchThrowableOfType(
                        ModelCallException.class,
                        () -> dialect.model(server, PATIENT).stream(QUESTION, delta -> begun.complete(true)))));
        begun.get(20, TimeUnit.SECONDS);

        // when
        caller.interrupt();

        // then
        assertThat(failure.get(20, TimeUnit.SECONDS).code()).isEqualTo(ModelErrorCode.CANCELLED);
        assertThat(server.awaitAbandoned(1, PATIENCE)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void shouldCloseTheConnectionOfACancelledCall(Dialect dialect) throws Exception {
        // given
        answer = dialect.whole().bodyAfter(Duration.ofMinutes(10));
        CompletableFuture<ModelCallException> failure = new CompletableFuture<>();
        Thread caller = Thread.ofVirtual().start(() -> failure.complete(failure(dialect)));
        server.awaitCalls(1, PATIENCE);

        // when
        caller.interrupt();

        // then
        assertThat(failure.get(20, TimeUnit.SECONDS).code()).isEqualTo(ModelErrorCode.CANCELLED);
        assertThat(server.awaitAbandoned(1, PATIENCE)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("half a stream is a failure that may be tried again, however politely it ends")
    void shouldNotTakeHalfAStreamForAReply(Dialect dialect) {
        // given
        Answer whole = dialect.streamed();
        int last = whole.chunks().size() - (dialect == Dialect.OPENAI ? 3 : dialect == Dialect.ANTHROPIC ? 2 : 1);

        // when
        answer = whole.cutOffAfter(last);
        ModelCallException lost = streamFailure(dialect, PATIENT);
        answer = new Answer(
                200,
                whole.headers(),
                "",
                Duration.ZERO,
                Duration.ZERO,
                whole.chunks().subList(0, last),
                false);
        ModelCallException polite = streamFailure(dialect, PATIENT);

        // then
        assertThat(lost.code()).isEqualTo(ModelErrorCode.MODEL_UNAVAILABLE);
        assertThat(lost.retryable()).isTrue();
        assertThat(polite.code()).isEqualTo(ModelErrorCode.MODEL_UNAVAILABLE);
        assertThat(polite).hasMessageContaining("ended the stream before the reply was complete");
        assertThat(text()).startsWith("hello ");
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadAnErrorInTheMiddleOfAStream(Dialect dialect) {
        // given
        answer = dialect.errorMidway();

        // when
        ModelCallException failure = streamFailure(dialect, PATIENT);

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.MODEL_UNAVAILABLE);
        assertThat(failure.retryable()).isTrue();
        assertThat(text()).isEqualTo("hello ");
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadARefusedStreamRequest(Dialect dialect) {
        // given
        answer = Answer.error(429, "rate_limit", "slow down").with("Retry-After", "7");

        // when
        ModelCallException failure = streamFailure(dialect, PATIENT);

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.RATE_LIMITED);
        assertThat(failure.retryAfter()).isEqualTo(Duration.ofSeconds(7));
        assertThat(failure).hasMessageContaining("slow down");
        assertThat(server.calls()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "OLLAMA")
    void shouldTellARefusalFromAReply(Dialect dialect) {
        // given
        ModelErrorCode expected = dialect == Dialect.GEMINI ? ModelErrorCode.CONTENT_FILTERED : ModelErrorCode.REFUSED;

        // when
        answer = dialect.wholeRefusal();
        ModelCallException whole = failure(dialect);
        answer = dialect.streamedRefusal();
        ModelCallException streamed = streamFailure(dialect, PATIENT);

        // then
        assertThat(whole.code()).isEqualTo(expected);
        assertThat(streamed.code()).isEqualTo(expected);
        assertThat(streamed.retryable()).isFalse();
        assertThat(streamed.getMessage()).isEqualTo(whole.getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeNonsenseForABadResponse(Dialect dialect) {
        for (String body : List.of("<html>hello</html>", "{", "[]", "{}", "")) {
            // given
            answer = new Answer(200, Map.of(), body, Duration.ZERO, Duration.ZERO);

            // when
            ModelCallException failure = failure(dialect);

            // then
            assertThat(failure.code()).as(body).isEqualTo(ModelErrorCode.BAD_RESPONSE);
            assertThat(failure.retryable()).as(body).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotTakeNonsenseForAStream(Dialect dialect) {
        for (String body : List.of("<html>hello</html>", "data: {\n\n", "{", "data: [1]\n\n", "data: {}\n\n", "{}\n")) {
            // given
            answer = new Answer(200, Map.of(), body, Duration.ZERO, Duration.ZERO);

            // when
            ModelCallException failure = streamFailure(dialect, PATIENT);

            // then
            assertThat(failure.code()).as(body).isIn(ModelErrorCode.BAD_RESPONSE, ModelErrorCode.MODEL_UNAVAILABLE);
            assertThat(failure.retryable()).as(body).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldTimeOutBeforeTheFirstToken(Dialect dialect) throws Exception {
        // given
        answer = dialect.streamed().bodyAfter(Duration.ofMinutes(10));
        Timeouts timeouts = new Timeouts("models.m.", PATIENCE, Duration.ofMillis(200), PATIENCE);

        // when
        ModelCallException failure = streamFailure(dialect, timeouts);

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.TIMEOUT);
        assertThat(failure).hasMessageContaining("within 200 ms (millrace.llm.models.m.first-token-timeout)");
        assertThat(server.awaitAbandoned(1, PATIENCE)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void shouldTimeOutInTheMiddleOfAStream(Dialect dialect) throws Exception {
        // given
        answer = dialect.streamed().pausingBefore(dialect.streamed().chunks().size() - 1, Duration.ofMinutes(10));
        Timeouts timeouts = new Timeouts("models.m.", PATIENCE, Duration.ofMillis(1_000), Duration.ofMillis(1_200));

        // when
        ModelCallException failure = streamFailure(dialect, timeouts);

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.TIMEOUT);
        assertThat(failure).hasMessageContaining("within 1200 ms (millrace.llm.models.m.request-timeout)");
        assertThat(server.awaitAbandoned(1, PATIENCE)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndTheCallWhenTheListenerBreaks(Dialect dialect) throws Exception {
        // given
        answer = dialect.streamed().pausingBefore(dialect.streamed().chunks().size() - 1, Duration.ofMinutes(10));
        IllegalStateException broken = new IllegalStateException("no room");
        StreamListener listener = delta -> {
            deltas.add(delta);
            throw broken;
        };

        // when
        ModelCallException failure = catchThrowableOfType(
                ModelCallException.class, () -> dialect.model(server, PATIENT).stream(QUESTION, listener));

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.INTERNAL_ERROR);
        assertThat(failure).hasCause(broken);
        assertThat(deltas).hasSize(1);
        assertThat(server.awaitAbandoned(1, PATIENCE)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("a connection whose stream came to its end serves the next request")
    void shouldKeepTheConnection(Dialect dialect) throws Exception {
        // given
        answer = dialect.streamed();
        RemoteModel model = dialect.model(server, PATIENT);

        // when
        model.stream(QUESTION, StreamListener.NONE);
        ModelReply second = model.stream(QUESTION, StreamListener.NONE);

        // then
        assertThat(second.text()).isEqualTo("hello world");
        assertThat(server.abandoned()).isZero();
    }
}
