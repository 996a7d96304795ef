package dev.millrace.http.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.schemas.Json;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Asks the query side of agent-service over HTTP. For any thread; a call blocks it for at most the deadline. */
public final class AgentClient implements AutoCloseable {

    /** No answer is longer; agent-service's pages are much shorter. */
    public static final int MAX_ANSWER_BYTES = 16 * 1024 * 1024;

    /** So many questions are asked at the same time; the others wait, for as long as an answer may take. */
    public static final int MAX_QUESTIONS = 32;

    /** Another service on a wrong port would answer too, but not with our problems. */
    private static final String OUR_PROBLEM = "\"urn:millrace:problem:";

    private final String service;
    private final String base;
    private final Duration deadline;
    private final InternalSecret secret;
    private final HttpClient http;
    private final Semaphore questions = new Semaphore(MAX_QUESTIONS, true);

    /**
     * An answer.
     *
     * @param found whether there is what was asked for
     * @param json the answer as it came; a problem if nothing was found
     */
    public record Answer(boolean found, String json) {

        /**
         * The answer as values.
         *
         * @throws QueryUnavailableException if it is something else, so that agent-service does not work as it should
         */
        public <T> T as(Class<T> type) throws QueryUnavailableException {
            try {
                return Json.MAPPER.readValue(json, type);
            } catch (JsonProcessingException e) {
                throw new QueryUnavailableException("agent-service answered with something that cannot be read", e);
            }
        }
    }

    /**
     * Connects when it is asked.
     *
     * @param base where agent-service is, such as {@code http://localhost:8081}
     * @param deadline how long an answer may take
     * @param secret that is shown with every question
     */
    public AgentClient(URI base, Duration deadline, InternalSecret secret) {
        this("agent-service", base, deadline, secret);
    }

    /** The same for another service that answers so; {@code service} is what its failures call it. */
    public AgentClient(String service, URI base, Duration deadline, InternalSecret secret) {
        this.service = service;
        this.secret = secret;
        this.base = base.toString().replaceFirst("/+$", "");
        this.deadline = deadline;
        // HTTP/1.1, since the JDK's client else offers h2c with every first request
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(deadline)
                .build();
    }

    /** A path below {@code /internal}; each segment is encoded. */
    public static String path(String... segments) {
        StringBuilder path = new StringBuilder("/internal");
        for (String segment : segments) {
            path.append('/').append(encoded(segment));
        }
        return path.toString();
    }

    /**
     * Asks, and waits for the answer.
     *
     * @param path from {@link #path}
     * @param query parameters; those that are {@code null} are left out
     * @throws QueryUnavailableException if there was no answer in time, or one that says "not now"
     * @throws BadQueryException if a parameter is one that agent-service cannot read
     */
    public Answer get(String path, Map<String, @Nullable String> query)
            throws QueryUnavailableException, InterruptedException {
        HttpResponse<String> response = inTurn(request(path, query)
                .timeout(deadline)
                .header("Accept", "application/json")
                .build());
        int status = response.statusCode();
        if (status == 200) {
            return new Answer(true, response.body());
        }
        boolean ours = response.body().contains(OUR_PROBLEM);
        if (status == 404 && ours) {
            return new Answer(false, response.body());
        }
        if (status == 400 && ours) {
            throw new BadQueryException(response.body());
        }
        throw unexpected(status);
    }

    /**
     * What agent-service said about a change.
     *
     * @param status 200 to 299 = done, 400 to 499 = refused
     * @param json what is there now, or a problem
     */
    public record Reply(int status, String json) {

        /** Whether it was done. */
        public boolean done() {
            return status < 300;
        }
    }

    /**
     * Asks for a change, and waits for the answer.
     *
     * @param method of HTTP
     * @param path from {@link #path}
     * @param query parameters; those that are {@code null} are left out
     * @param body JSON; empty = none
     * @throws QueryUnavailableException if there was no answer in time, so that it is not certain whether this was
     *     done, or one that says "not now"
     */
    public Reply change(String method, String path, Map<String, @Nullable String> query, byte[] body)
            throws QueryUnavailableException, InterruptedException {
        HttpResponse<String> response = inTurn(request(path, query)
                .timeout(deadline)
                .header("Accept", "application/json")
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofByteArray(body))
                .build());
        int status = response.statusCode();
        boolean refused = status >= 400 && status < 500 && response.body().contains(OUR_PROBLEM);
        if (refused || (status >= 200 && status < 300)) {
            return new Reply(status, response.body());
        }
        throw unexpected(status);
    }

    private HttpRequest.Builder request(String path, Map<String, @Nullable String> query) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path + suffix(query)));
        secret.show(request);
        return request;
    }

    private HttpResponse<String> inTurn(HttpRequest request) throws QueryUnavailableException, InterruptedException {
        long end = System.nanoTime() + deadline.toNanos();
        if (!questions.tryAcquire(deadline.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new QueryUnavailableException("too many others ask " + service, null);
        }
        try {
            return ask(request, Math.max(1, end - System.nanoTime()));
        } finally {
            questions.release();
        }
    }

    private QueryUnavailableException unexpected(int status) {
        return new QueryUnavailableException(
                status == 503
                        ? service + " is starting or catching up"
                        : service + " answered with the unexpected status " + status,
                null);
    }

    private HttpResponse<String> ask(HttpRequest request, long nanos)
            throws QueryUnavailableException, InterruptedException {
        // the time-out of a request ends with the headers of its answer
        CompletableFuture<HttpResponse<String>> asked =
                http.sendAsync(request, answered -> new LimitedBody(MAX_ANSWER_BYTES));
        try {
            return asked.get(nanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new QueryUnavailableException(service + " did not answer within " + deadline.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof HttpTimeoutException
                    ? new QueryUnavailableException(
                            service + " did not answer within " + deadline.toMillis() + " ms", e)
                    : new QueryUnavailableException(service + " cannot be reached", e);
        } finally {
            asked.cancel(true);
        }
    }

    /** Closes its connections. */
    @Override
    public void close() {
        http.shutdownNow();
    }

    private static String suffix(Map<String, @Nullable String> query) {
        String joined = query.entrySet().stream()
                .filter(parameter -> parameter.getValue() != null)
                .map(parameter -> parameter.getKey() + "=" + encoded(String.valueOf(parameter.getValue())))
                .collect(Collectors.joining("&"));
        return joined.isEmpty() ? "" : "?" + joined;
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
