package dev.millrace.llm.openai;

import dev.langchain4j.http.client.HttpClient;
import dev.langchain4j.http.client.HttpClientBuilder;
import dev.langchain4j.http.client.HttpRequest;
import dev.langchain4j.http.client.SuccessfulHttpResponse;
import dev.langchain4j.http.client.sse.ServerSentEventListener;
import dev.langchain4j.http.client.sse.ServerSentEventParser;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import java.net.URI;
import java.net.http.HttpClient.Version;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The HTTP client under LangChain4j, in place of its own one for three reasons: an interrupt or a time-out closes the
 * connection, so that the provider stops working (and billing) for a reply that nobody awaits; the time-out covers the
 * body, not only the headers; and a refusal keeps its Retry-After.
 *
 * <p>HTTP/1.1 only: with both versions allowed the JDK's client sends {@code Upgrade: h2c}, which trips small servers.
 */
final class AbortableHttpClient implements HttpClient {

    private final java.net.http.HttpClient client;
    private final OpenAiSettings settings;
    private final OpenAiFailures failures;

    private AbortableHttpClient(OpenAiSettings settings, OpenAiFailures failures) {
        this.settings = settings;
        this.failures = failures;
        this.client = java.net.http.HttpClient.newBuilder()
                .version(Version.HTTP_1_1)
                .connectTimeout(settings.connectTimeout())
                .executor(Executors.newVirtualThreadPerTaskExecutor())
                .build();
    }

    @Override
    public SuccessfulHttpResponse execute(HttpRequest request) {
        CompletableFuture<HttpResponse<byte[]>> exchange =
                client.sendAsync(toJdk(request), HttpResponse.BodyHandlers.ofByteArray());
        HttpResponse<byte[]> response;
        try {
            response = exchange.get(settings.requestTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            exchange.cancel(true);
            Thread.currentThread().interrupt();
            throw new ModelCallFailure(new ModelCallException(
                    ModelErrorCode.CANCELLED, "interrupted while waiting for the model", false, null, e));
        } catch (TimeoutException e) {
            exchange.cancel(true);
            throw new ModelCallFailure(failures.timeout(settings.requestTimeout(), "openai.request-timeout", e));
        } catch (ExecutionException e) {
            throw new ModelCallFailure(
                    switch (e.getCause()) {
                        case HttpConnectTimeoutException timeout ->
                            failures.timeout(settings.connectTimeout(), "openai.connect-timeout", timeout);
                        case HttpTimeoutException timeout ->
                            failures.timeout(settings.requestTimeout(), "openai.request-timeout", timeout);
                        case null -> failures.unreachable(e);
                        default -> failures.unreachable(e.getCause());
                    });
        }
        if (response.statusCode() / 100 != 2) {
            throw new ModelCallFailure(failures.refused(
                    response.statusCode(), new String(response.body(), StandardCharsets.UTF_8), response.headers()));
        }
        return SuccessfulHttpResponse.builder()
                .statusCode(response.statusCode())
                .headers(response.headers().map())
                .body(LenientReply.of(response.body()))
                .build();
    }

    private static java.net.http.HttpRequest toJdk(HttpRequest request) {
        java.net.http.HttpRequest.Builder builder = java.net.http.HttpRequest.newBuilder(URI.create(request.url()))
                .method(request.method().name(), java.net.http.HttpRequest.BodyPublishers.ofString(request.body()));
        request.headers().forEach((name, values) -> values.forEach(value -> builder.header(name, value)));
        return builder.build();
    }

    /** This client is for whole replies; a streaming model brings its own. */
    @Override
    public void execute(HttpRequest request, ServerSentEventParser parser, ServerSentEventListener listener) {
        throw new UnsupportedOperationException("this client reads whole replies");
    }

    /** What LangChain4j asks for; its time-outs are ignored in favour of the settings'. */
    record Builder(OpenAiSettings settings, OpenAiFailures failures) implements HttpClientBuilder {

        @Override
        public Duration connectTimeout() {
            return settings.connectTimeout();
        }

        @Override
        public HttpClientBuilder connectTimeout(Duration timeout) {
            return this;
        }

        @Override
        public Duration readTimeout() {
            return settings.requestTimeout();
        }

        @Override
        public HttpClientBuilder readTimeout(Duration timeout) {
            return this;
        }

        @Override
        public HttpClient build() {
            return new AbortableHttpClient(settings, failures);
        }
    }
}
