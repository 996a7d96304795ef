package dev.millrace.bench;

import dev.millrace.bench.Fleet.Durability;
import dev.millrace.bench.Fleet.Mode;
import java.util.List;
import picocli.CommandLine.Option;

/** Which Millrace is measured. */
final class FleetOptions {

    @Option(names = "--mode", description = "One process as `up` has, services, or both.")
    private Modes mode = Modes.BOTH;

    @Option(names = "--durability", description = "cache (Kafka's default), fsync (after every append), or both.")
    private Durabilities durability = Durabilities.BOTH;

    @Option(names = "--jvm", split = "\\s+", description = "Further JVM arguments, with spaces between.")
    private List<String> jvm = List.of();

    /** Modes, as they are chosen on the command line. */
    enum Modes {
        ONE,
        SERVICES,
        BOTH;

        List<Mode> each() {
            return this == BOTH ? List.of(Mode.values()) : List.of(Mode.valueOf(name()));
        }
    }

    /** The same for durability. */
    enum Durabilities {
        CACHE,
        FSYNC,
        BOTH;

        List<Durability> each() {
            return this == BOTH ? List.of(Durability.values()) : List.of(Durability.valueOf(name()));
        }
    }

    /** What is measured of one of them. */
    @FunctionalInterface
    interface Measuring {
        void of(Mode mode, Durability durability) throws Exception;
    }

    /** Measures each of them, one after the other. */
    void forEach(Measuring measuring) throws Exception {
        for (Mode one : mode.each()) {
            for (Durability written : durability.each()) {
                measuring.of(one, written);
            }
        }
    }

    List<String> jvm() {
        return jvm;
    }
}
