package dev.millrace.llm.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelDelta;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.StreamListener;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The one HTTP request of one model call. An interrupt or a time-out closes the connection, so that the provider stops
 * working (and billing) for a reply that nobody awaits; the time-outs cover the body, not only the headers; and a
 * refusal keeps its Retry-After. Everything happens on the calling thread, streams too.
 */
final class Exchange {

    private static final int LONGEST_REFUSAL = 64 << 10;

    private final HttpClient client;
    private final RemoteSettings settings;
    private final ProviderFailures failures;
    private final @Nullable StreamListener listener;
    private final long startedAt = System.nanoTime();

    /** The first piece of the reply is there: from now on only the time-out of the whole request counts. */
    private boolean started;

    /** Takes the JSON objects of a reply in their order. */
    interface Reader {
        void read(JsonNode json) throws ModelCallException;
    }

    /** An exchange for a whole reply, or, if there is a listener, for a stream. */
    Exchange(HttpClient client, RemoteSettings settings, ProviderFailures failures, @Nullable StreamListener listener) {
        this.client = client;
        this.settings = settings;
        this.failures = failures;
        this.listener = listener;
    }

    /** Sends a piece of the reply on to the listener, if there is one. */
    void deliver(ModelDelta delta) throws ModelCallException {
        if (listener == null) {
            return;
        }
        if (Thread.currentThread().isInterrupted()) {
            throw cancelled(null);
        }
        started = true;
        try {
            listener.onDelta(delta);
        } catch (RuntimeException e) {
            throw ModelCallException.brokenListener(e);
        }
    }

    /**
     * Sends the request and reads the reply, object by object, to its end.
     *
     * @param lines whether a stream is one JSON object per line; else it is server-sent events
     * @return the headers of the reply
     */
    HttpHeaders send(HttpRequest request, boolean lines, Reader reader) throws ModelCallException {
        HttpResponse<TimedBody> response = open(request);
        try (TimedBody body = response.body()) {
            if (listener == null) {
                read(new String(body.readAllBytes(), StandardCharsets.UTF_8), reader);
                return response.headers();
            }
            BufferedReader in = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
            for (String event = next(in, lines); event != null; event = next(in, lines)) {
                if (!event.isBlank() && !event.equals("[DONE]")) {
                    read(event, reader);
                }
            }
            if (Thread.currentThread().isInterrupted()) {
                throw cancelled(null);
            }
            return response.headers();
        } catch (IOException e) {
            throw broken(e);
        }
    }

    /** The data of the next event; null at the end of the stream. */
    private static @Nullable String next(BufferedReader in, boolean lines) throws IOException {
        StringBuilder data = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (lines) {
                return line;
            }
            if (line.isEmpty() && data != null) {
                return data.toString();
            }
            if (line.startsWith("data:")) {
                data = data == null ? new StringBuilder() : data.append('\n');
                data.append(line, line.startsWith("data: ") ? 6 : 5, line.length());
            }
        }
        return data == null ? null : data.toString();
    }

    private void read(String text, Reader reader) throws ModelCallException {
        JsonNode json;
        try {
            json = WireJson.MAPPER.readTree(text);
        } catch (JsonProcessingException e) {
            throw failures.unreadable(e);
        }
        JsonNode error = json.path("error");
        if (error.isTextual() || (error.isObject() && !error.isEmpty())) {
            throw failures.midway(error);
        }
        reader.read(json);
    }

    /** Sends the request, and comes back with a good status; the body is still to be read. */
    private HttpResponse<TimedBody> open(HttpRequest request) throws ModelCallException {
        // cancelling alone would miss a response whose headers are just being read
        CompletableFuture<TimedBody> begun = new CompletableFuture<>();
        CompletableFuture<HttpResponse<TimedBody>> exchange = client.sendAsync(request, info -> {
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
            throw cancelled(e);
        } catch (TimeoutException e) {
            abandon(exchange, begun);
            throw late(e);
        } catch (ExecutionException e) {
            throw switch (e.getCause()) {
                case HttpConnectTimeoutException timeout ->
                    failures.timeout(settings.timeouts().connect(), "connect-timeout", timeout);
                case null -> failures.unreachable(e);
                default -> failures.unreachable(e.getCause());
            };
        }
        if (response.statusCode() / 100 == 2) {
            return response;
        }
        try (TimedBody body = response.body()) {
            String said = new String(body.readNBytes(LONGEST_REFUSAL), StandardCharsets.UTF_8);
            throw failures.refused(response.statusCode(), said, response.headers());
        } catch (IOException e) {
            throw broken(e);
        }
    }

    private static void abandon(CompletableFuture<?> exchange, CompletableFuture<TimedBody> begun) {
        exchange.cancel(true);
        var unused = begun.thenAccept(TimedBody::close);
    }

    private long nanosLeft() {
        return limit().toNanos() - (System.nanoTime() - startedAt);
    }

    private boolean awaitsFirstToken() {
        return listener != null
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

    private static ModelCallException cancelled(@Nullable Exception cause) {
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
}
