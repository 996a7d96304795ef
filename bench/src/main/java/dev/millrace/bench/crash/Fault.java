package dev.millrace.bench.crash;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Something that is going to happen.
 *
 * @param number from 1
 * @param victim whom of several it happens to
 * @param before how long all is left well before it
 * @param lasting how long it stays broken
 */
public record Fault(int number, FaultKind kind, int victim, Duration before, Duration lasting) {

    /** Longer than the session of a member of a group, which is 5 s with the broker of {@code ./millrace up}. */
    private static final int OUT_OF_SESSION_MS = 7_000;

    /** So that it can be divided by the number of agents and of brokers. */
    private static final int VICTIMS = 6;

    /**
     * So many faults, the same for the same seed: each kind once before any comes again.
     *
     * @param kinds at least one
     */
    static List<Fault> plan(long seed, int count, List<FaultKind> kinds) {
        Random random = new Random(seed);
        List<Fault> faults = new ArrayList<>();
        while (faults.size() < count) {
            List<FaultKind> round = new ArrayList<>(kinds);
            Collections.shuffle(round, random);
            for (FaultKind kind : round.subList(0, Math.min(round.size(), count - faults.size()))) {
                faults.add(new Fault(
                        faults.size() + 1,
                        kind,
                        random.nextInt(VICTIMS),
                        Duration.ofMillis(500 + random.nextInt(2_500)),
                        Duration.ofMillis(lasting(kind, random))));
            }
        }
        return faults;
    }

    private static int lasting(FaultKind kind, Random random) {
        return switch (kind) {
            case PAUSE_AGENT, PAUSE_TOOLS, PAUSE_REFLECTION, HOLD_AGENT -> OUT_OF_SESSION_MS + random.nextInt(4_000);
            case FULL_DISK, FULL_DISK_RESTART -> 5_000 + random.nextInt(5_000);
            case PAUSE_BROKER, CUT_AGENT, CUT_TOOLS, CUT_ALL -> 1_000 + random.nextInt(8_000);
            case KILL_AGENT,
                    KILL_TOOLS,
                    KILL_REFLECTION,
                    KILL_GATEWAY,
                    KILL_BROKER,
                    KILL_ALL,
                    RESTART_BROKER,
                    ROLLING_RESTART,
                    KILL_BEFORE_COMMIT -> random.nextInt(3_000);
        };
    }

    /** The one of these that it happens to. */
    Part among(List<Part> parts) {
        return parts.get(victim % parts.size());
    }
}
