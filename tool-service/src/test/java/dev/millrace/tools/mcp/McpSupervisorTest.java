package dev.millrace.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class McpSupervisorTest {

    private static final McpServer SERVER =
            new McpServer.Stdio("stub", List.of("none"), Map.of(), null, McpServer.Terms.NONE);
    private static final McpConnection.Call CALL = new McpConnection.Call("echo", JsonObject.of(Map.of()), Map.of());

    /** Is asked to connect; refuses as often as it has to. */
    private static final class Stub implements McpConnection.Opener {
        private final Semaphore refused = new Semaphore(0);
        private final AtomicInteger toRefuse = new AtomicInteger();
        private volatile CompletableFuture<String> ended = new CompletableFuture<>();

        @Override
        public McpConnection connect(McpServer server, Duration limit, Runnable toolsChanged) throws McpException {
            if (toRefuse.get() > 0) {
                toRefuse.decrementAndGet();
                refused.release();
                throw new McpException(McpException.Kind.NOT_SENT, "connection refused");
            }
            ended = new CompletableFuture<>();
            return new Connection(ended);
        }
    }

    private record Connection(CompletableFuture<String> ended) implements McpConnection {
        @Override
        public List<RemoteTool> tools() {
            return List.of(new RemoteTool("echo", "", Map.of(), ToolDefinition.SideEffects.READ_ONLY));
        }

        @Override
        public Result call(Call call) {
            return new Result("echoed", false);
        }

        @Override
        public void close() {
            ended.complete("closed");
        }
    }

    @Test
    @DisplayName("a server that worked and is restarted: calls wait, also after it has refused more than once")
    void shouldWaitForAServerThatIsRestarted() throws Exception {
        Stub stub = new Stub();
        try (McpSupervisor supervisor = new McpSupervisor(SERVER, stub, Duration.ofSeconds(5), () -> {})) {
            supervisor.start();
            assertThat(supervisor.call(CALL)).isEqualTo("echoed");
            // when
            stub.toRefuse.set(2);
            stub.ended.complete("killed");
            assertThat(stub.refused.tryAcquire(2, 20, TimeUnit.SECONDS)).isTrue();
            // then
            assertThat(supervisor.call(CALL)).isEqualTo("echoed");
            assertThat(stub.toRefuse).hasValue(0);
        }
    }

    @Test
    @DisplayName("a server that has never worked and has failed twice: calls fail at once")
    void shouldNotWaitForAServerThatNeverWorked() throws Exception {
        Stub stub = new Stub();
        stub.toRefuse.set(1_000);
        try (McpSupervisor supervisor = new McpSupervisor(SERVER, stub, Duration.ofSeconds(5), () -> {})) {
            supervisor.start();
            assertThat(stub.refused.tryAcquire(2, 20, TimeUnit.SECONDS)).isTrue();
            // when
            long begun = System.nanoTime();
            assertThatThrownBy(() -> supervisor.call(CALL))
                    .isInstanceOf(ToolException.class)
                    .hasMessageContaining("connection refused");
            // then
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(5));
        }
    }
}
