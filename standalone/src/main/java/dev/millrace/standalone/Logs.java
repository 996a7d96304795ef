package dev.millrace.standalone;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Keeps Kafka quiet while Quarkus, which does that later by configuration, has not started yet. */
final class Logs {

    /** Held on to, because a logger that nobody holds forgets its level. */
    private static final List<Logger> KAFKA = new ArrayList<>();

    static {
        for (String name : List.of("org.apache.kafka", "kafka", "state.change.logger")) {
            KAFKA.add(Logger.getLogger(name));
        }
    }

    private Logs() {}

    /** From now on only what is at least this important. */
    static void kafka(Level level) {
        KAFKA.forEach(logger -> logger.setLevel(level));
    }
}
