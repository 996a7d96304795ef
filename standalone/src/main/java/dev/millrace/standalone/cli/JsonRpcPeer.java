package dev.millrace.standalone.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * JSON-RPC 2.0 with one other process, a message a line. Every request gets one answer, whatever it is; a notification
 * gets none. No batches. For any thread, but for {@link #serve}.
 */
final class JsonRpcPeer {

    /** A longer line is not read, in bytes. */
    static final int MAX_LINE = 16 * 1024 * 1024;

    private static final String VERSION = "2.0";
    /** How long what is under way has for its answer when the other side has gone. */
    private static final long LAST_WORDS_MS = 2_000;

    private final OutputStream out;
    private final PrintStream log;
    private final Handler handler;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicLong requests = new AtomicLong();
    private final Map<Long, CompletableFuture<JsonNode>> open = new ConcurrentHashMap<>();

    /** A request, or a notification if {@code id} is {@code null}. */
    record Call(@Nullable JsonNode id, String method, JsonRpcParams params) {}

    /** What there is to do for a request; its result is the answer. */
    @FunctionalInterface
    interface Work {
        Object result() throws InterruptedException;
    }

    /** What this side does. */
    interface Handler {

        /**
         * Takes a request; called in the order of the lines, so it may not block. The work is done by a thread of its
         * own.
         *
         * @throws JsonRpcException if it cannot be done
         */
        Work request(Call call);

        /** Takes a notification; may not block. What is no good or not known is passed over. */
        void notification(Call call);

        /** The error in the words of JSON-RPC. */
        JsonRpcException fault(RuntimeException failure);

        /** The other side has gone. */
        void gone();
    }

    /** What is wrong. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Fault(int code, String message, @Nullable Object data) {}

    /** A call of this side; {@code id} null = a notification. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Outgoing(String jsonrpc, @Nullable Long id, String method, Object params) {}

    private record Answer(String jsonrpc, @Nullable JsonNode id, Object result) {}

    private record Refusal(String jsonrpc, @Nullable JsonNode id, Fault error) {}

    private record CancelRequest(long requestId) {}

    /** A request that this side has made, and its answer, which fails with what the other side says is wrong. */
    record Asked(long id, CompletableFuture<JsonNode> answer) {}

    /** {@code out} gets the protocol and nothing else, {@code log} what people may want to know. */
    JsonRpcPeer(OutputStream out, PrintStream log, Handler handler) {
        this.out = out;
        this.log = log;
        this.handler = handler;
    }

    /** Reads until there is no more; returns when all that can be answered is. */
    void serve(InputStream in) throws InterruptedException {
        try (InputStream lines = new BufferedInputStream(in)) {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            while (readLine(lines, line)) {
                take(line);
            }
        } catch (IOException | UncheckedIOException e) {
            log.println("acp: the other side broke off: " + e.getMessage());
        }
        handler.gone();
        threads.shutdown();
        if (!threads.awaitTermination(LAST_WORDS_MS, TimeUnit.MILLISECONDS)) {
            threads.shutdownNow();
        }
    }

    /** Whoever does something because of a message of the other side does it here. */
    Executor threads() {
        return work -> {
            try {
                threads.execute(work);
            } catch (RejectedExecutionException e) {
                log.println("acp: the other side has gone, so this is not done any more");
            }
        };
    }

    /** Asks the other side. */
    Asked ask(String method, Object params) {
        long id = requests.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        open.put(id, answer);
        send(new Outgoing(VERSION, id, method, params));
        return new Asked(id, answer);
    }

    /** Wants no answer any more. */
    void withdraw(Asked asked) {
        if (open.remove(asked.id()) != null) {
            tell("$/cancel_request", new CancelRequest(asked.id()));
        }
    }

    /** Tells the other side something. */
    void tell(String method, Object params) {
        send(new Outgoing(VERSION, null, method, params));
    }

    /** Reads one line, without its end; false if there is none. Of a line that is too long, one byte too many. */
    private static boolean readLine(InputStream in, ByteArrayOutputStream line) throws IOException {
        line.reset();
        int next = in.read();
        boolean any = next >= 0;
        while (next >= 0 && next != '\n') {
            if (line.size() <= MAX_LINE) {
                line.write(next);
            }
            next = in.read();
        }
        return any;
    }

    private void take(ByteArrayOutputStream line) {
        if (line.size() > MAX_LINE) {
            refuse(
                    null,
                    new JsonRpcException(
                            JsonRpcException.PARSE_ERROR,
                            "expected a line of " + MAX_LINE + " bytes at most, found a longer one",
                            null));
            return;
        }
        byte[] bytes = line.toByteArray();
        if (isBlank(bytes)) {
            return;
        }
        try {
            take(Json.MAPPER.readTree(bytes));
        } catch (IOException | NumberFormatException e) {
            // the latter from numbers with an exponent that no number of Java has
            refuse(
                    null,
                    new JsonRpcException(
                            JsonRpcException.PARSE_ERROR,
                            "expected a line of JSON: " + Progress.cut(String.valueOf(e.getMessage())),
                            null));
        }
    }

    private static boolean isBlank(byte[] bytes) {
        for (byte one : bytes) {
            if (one != ' ' && one != '\t' && one != '\r') {
                return false;
            }
        }
        return true;
    }

    private void take(JsonNode message) {
        JsonNode id = message.get("id");
        boolean readable = id == null || id.isNull() || id.isTextual() || id.isIntegralNumber();
        if (!message.isObject()
                || !readable
                || !VERSION.equals(message.path("jsonrpc").textValue())) {
            refuse(
                    readable ? id : null,
                    new JsonRpcException(
                            JsonRpcException.INVALID_REQUEST,
                            "expected one object with jsonrpc 2.0 whose id is a text or a whole number, found something"
                                    + " else",
                            null));
            return;
        }
        String method = message.path("method").textValue();
        if (method == null) {
            takeAnswer(id, message);
            return;
        }
        JsonNode params = message.path("params");
        if (params.isMissingNode() || params.isNull()) {
            params = Json.MAPPER.createObjectNode();
        }
        if (id == null) {
            if (params.isObject()) {
                handler.notification(new Call(null, method, new JsonRpcParams(params)));
            }
        } else if (params.isObject()) {
            begin(id, new Call(id, method, new JsonRpcParams(params)));
        } else {
            refuse(id, JsonRpcParams.expected("params", "an object", params));
        }
    }

    private void takeAnswer(@Nullable JsonNode id, JsonNode message) {
        JsonNode error = message.path("error");
        if (error.isMissingNode() && !message.has("result")) {
            refuse(
                    id,
                    new JsonRpcException(
                            JsonRpcException.INVALID_REQUEST, "expected a method, a result or an error", null));
            return;
        }
        CompletableFuture<JsonNode> answer = id != null && id.canConvertToLong() ? open.remove(id.longValue()) : null;
        if (answer == null) {
            return; // it was withdrawn meanwhile, or never asked
        }
        if (error.isMissingNode()) {
            answer.complete(message.path("result"));
        } else {
            answer.completeExceptionally(new JsonRpcException(
                    error.path("code").asInt(), error.path("message").asText("no reason given"), null));
        }
    }

    private void begin(JsonNode id, Call call) {
        Work work;
        try {
            work = handler.request(call);
        } catch (RuntimeException e) {
            refuse(id, handler.fault(e));
            return;
        }
        threads().execute(() -> {
            try {
                send(new Answer(VERSION, id, work.result()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (UncheckedIOException e) {
                log.println("acp: nobody reads: " + e.getMessage());
            } catch (RuntimeException e) {
                refuse(id, handler.fault(e));
            }
        });
    }

    private void refuse(@Nullable JsonNode id, JsonRpcException why) {
        send(new Refusal(VERSION, id, why.fault()));
    }

    private void send(Object message) {
        byte[] json = Json.write(message);
        byte[] line = Arrays.copyOf(json, json.length + 1);
        line[json.length] = '\n';
        synchronized (out) {
            try {
                out.write(line);
                out.flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
