package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OldGenerationTest {

    private static final int MIB = 1 << 20;

    @Test
    @DisplayName("with the serial collector a heap of garbage stays small")
    void shouldStaySmall() throws Exception {
        assertThat(largestHeapMib("-XX:+UseSerialGC", "-Xmx2g", "watched")).isLessThan(800);
        // and: it is not small by itself
        assertThat(largestHeapMib("-XX:+UseSerialGC", "-Xmx2g", "alone")).isGreaterThan(1_000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseG1GC", "-XX:+UseSerialGC"})
    @DisplayName("neither another collector nor a heap that is small anyway stands in its way")
    void shouldLeaveOthersAlone(String collector) throws Exception {
        assertThat(largestHeapMib(collector, "-Xmx200m", "watched")).isLessThanOrEqualTo(200);
    }

    private static long largestHeapMib(String collector, String most, String how) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        collector,
                        most,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Garbage.class.getName(),
                        how)
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
        return Long.parseLong(said.strip().lines().reduce("", (first, last) -> last));
    }

    /** A process that lets 3 GiB grow old, of which it needs 64 MiB at a time, and says how large its heap became. */
    static final class Garbage {

        private static final int KEPT = 1_024;
        private static final int PIECE = 64 * 1_024;

        private static final int MIB_OF_PIECES = MIB / PIECE;

        private Garbage() {}

        public static void main(String... args) throws InterruptedException {
            if (args[0].equals("watched")) {
                OldGeneration.keepSmall();
            }
            byte[][] kept = new byte[KEPT][];
            long largest = 0;
            for (int i = 0; i < 48 * KEPT; i++) {
                kept[i % KEPT] = new byte[PIECE];
                if (i % MIB_OF_PIECES == 0) {
                    Thread.sleep(1); // or it would have all of it before anybody could look
                }
                largest = Math.max(largest, Runtime.getRuntime().totalMemory());
            }
            System.out.println(largest / MIB);
        }
    }
}
