package dev.millrace.testing;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Stands in for a model provider's endpoint on a loopback port: answers each request as the test says, at once or in a
 * stream, and remembers what it was asked. The answers that are made here are OpenAI's chat completions; those of other
 * providers a test brings as text.
 *
 * <p>On Vert.x, since the JDK's server cannot tell that a client has hung up before it is answered: that is what the
 * tests of cancellation want to know.
 */
public final class StubModelServer implements AutoCloseable {

    private final Responder responder;
    private final Vertx vertx = Vertx.vertx();
    private final HttpServer server = vertx.createHttpServer();
    private volatile boolean closed;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // guarded by lock
    private final List<Request> requests = new ArrayList<>();
    private int abandoned;
    private @Nullable Throwable broken;

    /** Decides about one request; called on a thread of that connection, and may block. */
    @FunctionalInterface
    public interface Responder {
        Answer answer(Request request) throws Exception;
    }

    /**
     * What was asked.
     *
     * @param number counts all requests of this server, from 1
     * @param headers by lower-case name; the last one if a header is there twice
     * @param text the body as it came
     * @param body the body as JSON values
     */
    public record Request(
            int number,
            String method,
            String path,
            Map<String, String> headers,
            String text,
            Map<String, @Nullable Object> body) {

        /** The {@code messages} of the body. */
        @SuppressWarnings("unchecked") // the shape of the API
        public List<Map<String, @Nullable Object>> messages() {
            return (List<Map<String, @Nullable Object>>) body.getOrDefault("messages", List.of());
        }

        /** The {@code content} of the last message with this role; empty if there is none. */
        public String last(String role) {
            return messages().reversed().stream()
                    .filter(message -> role.equals(message.get("role")))
                    .findFirst()
                    .map(message -> String.valueOf(message.get("content")))
                    .orElse("");
        }
    }

    /**
     * A tool call of an answer.
     *
     * @param arguments JSON text, or whatever a model may get wrong
     */
    public record ToolCall(String id, String tool, String arguments) {

        private Map<String, @Nullable Object> toJson() {
            return Map.of("id", id, "type", "function", "function", Map.of("name", tool, "arguments", arguments));
        }
    }

    /**
     * What to answer.
     *
     * @param status the HTTP status; 0 = hang up without an answer
     * @param headers beside Content-Type and Content-Length
     * @param body sent as it is
     * @param delay how long to wait first; a client that hangs up meanwhile is counted in {@link #abandoned}
     * @param bodyDelay how long to wait between headers and body, likewise
     * @param chunks sent one after the other in place of the body; empty = the body is sent as a whole
     * @param cutOff whether the connection is closed after the chunks, in the middle of the response
     */
    public record Answer(
            int status,
            Map<String, String> headers,
            String body,
            Duration delay,
            Duration bodyDelay,
            List<Chunk> chunks,
            boolean cutOff) {

        private static final String COMPLETION = "chat.completion";

        public Answer {
            headers = Map.copyOf(headers);
            chunks = List.copyOf(chunks);
        }

        /** An answer that comes as a whole. */
        public Answer(int status, Map<String, String> headers, String body, Duration delay, Duration bodyDelay) {
            this(status, headers, body, delay, bodyDelay, List.of(), false);
        }

        /** A stream of pieces of text, of this media type, status 200. */
        public static Answer stream(String mediaType, String... pieces) {
            return new Answer(
                    200,
                    Map.of("Content-Type", mediaType),
                    "",
                    Duration.ZERO,
                    Duration.ZERO,
                    Stream.of(pieces)
                            .map(piece -> new Chunk(piece, Duration.ZERO))
                            .toList(),
                    false);
        }

        /** Server-sent events without a name, one for each text of data. */
        public static Answer events(String... data) {
            return stream(
                    "text/event-stream",
                    Stream.of(data).map(text -> "data: " + text + "\n\n").toArray(String[]::new));
        }

        /** An assistant message with this text, 10 tokens in and 5 out. */
        public static Answer text(String text) {
            return message("stop", Map.of("role", "assistant", "content", text));
        }

        /** An assistant message with these tool calls, 10 tokens in and 5 out. */
        public static Answer toolCalls(ToolCall... calls) {
            Map<String, @Nullable Object> message = new LinkedHashMap<>();
            message.put("role", "assistant");
            message.put("content", null);
            message.put("tool_calls", Stream.of(calls).map(ToolCall::toJson).toList());
            return message("tool_calls", message);
        }

        /** Any assistant message. */
        public static Answer message(String finishReason, Map<String, @Nullable Object> message) {
            return json(Map.of(
                    "id",
                    "chatcmpl-1",
                    "object",
                    COMPLETION,
                    "created",
                    1,
                    "model",
                    "stub-model",
                    "choices",
                    List.of(Map.of("index", 0, "message", message, "finish_reason", finishReason)),
                    "usage",
                    Map.of("prompt_tokens", 10, "completion_tokens", 5, "total_tokens", 15)));
        }

        /** A chat completion as a stream of events, if the request asks for one; everything else as it is. */
        private Answer asAskedFor(Request request) throws MalformedEventException {
            if (!Boolean.TRUE.equals(request.body().get("stream")) || !body.contains("\"" + COMPLETION + "\"")) {
                return this;
            }
            Map<String, @Nullable Object> whole = Json.readObject(body.getBytes(StandardCharsets.UTF_8));
            Map<?, ?> choice = (Map<?, ?>) ((List<?>) Objects.requireNonNull(whole.get("choices"))).getFirst();
            Map<String, @Nullable Object> message = new LinkedHashMap<>();
            ((Map<?, ?>) Objects.requireNonNull(choice.get("message")))
                    .forEach((name, value) -> message.put(String.valueOf(name), value));
            if (message.get("tool_calls") instanceof List<?> calls) {
                List<Map<Object, @Nullable Object>> numbered = new ArrayList<>();
                for (Object call : calls) {
                    Map<Object, @Nullable Object> one = new LinkedHashMap<>((Map<?, ?>) call);
                    one.put("index", numbered.size());
                    numbered.add(one);
                }
                message.put("tool_calls", numbered);
            }
            Map<String, @Nullable Object> last = new LinkedHashMap<>();
            last.put("index", 0);
            last.put("delta", Map.of());
            last.put("finish_reason", choice.get("finish_reason"));
            Answer events = events(
                    chunk(whole, List.of(Map.of("index", 0, "delta", message)), null),
                    chunk(whole, List.of(last), null),
                    chunk(whole, List.of(), whole.get("usage")),
                    "[DONE]");
            Map<String, String> all = new LinkedHashMap<>(headers);
            all.putAll(events.headers());
            return new Answer(status, all, "", delay, bodyDelay, events.chunks(), cutOff);
        }

        private static String chunk(Map<String, @Nullable Object> whole, List<?> choices, @Nullable Object usage) {
            Map<String, @Nullable Object> chunk = new LinkedHashMap<>();
            chunk.put("id", whole.get("id"));
            chunk.put("object", COMPLETION + ".chunk");
            chunk.put("created", whole.get("created"));
            chunk.put("model", whole.get("model"));
            chunk.put("choices", choices);
            if (usage != null) {
                chunk.put("usage", usage);
            }
            return Json.writeText(chunk);
        }

        /** Any JSON with status 200. */
        public static Answer json(Map<String, @Nullable Object> body) {
            return new Answer(200, Map.of(), Json.writeText(body), Duration.ZERO, Duration.ZERO);
        }

        /** An error in OpenAI's shape. */
        public static Answer error(int status, String code, String message) {
            String body = Json.writeText(Map.of("error", Map.of("message", message, "type", code, "code", code)));
            return new Answer(status, Map.of(), body, Duration.ZERO, Duration.ZERO);
        }

        /** Closes the connection without a word. */
        public static Answer hangUp() {
            return new Answer(0, Map.of(), "", Duration.ZERO, Duration.ZERO);
        }

        /** The same, with one more header. */
        public Answer with(String header, String value) {
            Map<String, String> more = new LinkedHashMap<>(headers);
            more.put(header, value);
            return new Answer(status, more, body, delay, bodyDelay, chunks, cutOff);
        }

        /** The same, later. */
        public Answer after(Duration pause) {
            return new Answer(status, headers, body, pause, bodyDelay, chunks, cutOff);
        }

        /** The same, with a pause between headers and body. */
        public Answer bodyAfter(Duration pause) {
            return new Answer(status, headers, body, delay, pause, chunks, cutOff);
        }

        /** The same stream, with a pause before the chunk of this number, counted from 0. */
        public Answer pausingBefore(int chunk, Duration pause) {
            List<Chunk> paused = new ArrayList<>(chunks);
            paused.set(chunk, new Chunk(chunks.get(chunk).text(), pause));
            return new Answer(status, headers, body, delay, bodyDelay, paused, cutOff);
        }

        /** The same stream, whose connection is lost after that many chunks. */
        public Answer cutOffAfter(int count) {
            return new Answer(status, headers, body, delay, bodyDelay, chunks.subList(0, count), true);
        }
    }

    /**
     * A piece of a stream.
     *
     * @param before how long to wait first; a client that hangs up meanwhile is counted in {@link #abandoned}
     */
    public record Chunk(String text, Duration before) {}

    private StubModelServer(Responder responder) {
        this.responder = responder;
    }

    /** Starts a server on a free port. */
    public static StubModelServer start(Responder responder) {
        return start(0, responder);
    }

    /** Starts a server on this port; 0 = a free one. */
    public static StubModelServer start(int port, Responder responder) {
        StubModelServer stub = new StubModelServer(responder);
        await(stub.server.requestHandler(stub::take).listen(port, "127.0.0.1"));
        return stub;
    }

    /** The server without any path. */
    public URI url() {
        return URI.create("http://127.0.0.1:" + server.actualPort());
    }

    /** What {@code OPENAI_BASE_URL} shall be. */
    public URI baseUrl() {
        return URI.create(url() + "/v1");
    }

    /** All requests so far, in the order of their arrival. */
    public List<Request> requests() {
        return locked(() -> List.copyOf(requests));
    }

    /** How many requests came so far. */
    public int calls() {
        return requests().size();
    }

    /** How many requests were given up by their client before the answer was written. */
    public int abandoned() {
        return locked(() -> abandoned);
    }

    /** Waits until that many requests came; false if they do not come in time. */
    public boolean awaitCalls(int count, Duration patience) throws InterruptedException {
        return await(() -> requests.size() >= count, patience);
    }

    /** Waits until that many requests were given up by their client; false if they are not in time. */
    public boolean awaitAbandoned(int count, Duration patience) throws InterruptedException {
        return await(() -> abandoned >= count, patience);
    }

    /** Hangs up on everybody; fails if the responder threw something meanwhile. */
    @Override
    public void close() {
        closed = true;
        await(vertx.close());
        Throwable defect = locked(() -> broken);
        if (defect != null) {
            throw new AssertionError("the stub's responder broke", defect);
        }
    }

    private boolean await(BooleanSupplier reached, Duration patience) throws InterruptedException {
        lock.lock();
        try {
            long left = patience.toNanos();
            while (!reached.getAsBoolean()) {
                if (left <= 0) {
                    return false;
                }
                left = changed.awaitNanos(left);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private <T extends @Nullable Object> T locked(Supplier<T> change) {
        lock.lock();
        try {
            T result = change.get();
            changed.signalAll();
            return result;
        } finally {
            lock.unlock();
        }
    }

    private static <T extends @Nullable Object> T await(Future<T> future) {
        return future.toCompletionStage().toCompletableFuture().join();
    }

    /** On the event loop; what may wait is done by a thread of its own. */
    private void take(HttpServerRequest asked) {
        CountDownLatch gone = new CountDownLatch(1);
        asked.connection().closeHandler(end -> gone.countDown());
        asked.bodyHandler(body -> Thread.ofVirtual().name("stub-model").start(() -> serve(asked, body, gone)));
    }

    private void serve(HttpServerRequest asked, Buffer body, CountDownLatch gone) {
        try {
            write(asked, answer(read(asked, body)), gone);
        } catch (CompletionException e) {
            gaveUp(); // nobody is there to read the answer
        } catch (MalformedEventException | RuntimeException e) {
            failed(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Request read(HttpServerRequest asked, Buffer body) throws MalformedEventException {
        Map<String, @Nullable Object> values =
                Json.readObject(body.length() == 0 ? "{}".getBytes(StandardCharsets.UTF_8) : body.getBytes());
        Map<String, String> headers = new LinkedHashMap<>();
        asked.headers().forEach((name, value) -> headers.put(name.toLowerCase(Locale.ROOT), value));
        return locked(() -> {
            Request request = new Request(
                    requests.size() + 1, asked.method().name(), asked.uri(), headers, body.toString(), values);
            requests.add(request);
            return request;
        });
    }

    private Answer answer(Request request) {
        try {
            return responder.answer(request).asAskedFor(request);
        } catch (Exception | AssertionError e) {
            failed(e);
            return Answer.error(500, "stub_broke", String.valueOf(e));
        }
    }

    /** Remembers the first defect of the test itself, unless it comes from closing. */
    private void failed(Throwable e) {
        Throwable unused = locked(() -> broken = broken == null && !closed ? e : broken);
    }

    private void write(HttpServerRequest asked, Answer answer, CountDownLatch gone) throws InterruptedException {
        if (hangsUpWithin(answer.delay(), gone)) {
            return;
        }
        if (answer.status() == 0) {
            await(asked.connection().close());
            return;
        }
        HttpServerResponse response = asked.response().setStatusCode(answer.status());
        response.putHeader("Content-Type", "application/json");
        answer.headers().forEach(response::putHeader);
        boolean streamed = !answer.chunks().isEmpty() || answer.cutOff();
        if (streamed) {
            response.setChunked(true);
        } else {
            response.putHeader(
                    "Content-Length",
                    String.valueOf(Buffer.buffer(answer.body()).length()));
        }
        await(response.writeHead());
        if (hangsUpWithin(answer.bodyDelay(), gone)) {
            return;
        }
        for (Chunk chunk : answer.chunks()) {
            if (hangsUpWithin(chunk.before(), gone)) {
                return;
            }
            await(response.write(chunk.text()));
        }
        if (answer.cutOff()) {
            await(asked.connection().close());
        } else {
            await(streamed ? response.end() : response.end(answer.body()));
        }
    }

    /** Waits that long, or less if the client closes its end. */
    private boolean hangsUpWithin(Duration pause, CountDownLatch gone) throws InterruptedException {
        boolean hungUp = !pause.isZero() && gone.await(pause.toNanos(), TimeUnit.NANOSECONDS);
        if (hungUp) {
            gaveUp();
        }
        return hungUp;
    }

    private void gaveUp() {
        int unused = locked(() -> closed ? abandoned : ++abandoned);
    }
}
