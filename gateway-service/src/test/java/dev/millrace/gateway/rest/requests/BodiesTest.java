package dev.millrace.gateway.rest.requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.gateway.rest.problems.ProblemException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class BodiesTest {
    private static final int LIMIT = 1024 * 1024;
    private static final Duration WAIT = Duration.ofSeconds(20);

    private final Bodies bodies = new Bodies(LIMIT, Duration.ofSeconds(30));

    @Test
    void shouldTakeABodyAtTheLimitAndRefuseOneByteMore() throws Exception {
        try (Bodies.Body read = bodies.read(body(LIMIT), LIMIT)) {
            assertThat(read.bytes()).hasSize(LIMIT);
        }
        assertThatThrownBy(() -> bodies.read(body(LIMIT + 1), LIMIT))
                .isInstanceOfSatisfying(
                        ProblemException.class,
                        e -> assertThat(e.problem().status()).isEqualTo(413));
    }

    @Test
    void shouldRefuseABodyWhileOthersHaveTheMemoryAndTakeItAfterwards() throws Exception {
        // given: what its JSON takes once it is read is more than there is
        byte[] many = ("[" + "{},".repeat(100_000) + "{}]").getBytes(StandardCharsets.UTF_8);
        Bodies.Body held = bodies.read(new ByteArrayInputStream(many), LIMIT);

        // when, then
        assertThatThrownBy(() -> bodies.read(body(500), LIMIT)).isInstanceOfSatisfying(ProblemException.class, e -> {
            assertThat(e.problem().status()).isEqualTo(503);
            assertThat(e.problem().code()).isEqualTo("too_many_bodies");
            assertThat(e.retryAfter()).isNotNull();
        });
        held.close();
        held.close();
        try (Bodies.Body read = bodies.read(new ByteArrayInputStream(many), LIMIT)) {
            assertThat(read.bytes()).isEqualTo(many);
        }
    }

    @Test
    void shouldTakeSmallBodiesWhileLargeOnesAreStillComing() throws Exception {
        // given: all room is taken by one whose client goes on sending
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                PipedInputStream coming = new PipedInputStream(LIMIT)) {
            Future<Bodies.Body> large;
            try (PipedOutputStream client = new PipedOutputStream(coming)) {
                client.write(new byte[LIMIT - 1]);
                large = threads.submit(() -> bodies.read(coming, LIMIT));
                await().atMost(WAIT).until(() -> coming.available() == 0);

                // when
                try (Bodies.Body small = bodies.read(body(Bodies.FREE_BYTES), LIMIT)) {

                    // then
                    assertThat(small.bytes()).hasSize(Bodies.FREE_BYTES);
                }
            }
            large.get().close();
        }
    }

    @Test
    void shouldRefuseABodyThatComesTooSlowly() {
        Bodies impatient = new Bodies(LIMIT, Duration.ZERO);

        assertThatThrownBy(() -> impatient.read(body(100), LIMIT))
                .isInstanceOfSatisfying(
                        ProblemException.class,
                        e -> assertThat(e.problem().code()).isEqualTo("body_too_slow"));
    }

    @Test
    void shouldGiveBackWhatWasCountedWhenTheClientIsGone() throws Exception {
        // given
        InputStream broken = new InputStream() {
            private int left = 500_000;

            @Override
            public int read() throws IOException {
                if (left-- == 0) {
                    throw new IOException("gone");
                }
                return 'x';
            }

            @Override
            public int read(byte[] into, int from, int length) throws IOException {
                into[from] = (byte) read();
                int more = Math.min(length - 1, left);
                left -= more;
                return 1 + more;
            }
        };

        // when
        assertThatThrownBy(() -> bodies.read(broken, LIMIT)).isInstanceOf(IOException.class);

        // then
        try (Bodies.Body read = bodies.read(body(LIMIT), LIMIT)) {
            assertThat(read.bytes()).hasSize(LIMIT);
        }
    }

    private static InputStream body(int bytes) {
        return new ByteArrayInputStream(new byte[bytes]);
    }
}
