package dev.millrace.http.guarded;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.SystemDefaultDnsResolver;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.ManagedHttpClientConnectionFactory;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.concurrent.Cancellable;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpEntity;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.http.io.HttpClientResponseHandler;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/** An HTTP client that asks {@link AddressGuard} before each connection and reads no more than it is allowed to. */
public final class GuardedHttp implements AutoCloseable {

    private static final Set<String> SHOWN_HEADERS =
            Set.of("content-type", "content-length", "last-modified", "etag", "location", "date", "retry-after");

    /** Nobody is asked to wait for longer, whatever a server says. */
    private static final Duration LONGEST_PAUSE = Duration.ofDays(1);

    private static final Duration FOREVER = Duration.ofMillis(Long.MAX_VALUE);
    private static final int MAX_HEADER_LINE = 32_768;
    private static final int MAX_HEADERS = 200;

    private final CloseableHttpClient client;
    private final int maxBodyBytes;

    /**
     * What may be reached, and how much is read.
     *
     * @param allowedHosts hosts that are let through although they are private; {@code *} stands for any text
     * @param connectTimeoutMs for a connection, 1 or more
     * @param responseTimeoutMs between two pieces of a response, 1 or more
     * @param maxBodyBytes of a body, 1 or more; what is beyond is left out
     */
    public record Limits(List<String> allowedHosts, int connectTimeoutMs, int responseTimeoutMs, int maxBodyBytes) {
        public Limits {
            allowedHosts = List.copyOf(allowedHosts);
        }
    }

    /**
     * What a server answered.
     *
     * @param location where it redirects to; {@code null} = nowhere
     * @param body as text; a note if it is none
     * @param truncated whether there is more of it
     */
    public record Answer(
            int status,
            Map<String, String> headers,
            @Nullable String location,
            String body,
            boolean truncated) {
        public Answer {
            headers = Map.copyOf(headers);
        }

        /** When it says that one may come again, in a day at most; {@code null} if it does not say. */
        public @Nullable Duration retryAfter() {
            String text = headers.get("retry-after");
            if (text == null) {
                return null;
            }
            try {
                if (text.strip().matches("\\d{1,9}")) {
                    Duration pause = Duration.ofSeconds(Long.parseLong(text.strip()));
                    return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
                }
                Instant then = ZonedDateTime.parse(text.strip(), DateTimeFormatter.RFC_1123_DATE_TIME)
                        .toInstant();
                Duration left = Duration.between(Instant.now(), then);
                return left.isNegative() ? Duration.ZERO : left.compareTo(LONGEST_PAUSE) < 0 ? left : LONGEST_PAUSE;
            } catch (DateTimeParseException e) {
                return null;
            }
        }
    }

    /** Where names are resolved as the machine does it. */
    public GuardedHttp(Limits limits) {
        this(limits, SystemDefaultDnsResolver.INSTANCE);
    }

    /** The same where names are resolved so. */
    public GuardedHttp(Limits limits, DnsResolver names) {
        this.maxBodyBytes = limits.maxBodyBytes();
        this.client = HttpClients.custom()
                .setConnectionManager(PoolingHttpClientConnectionManagerBuilder.create()
                        .setDnsResolver(new AddressGuard(limits.allowedHosts(), names))
                        .setConnectionFactory(ManagedHttpClientConnectionFactory.builder()
                                .http1Config(Http1Config.custom()
                                        .setMaxLineLength(MAX_HEADER_LINE)
                                        .setMaxHeaderCount(MAX_HEADERS)
                                        .build())
                                .build())
                        .setDefaultConnectionConfig(ConnectionConfig.custom()
                                .setConnectTimeout(Timeout.ofMilliseconds(limits.connectTimeoutMs()))
                                .setSocketTimeout(Timeout.ofMilliseconds(limits.responseTimeoutMs()))
                                .build())
                        .setMaxConnTotal(64)
                        .setMaxConnPerRoute(16)
                        .build())
                .setDefaultRequestConfig(RequestConfig.custom()
                        .setResponseTimeout(Timeout.ofMilliseconds(limits.responseTimeoutMs()))
                        .build())
                .setUserAgent("Millrace")
                .disableRedirectHandling()
                .disableAutomaticRetries()
                .disableCookieManagement()
                .disableAuthCaching()
                .build();
    }

    /**
     * Makes one request, and follows no redirect. The exchange has a thread of its own, since neither the look for a
     * name nor a read from a socket heeds an interrupt: whoever waits for it does.
     *
     * @param body {@code null} = none
     * @throws IOException if there is no whole answer, or {@link UnknownHostException} if the host is not to be reached
     * @throws InterruptedException if the thread is interrupted; the connection is given up
     */
    public Answer send(String method, URI url, Map<String, String> headers, byte @Nullable [] body)
            throws IOException, InterruptedException {
        return send(method, url, headers, body, FOREVER);
    }

    /** The same within a time, from the connection to the end of the answer; else there is no whole answer. */
    public Answer send(String method, URI url, Map<String, String> headers, byte @Nullable [] body, Duration limit)
            throws IOException, InterruptedException {
        HttpUriRequestBase request = new HttpUriRequestBase(method, url);
        headers.forEach(request::addHeader);
        if (body != null) {
            request.setEntity(new ByteArrayEntity(body, null));
        }
        return exchange(request, response -> answer(request, response), limit);
    }

    /**
     * A file as a server has it.
     *
     * @param contentType as the server says it; {@code null} = it does not
     * @param location where it redirects to; {@code null} = nowhere
     * @param bytes of the body; shared, not to be changed
     * @param truncated whether there is more of it
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Download(
            int status,
            @Nullable String contentType,
            @Nullable String location,
            byte[] bytes,
            boolean truncated) {}

    /**
     * Gets what is there, as bytes, and follows no redirect; else like {@link #send}.
     *
     * @throws IOException if there is no whole answer within the limit
     */
    public Download download(URI url, Duration limit) throws IOException, InterruptedException {
        HttpUriRequestBase request = new HttpUriRequestBase("GET", url);
        return exchange(
                request,
                response -> {
                    HttpEntity entity = response.getEntity();
                    byte[] bytes = read(request, entity);
                    Header location = response.getFirstHeader("location");
                    boolean more = bytes.length > maxBodyBytes;
                    return new Download(
                            response.getCode(),
                            entity == null ? null : entity.getContentType(),
                            location == null ? null : location.getValue(),
                            more ? Arrays.copyOf(bytes, maxBodyBytes) : bytes,
                            more);
                },
                limit);
    }

    private <T> T exchange(HttpUriRequestBase request, HttpClientResponseHandler<T> handler, Duration limit)
            throws IOException, InterruptedException {
        FutureTask<T> exchange = new FutureTask<>(() -> client.execute(request, handler));
        Thread.ofPlatform().daemon().name("http-exchange").start(exchange);
        try {
            return exchange.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            request.cancel();
            throw e;
        } catch (TimeoutException e) {
            request.cancel();
            throw new InterruptedIOException("no answer within " + limit.toMillis() + " ms");
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        }
    }

    private static IOException failure(@Nullable Throwable cause) {
        return switch (cause) {
            case IOException failure -> failure;
            case RuntimeException bug -> throw bug;
            case null, default -> new IOException(String.valueOf(cause), cause);
        };
    }

    /** Whether the host may not be talked to, now or later. */
    public static boolean isRefused(IOException failure) {
        return failure instanceof AddressGuard.RefusedAddressException;
    }

    private Answer answer(Cancellable request, ClassicHttpResponse response) throws IOException {
        Map<String, String> shown = new LinkedHashMap<>();
        for (Header header : response.getHeaders()) {
            String name = header.getName().toLowerCase(Locale.ROOT);
            if (SHOWN_HEADERS.contains(name)) {
                shown.put(name, header.getValue());
            }
        }
        HttpEntity entity = response.getEntity();
        byte[] bytes = read(request, entity);
        boolean truncated = bytes.length > maxBodyBytes;
        String text =
                text(bytes, Math.min(bytes.length, maxBodyBytes), entity == null ? null : entity.getContentType());
        return new Answer(response.getCode(), shown, shown.get("location"), text, truncated);
    }

    /** At most one byte more than is wanted. */
    private byte[] read(Cancellable request, @Nullable HttpEntity entity) throws IOException {
        byte[] bytes = entity == null ? new byte[0] : entity.getContent().readNBytes(maxBodyBytes + 1);
        if (bytes.length > maxBodyBytes) {
            // closing would read on to the end, and there may be none; the connection is given up instead
            request.cancel();
        }
        return bytes;
    }

    private static String text(byte[] bytes, int length, @Nullable String contentType) {
        for (int i = 0; i < Math.min(length, 8_000); i++) {
            if (bytes[i] == 0) {
                return "(binary content of " + (contentType == null ? "an unknown type" : contentType) + ")";
            }
        }
        return new String(bytes, 0, length, charset(contentType));
    }

    private static Charset charset(@Nullable String contentType) {
        try {
            ContentType parsed = contentType == null ? null : ContentType.parseLenient(contentType);
            Charset charset = parsed == null ? null : parsed.getCharset();
            return charset == null ? StandardCharsets.UTF_8 : charset;
        } catch (UnsupportedCharsetException | IllegalCharsetNameException e) {
            return StandardCharsets.UTF_8;
        }
    }

    @Override
    public void close() throws IOException {
        client.close();
    }
}
