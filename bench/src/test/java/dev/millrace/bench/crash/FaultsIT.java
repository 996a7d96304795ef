package dev.millrace.bench.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** The short form of {@code ./millrace bench crash}, on a cluster. */
class FaultsIT {

    /** Held on to, because a logger that nobody holds forgets its level. */
    private static final Logger KAFKA = Logger.getLogger("org.apache.kafka");

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path folder;

    @Test
    @DisplayName("three brokers, replication 3, under load: one is killed, one restarted, an agent-service stopped for"
            + " longer than its session: every task ends, nothing twice, order per session kept, no partition stuck")
    void shouldKeepItsPromisesWhenBrokersAndServicesGo() throws IOException, InterruptedException, ExecutionException {
        // given
        KAFKA.setLevel(Level.SEVERE);
        List<FaultKind> kinds = List.of(FaultKind.KILL_BROKER, FaultKind.RESTART_BROKER, FaultKind.PAUSE_AGENT);
        CrashSettings settings =
                new CrashSettings(kinds.size(), 8, 12, 3, kinds, folder, Duration.ofMinutes(2), Duration.ofMinutes(5));

        // when
        CrashReport report = new CrashRun(settings, System.out::println).run();

        // then
        assertThat(report.findings()).as("data and logs: %s", folder).isEmpty();
        assertThat(report.aftermaths()).hasSameSizeAs(kinds);
        assertThat(report.counts().accepted()).isPositive();
    }
}
