package dev.millrace.bench;

import java.util.Locale;

/** Who is compared, and when it counts a step as done. */
enum Contender {
    MILLRACE("page cache"),
    MILLRACE_FSYNC("fsync per append"),
    RESTATE("fsync, its default"),
    LITTLEHORSE("page cache"),
    KAFKA_CLIENTS("page cache, at least once"),
    KAFKA_STREAMS("page cache, at least once"),
    KAFKA_STREAMS_EOS("page cache, exactly once");

    private final String durability;

    Contender(String durability) {
        this.durability = durability;
    }

    /** As it is called on the command line and in results. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    @Override
    public String toString() {
        return label();
    }

    String durability() {
        return durability;
    }

    /** Whether this is a floor: records of the shape of a task, without a model or any other content. */
    boolean isFloor() {
        return this == KAFKA_CLIENTS || this == KAFKA_STREAMS || this == KAFKA_STREAMS_EOS;
    }
}
