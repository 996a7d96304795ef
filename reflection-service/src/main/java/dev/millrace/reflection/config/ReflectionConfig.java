package dev.millrace.reflection.config;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** What an operator may set for memory and reflection. Every value has a default that works in {@code standalone}. */
@ConfigMapping(prefix = "millrace.reflection")
public interface ReflectionConfig {

    /**
     * The folder for the state of the memory machine; for this instance alone. If it is lost, it is built again from
     * Kafka.
     */
    @WithDefault("data/reflection")
    Path stateDir();

    /** Stream threads, 1 or more; more than partitions are idle. */
    @WithDefault("1")
    int streamThreads();

    /** As {@code millrace.agent.commit-interval}. */
    @WithDefault("20ms")
    Duration commitInterval();

    /** How many older versions of a document are kept, so that a bad change can be undone. 0 or more. */
    @WithDefault("20")
    int keptVersions();

    /**
     * How many documents a namespace may have. At the limit a new one is refused ({@code memory_full}, 409), and those
     * that are there can still be changed. 1 or more.
     */
    @WithDefault("10000")
    long maxDocuments();

    /**
     * How many bytes of UTF-8 all documents of a namespace may have together. At the limit nothing that makes it more
     * is taken ({@code memory_full}, 409). 1 or more.
     */
    @WithDefault("67108864")
    long maxBytes();

    /** The model that reflects, by the name that agents use. Absent = the default one. */
    Optional<String> model();

    /** How much that model can read, in tokens; what is longer is cut. At least 1. */
    @WithDefault("128000")
    long contextWindow();

    /**
     * How long model calls that run may go on when the service stops, so that their replies are kept; the rest is made
     * again after the next start.
     */
    @WithDefault("8s")
    Duration shutdownGrace();
}
