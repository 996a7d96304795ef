package dev.millrace.standalone;

import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;

/** Takes what OpenTelemetry exporters send over HTTP, as a collector would, on a loopback port. */
final class OtlpSink implements AutoCloseable {

    private final HttpServer server;
    private final Queue<Span> spans = new ConcurrentLinkedQueue<>();
    private final Queue<String> metrics = new ConcurrentLinkedQueue<>();

    private OtlpSink(HttpServer server) {
        this.server = server;
        server.createContext(
                "/v1/traces",
                exchange -> take(
                        exchange,
                        body -> ExportTraceServiceRequest.parseFrom(body)
                                .getResourceSpansList()
                                .forEach(resource -> resource.getScopeSpansList()
                                        .forEach(scope -> spans.addAll(scope.getSpansList())))));
        server.createContext(
                "/v1/metrics",
                exchange -> take(
                        exchange,
                        body -> ExportMetricsServiceRequest.parseFrom(body)
                                .getResourceMetricsList()
                                .forEach(resource -> resource.getScopeMetricsList()
                                        .forEach(scope -> scope.getMetricsList()
                                                .forEach(metric -> metrics.add(metric.getName()))))));
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    }

    static OtlpSink start() {
        try {
            OtlpSink sink =
                    new OtlpSink(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
            sink.server.start();
            return sink;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private interface Reader {
        void read(InputStream body) throws IOException;
    }

    private static void take(HttpExchange exchange, Reader reader) throws IOException {
        try (exchange) {
            boolean packed = "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
            InputStream body = exchange.getRequestBody();
            reader.read(packed ? new GZIPInputStream(body) : body);
            exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
            exchange.sendResponseHeaders(200, -1);
        }
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** All spans of a trace, as soon as one whose name begins so is among them. */
    List<Span> awaitSpans(String traceId, String name, Duration limit) {
        await().atMost(limit)
                .until(() ->
                        of(traceId).stream().anyMatch(span -> span.getName().startsWith(name)));
        return of(traceId);
    }

    private List<Span> of(String traceId) {
        return spans.stream()
                .filter(span -> hex(span.getTraceId()).equals(traceId))
                .toList();
    }

    /** What all spans have under this name, as soon as one has anything. */
    String awaitContent(String key, Duration limit) {
        await().atMost(limit).until(() -> !contents(key).isEmpty());
        return contents(key);
    }

    private String contents(String key) {
        return spans.stream().map(span -> text(span, key)).collect(Collectors.joining());
    }

    boolean awaitMetric(String name, Duration limit) {
        await().atMost(limit).until(() -> metrics.contains(name));
        return true;
    }

    static String hex(ByteString id) {
        return HexFormat.of().formatHex(id.toByteArray());
    }

    /** An attribute; empty if there is none. */
    static String text(Span span, String key) {
        return span.getAttributesList().stream()
                .filter(attribute -> attribute.getKey().equals(key))
                .map(KeyValue::getValue)
                .map(value -> value.getStringValue())
                .findFirst()
                .orElse("");
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
