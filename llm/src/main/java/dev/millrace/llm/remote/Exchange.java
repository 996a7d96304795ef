package dev.millrace.llm.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.http.client.HttpClient;
import dev.langchain4j.http.client.HttpClientBuilder;
import dev.langchain4j.http.client.HttpRequest;
import dev.langchain4j.http.client.SuccessfulHttpResponse;
import dev.langchain4j.http.client.sse.ServerSentEvent;
import dev.langchain4j.http.client.sse.ServerSentEventContext;
import dev.langchain4j.http.client.sse.ServerSentEventListener;
import dev.langchain4j.http.client.sse.ServerSentEventParser;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelRequest;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The one HTTP request of one model call, in place of LangChain4j's own client: an interrupt or a time-out closes the
 * connection, so that the provider stops working (and billing) for a reply that nobody awaits; the time-outs cover the
 * body, not only the headers; and a refusal keeps its Retry-After. Everything happens on the calling thread, streams
 * too. LangChain4j turns what is thrown below it into something else, so the failure is kept here as well.
 */
final class Exchange implements HttpClient {

    private static final int LONGEST_REFUSAL = 64 << 10;

    private final java.net.http.HttpClient client;
    private final RemoteSettings settings;
    private final Wire wire;
    private final ModelRequest request;
    private final Failures failures;
    private final Notes notes = new Notes();
    private final long startedAt = System.nanoTime();

    private boolean streaming;
    private boolean started;
    private @Nullable ModelCallException failure;

    Exchange(
            java.net.http.HttpClient client,
            RemoteSettings settings,
            Wire wire,
            Failures failures,
            ModelRequest request) {
        this.client = client;
        this.settings = settings;
        this.wire = wire;
        this.failures = failures;
        this.request = request;
    }

    Notes notes() {
        return notes;
    }

    /** Why it failed; null if it did not, or not here. */
    @Nullable
    ModelCallException failure() {
        return failure;
    }

    /** The first piece of the reply is there: from now on only the time-out of the whole request counts. */
    void started() {
        started = true;
    }

    /** Ends the exchange before its time, for this reason, as soon as LangChain4j reads on. */
    void fail(ModelCallException reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    HttpClientBuilder asBuilder() {
        return new Builder(this);
    }

    @Override
    public SuccessfulHttpResponse execute(HttpRequest http) {
        HttpResponse<TimedBody> response = open(http);
        try (TimedBody body = response.body()) {
            return answer(response, read(body.readAllBytes()));
        } catch (IOException e) {
            throw carried(broken(e));
        }
    }

    @Override
    public void execute(HttpRequest http, ServerSentEventParser parser, ServerSentEventListener listener) {
        streaming = true;
        HttpResponse<TimedBody> response;
        try {
            response = open(http);
        } catch (ModelCallFailure e) {
            listener.onError(e);
            return;
        }
        try (TimedBody body = response.body()) {
            listener.onOpen(answer(response, new byte[0]));
            parser.parse(new WatchedStream(body), new Reader(listener));
            listener.onClose();
        }
    }

    /** Sends the request, and comes back with a good status; the body is still to be read. */
    private HttpResponse<TimedBody> open(HttpRequest http) {
        // cancelling alone would miss a response whose headers are just being read
        CompletableFuture<TimedBody> begun = new CompletableFuture<>();
        CompletableFuture<HttpResponse<TimedBody>> exchange = client.sendAsync(toJdk(http), info -> {
            TimedBody body = new TimedBody(this::nanosLeft);
            begun.complete(body);
            return body;
        });
        HttpResponse<TimedBody> response;
        try {
            response = exchange.get(Math.max(0, nanosLeft()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            abandon(exchange, begun);
            Thread.currentThread().interrupt();
            throw carried(cancelled(e));
        } catch (TimeoutException e) {
            abandon(exchange, begun);
            throw carried(late(e));
        } catch (ExecutionException e) {
            throw carried(
                    switch (e.getCause()) {
                        case HttpConnectTimeoutException timeout ->
                            failures.timeout(settings.timeouts().connect(), "connect-timeout", timeout);
                        case null -> failures.unreachable(e);
                        default -> failures.unreachable(e.getCause());
                    });
        }
        if (response.statusCode() / 100 == 2) {
            notes.nextRequestIn = RateHeaders.nextRequestIn(response.headers(), Instant.now());
            return response;
        }
        try (TimedBody body = response.body()) {
            String said = new String(body.readNBytes(LONGEST_REFUSAL), StandardCharsets.UTF_8);
            throw carried(failures.refused(response.statusCode(), said, response.headers()));
        } catch (IOException e) {
            throw carried(broken(e));
        }
    }

    private static void abandon(CompletableFuture<?> exchange, CompletableFuture<TimedBody> begun) {
        exchange.cancel(true);
        var unused = begun.thenAccept(TimedBody::close);
    }

    private java.net.http.HttpRequest toJdk(HttpRequest http) {
        String body = http.body();
        try {
            if (WireJson.MAPPER.readTree(body) instanceof ObjectNode json) {
                wire.complete(json, request, settings);
                body = WireJson.MAPPER.writeValueAsString(json);
            }
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a request to " + settings.provider() + ": expected JSON", e);
        }
        java.net.http.HttpRequest.Builder builder = java.net.http.HttpRequest.newBuilder(URI.create(http.url()))
                .method(http.method().name(), java.net.http.HttpRequest.BodyPublishers.ofString(body));
        http.headers().forEach((name, values) -> {
            boolean noKey = settings.apiKey() == null
                    && (name.equalsIgnoreCase("x-api-key") || name.equalsIgnoreCase("x-goog-api-key"));
            if (!noKey) {
                values.forEach(value -> builder.header(name, value));
            }
        });
        return builder.build();
    }

    private byte[] read(byte[] body) {
        try {
            JsonNode json = WireJson.MAPPER.readTree(body);
            return read(json) ? WireJson.MAPPER.writeValueAsBytes(json) : body;
        } catch (IOException e) {
            return body; // whoever reads it next complains about it
        }
    }

    /** Whether the JSON was changed; fails if it is an error in place of a reply. */
    private boolean read(JsonNode json) {
        JsonNode error = json.path("error");
        if (error.isTextual() || (error.isObject() && !error.isEmpty())) {
            throw carried(failures.midway(error));
        }
        return wire.read(json, notes);
    }

    private static SuccessfulHttpResponse answer(HttpResponse<?> response, byte[] body) {
        return SuccessfulHttpResponse.builder()
                .statusCode(response.statusCode())
                .headers(response.headers().map())
                .body(body)
                .build();
    }

    private long nanosLeft() {
        return limit().toNanos() - (System.nanoTime() - startedAt);
    }

    private boolean awaitsFirstToken() {
        return streaming
                && !started
                && settings.timeouts()
                                .firstToken()
                                .compareTo(settings.timeouts().request())
                        < 0;
    }

    private Duration limit() {
        return awaitsFirstToken()
                ? settings.timeouts().firstToken()
                : settings.timeouts().request();
    }

    private ModelCallException late(Exception cause) {
        return failures.timeout(limit(), awaitsFirstToken() ? "first-token-timeout" : "request-timeout", cause);
    }

    private static ModelCallException cancelled(Exception cause) {
        return new ModelCallException(
                ModelErrorCode.CANCELLED, "interrupted while waiting for the model", false, null, cause);
    }

    private ModelCallException broken(IOException e) {
        return switch (e) {
            case InterruptedIOException interrupted -> cancelled(interrupted);
            case TimedBody.LateException timeout -> late(timeout);
            default -> failures.unreachable(e.getCause() == null ? e : e.getCause());
        };
    }

    /** Remembers the first failure, and carries it through LangChain4j. */
    private ModelCallFailure carried(ModelCallException reason) {
        fail(reason);
        return new ModelCallFailure(reason);
    }

    /** The body as LangChain4j's parser reads it: it remembers why it broke, and ends when the exchange has failed. */
    private final class WatchedStream extends java.io.FilterInputStream {

        WatchedStream(TimedBody body) {
            super(body);
        }

        @Override
        public int read() throws IOException {
            try {
                return over() ? -1 : super.read();
            } catch (IOException e) {
                throw remembered(e);
            }
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            try {
                return over() ? -1 : super.read(into, offset, length);
            } catch (IOException e) {
                throw remembered(e);
            }
        }

        private boolean over() {
            return failure != null;
        }

        private IOException remembered(IOException e) {
            fail(broken(e));
            return e;
        }
    }

    /** Reads each event before LangChain4j does. */
    private final class Reader implements ServerSentEventListener {

        private final ServerSentEventListener listener;

        Reader(ServerSentEventListener listener) {
            this.listener = listener;
        }

        @Override
        public void onEvent(ServerSentEvent event, ServerSentEventContext context) {
            ServerSentEvent readable = readable(event);
            if (readable != null) {
                listener.onEvent(readable, context);
            }
        }

        @Override
        public void onEvent(ServerSentEvent event) {
            ServerSentEvent readable = readable(event);
            if (readable != null) {
                listener.onEvent(readable);
            }
        }

        /** Null for an event that nobody is to see any more. */
        private @Nullable ServerSentEvent readable(ServerSentEvent event) {
            if (failure != null || Thread.currentThread().isInterrupted()) {
                return null;
            }
            String data = event.data();
            if (data == null || !data.stripLeading().startsWith("{")) {
                return event;
            }
            try {
                JsonNode json = WireJson.MAPPER.readTree(data);
                return read(json)
                        ? new ServerSentEvent(event.event(), WireJson.MAPPER.writeValueAsString(json))
                        : event;
            } catch (JsonProcessingException e) {
                fail(failures.unreadable(e));
                return null;
            } catch (ModelCallFailure e) {
                return null; // remembered; the stream is at its end
            }
        }

        @Override
        public void onError(Throwable error) {
            listener.onError(error);
        }
    }

    /** What LangChain4j asks for; its time-outs are ignored in favour of the settings'. */
    private record Builder(Exchange exchange) implements HttpClientBuilder {

        @Override
        public Duration connectTimeout() {
            return exchange.settings.timeouts().connect();
        }

        @Override
        public HttpClientBuilder connectTimeout(Duration timeout) {
            return this;
        }

        @Override
        public Duration readTimeout() {
            return exchange.settings.timeouts().request();
        }

        @Override
        public HttpClientBuilder readTimeout(Duration timeout) {
            return this;
        }

        @Override
        public HttpClient build() {
            return exchange;
        }
    }
}
