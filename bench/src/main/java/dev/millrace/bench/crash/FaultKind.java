package dev.millrace.bench.crash;

import java.util.Locale;

/** What can happen to an installation. */
public enum FaultKind {
    KILL_AGENT("kill -9 of one of two agent-services", Needs.NOTHING, 2),
    KILL_TOOLS("kill -9 of tool-service", Needs.NOTHING, 0),
    KILL_REFLECTION("kill -9 of reflection-service", Needs.NOTHING, 1),
    KILL_GATEWAY("kill -9 of the gateway", Needs.NOTHING, 0),
    KILL_BROKER("kill -9 of a broker", Needs.NOTHING, 2),
    KILL_ALL("kill -9 of everything at once", Needs.NOTHING, 2),
    RESTART_BROKER("a broker is stopped in order and started again", Needs.NOTHING, 2),
    PAUSE_AGENT("SIGSTOP of an agent-service for longer than its session", Needs.NOTHING, 2),
    PAUSE_TOOLS("SIGSTOP of tool-service for longer than its session", Needs.NOTHING, 0),
    PAUSE_REFLECTION("SIGSTOP of reflection-service for longer than its session", Needs.NOTHING, 1),
    PAUSE_BROKER("SIGSTOP of a broker", Needs.NOTHING, 2),
    HOLD_AGENT("the network of an agent-service is silent for longer than its session", Needs.OWN_ADDRESSES, 2),
    CUT_AGENT("the network of an agent-service resets connections for a while", Needs.OWN_ADDRESSES, 2),
    CUT_TOOLS("the network of tool-service resets connections for a while", Needs.OWN_ADDRESSES, 0),
    CUT_ALL("the network between all services and the brokers is cut", Needs.OWN_ADDRESSES, 2),
    FULL_DISK("the disk of an agent-service's state is full for a while", Needs.OWN_DISK, 2),
    FULL_DISK_RESTART("kill -9 of an agent-service, and its disk is full when it starts again", Needs.OWN_DISK, 2),
    ROLLING_RESTART(
            "two agent-services with standby replicas are restarted in order, one after the other", Needs.NOTHING, 4),
    KILL_BEFORE_COMMIT(
            "kill -9 of both agent-services while the journal has records of a transaction that is not committed",
            Needs.NOTHING,
            2);

    /** What a machine has to allow for it. */
    public enum Needs {
        NOTHING,
        /** More than one loopback address. */
        OWN_ADDRESSES,
        /** A file system of its own for a state folder. */
        OWN_DISK
    }

    private final String summary;
    private final Needs needs;
    private final int repeats;

    FaultKind(String summary, Needs needs, int repeats) {
        this.summary = summary;
        this.needs = needs;
        this.repeats = repeats;
    }

    /** What happens, in a line. */
    String summary() {
        return summary;
    }

    Needs needs() {
        return needs;
    }

    /**
     * How often model calls of one task may be made again because of it: once for a crash, and once more for each time
     * that its partition moves in an orderly way, as when the one that is back gets its share
     * ({@code docs/guarantees.md}).
     */
    int repeats() {
        return repeats;
    }

    /** As on the command line: {@code kill-agent}. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
