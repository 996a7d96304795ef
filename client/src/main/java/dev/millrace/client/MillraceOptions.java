package dev.millrace.client;

import java.time.Duration;
import java.util.function.Supplier;

/** What holds for all requests of one {@link Millrace}. */
public final class MillraceOptions {

    private String namespace = "default";
    private Supplier<String> token = () -> "";
    private Duration timeout = Duration.ofSeconds(30);
    private Duration patience = Duration.ofSeconds(20);
    private Duration silence = Duration.ofSeconds(60);

    MillraceOptions() {}

    /** The tenant; at first {@code default}. */
    public MillraceOptions namespace(String name) {
        this.namespace = name;
        return this;
    }

    /** The API key or token that goes with every request; empty = none does. */
    public MillraceOptions token(String key) {
        return token(() -> key);
    }

    /** The same, asked for before each request: for tokens that expire. */
    public MillraceOptions token(Supplier<String> keys) {
        this.token = keys;
        return this;
    }

    /** How long an answer may take, 1 ms or more; at first 30 s. */
    public MillraceOptions timeout(Duration limit) {
        this.timeout = positive("timeout", limit);
        return this;
    }

    /** How long a feed tries to come back to a gateway that is away, 1 ms or more; at first 20 s. */
    public MillraceOptions patience(Duration limit) {
        this.patience = positive("patience", limit);
        return this;
    }

    /**
     * After how much silence a feed takes its connection for dead and opens another, 1 ms or more; at first 60 s.
     * More than {@code millrace.gateway.stream.heartbeat} of the gateway (15 s, unless it is configured), which
     * breaks the silence.
     */
    public MillraceOptions silence(Duration limit) {
        this.silence = positive("silence", limit);
        return this;
    }

    String namespace() {
        return namespace;
    }

    Supplier<String> token() {
        return token;
    }

    Duration timeout() {
        return timeout;
    }

    Duration patience() {
        return patience;
    }

    Duration silence() {
        return silence;
    }

    private static Duration positive(String name, Duration limit) {
        if (limit.toMillis() < 1) {
            throw new IllegalArgumentException(name + ": expected 1 ms or more, found " + limit);
        }
        return limit;
    }
}
