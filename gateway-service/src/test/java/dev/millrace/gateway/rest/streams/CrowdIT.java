package dev.millrace.gateway.rest.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.gateway.rest.SseClient;
import dev.millrace.gateway.rest.SseClient.SseEvent;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Large bodies and many streams cost the gateway no more than is configured, and nobody else anything. */
@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
@TestProfile(CrowdIT.Narrow.class)
class CrowdIT {
    /** One less than a client may have, for the one that comes late. */
    private static final int STREAMS = 998;

    private static final int MEBIBYTE = 1024 * 1024;
    /** Who waited for a stream that nobody reads would wait until its client goes, which is the end of the test. */
    private static final Duration SOON = Duration.ofSeconds(30);

    private final GatewayClient gateway = new GatewayClient();

    /** So that the limits are met with little. */
    public static final class Narrow implements QuarkusTestProfile {

        /** For Quarkus. */
        public Narrow() {}

        @Override
        public Map<String, String> getConfigOverrides() {
            return Map.of(
                    "millrace.gateway.stream.buffer", "64K",
                    "millrace.gateway.stream.total-buffer", "8M");
        }
    }

    @Test
    void shouldKeepNothingOfLargeBodiesThatItHasAccepted() throws Exception {
        // given
        int connections = 3;
        int requests = 40;
        String blob = "x".repeat(900_000);
        post(blob); // what is made once is there by now
        long before = liveHeap();

        // when
        try (ExecutorService threads = Executors.newFixedThreadPool(connections)) {
            List<Future<?>> posting = new ArrayList<>();
            for (int connection = 0; connection < connections; connection++) {
                posting.add(threads.submit(() -> {
                    for (int i = 0; i < requests; i++) {
                        post(blob);
                    }
                    return null;
                }));
            }
            for (Future<?> one : posting) {
                one.get();
            }
        }

        // then: a hundred megabytes came
        assertThat(liveHeap() - before).isLessThan(40L * MEBIBYTE);
    }

    @Test
    void shouldServeOthersWhileAThousandStreamsAreOpenAndHalfDoNotRead() throws Exception {
        // given: what clients that begin at the beginning have to catch up with
        int past = 60;
        String large = "x".repeat(20_000);
        Event root = gateway.journalRoot(Ids.random(), "crowd");
        for (int i = 0; i < past; i++) {
            gateway.journal(root, KnownEventType.TASK_NOTIFY, i, Map.of("message", large));
        }
        long before = liveHeap();
        String beginning = "/v1/stream?after="
                + IntStream.range(0, TestBroker.DEFAULT_PARTITIONS)
                        .mapToObj(partition -> partition + "@0")
                        .collect(Collectors.joining(","));
        List<Socket> sockets = new ArrayList<>();
        AtomicInteger greeted = new AtomicInteger();
        try (ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
            try {
                // when
                for (int i = 0; i < STREAMS; i++) {
                    boolean reads = i % 2 == 0;
                    Socket socket = open(reads || i % 5 != 1 ? "/v1/stream" : beginning);
                    sockets.add(socket);
                    if (reads) {
                        readers.execute(() -> drain(socket, greeted));
                    }
                }
                await().atMost(GatewayClient.LIMIT).until(() -> greeted.get() == STREAMS / 2);
                for (int i = 0; i < 30; i++) {
                    gateway.journal(root, KnownEventType.TASK_NOTIFY, past + i, Map.of("message", large));
                }

                // then
                for (int i = 0; i < 10; i++) {
                    long begun = System.nanoTime();
                    assertThat(gateway.get("/v1/tasks").status()).isEqualTo(200);
                    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(SOON);
                    Thread.sleep(100);
                }
                long begun = System.nanoTime();
                try (SseClient late = gateway.stream(beginning, null)) {
                    for (int i = 0; i < past; i++) {
                        SseEvent event = Objects.requireNonNull(late.next());
                        assertThat(event.name()).isNotNull();
                    }
                }
                assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(SOON);
                assertThat(liveHeap() - before).isLessThan(160L * MEBIBYTE);
            } finally {
                for (Socket socket : sockets) {
                    socket.close();
                }
            }
        }
        await().atMost(GatewayClient.LIMIT).until(() -> openStreams() == 0);
    }

    @Test
    void shouldRefuseOneStreamMoreThanAClientMayHave() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try {
            // given
            for (int i = 0; i < 1_000; i++) {
                sockets.add(open("/v1/stream"));
            }
            await().atMost(GatewayClient.LIMIT).until(() -> openStreams() == 1_000);

            // when
            Answer refused = gateway.get("/v1/stream");
            sockets.removeLast().close();
            await().atMost(GatewayClient.LIMIT).until(() -> openStreams() == 999);
            sockets.add(open("/v1/stream"));

            // then
            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.text("code")).isEqualTo("too_many_streams");
            assertThat(refused.text("detail")).contains("1000", "millrace.gateway.stream.max-per-client");
            assertThat(refused.header("Retry-After")).isNotEmpty();
            await().atMost(GatewayClient.LIMIT).until(() -> openStreams() == 1_000);
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
        await().atMost(GatewayClient.LIMIT).until(() -> openStreams() == 0);
    }

    private void post(String blob) throws IOException, InterruptedException {
        assertThat(gateway.postJson("/v1/tasks", Map.of("text", "hello", "metadata", Map.of("blob", blob)))
                        .status())
                .isEqualTo(202);
    }

    /** A client that asks for a stream and reads nothing. */
    private Socket open(String path) throws IOException {
        URI uri = gateway.request(path).build().uri();
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4 * 1024);
        socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort()));
        socket.getOutputStream()
                .write(("GET " + path + " HTTP/1.1\r\nHost: " + uri.getHost() + ":" + uri.getPort() + "\r\n\r\n")
                        .getBytes(StandardCharsets.UTF_8));
        return socket;
    }

    private static void drain(Socket socket, AtomicInteger greeted) {
        byte[] buffer = new byte[16 * 1024];
        try (InputStream in = socket.getInputStream()) {
            boolean first = true;
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                if (first) {
                    greeted.incrementAndGet();
                    first = false;
                }
            }
        } catch (IOException e) {
            // the test is over
        }
    }

    private int openStreams() throws IOException, InterruptedException {
        return gateway.get("/q/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("millrace_gateway_streams"))
                .mapToInt(line -> (int) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** What is in use after everything was collected that can be. */
    private static long liveHeap() throws InterruptedException {
        for (int i = 0; i < 2; i++) {
            System.gc();
            Thread.sleep(200);
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
