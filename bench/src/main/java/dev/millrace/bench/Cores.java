package dev.millrace.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * How much the processors of this machine have worked since its start, whoever for, in seconds: what else is going on
 * beside a measurement is in it. Zero where the system does not tell.
 */
record Cores(double busySeconds) {

    private static final double TICKS_PER_SECOND = 100;
    /** Of the numbers that Linux gives: idle, and idle because of a disk. */
    private static final List<Integer> IDLE = List.of(3, 4);

    /** As Linux tells it. */
    static Cores now() {
        try {
            String line = Files.readAllLines(Path.of("/proc/stat")).getFirst();
            long[] ticks = Arrays.stream(line.strip().split("\\s+"))
                    .skip(1)
                    .limit(8)
                    .mapToLong(Long::parseLong)
                    .toArray();
            long busy = 0;
            for (int i = 0; i < ticks.length; i++) {
                busy += IDLE.contains(i) ? 0 : ticks[i];
            }
            return new Cores(busy / TICKS_PER_SECOND);
        } catch (IOException e) {
            return new Cores(0);
        }
    }

    /** How many processors were busy on average since an earlier moment, so many seconds ago. */
    double busySince(Cores earlier, double seconds) {
        return (busySeconds - earlier.busySeconds) / seconds;
    }
}
