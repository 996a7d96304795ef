package dev.millrace.gateway.config;

import io.quarkus.runtime.configuration.MemorySize;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.net.URI;
import java.time.Duration;

/** What an operator may set for the gateway. Every value has a default that works in {@code standalone}. */
@ConfigMapping(prefix = "millrace.gateway")
public interface GatewayConfig {

    /** Where agent-service answers questions about tasks. */
    @WithDefault("http://localhost:8081")
    URI agentUrl();

    /**
     * The largest request body that is read, at most {@code quarkus.http.limits.max-body-size} (64M). An event goes
     * into one Kafka record, so a task cannot be much larger than the lanes' own limit of 1 MiB; a batch can.
     */
    @WithDefault("1M")
    MemorySize maxBodySize();

    /**
     * Bytes of all request bodies together that are being read, beyond the first 16 KiB of each; four times as much
     * memory may be taken by those that have been read and are not yet stored. What does not fit waits for up to 5 s,
     * then it is refused with 503 {@code too_many_bodies}. At least 1 MiB.
     */
    @WithDefault("16M")
    MemorySize bodiesInFlight();

    /** How long a client may take to send a request body before it is refused with 408 {@code body_too_slow}. */
    @WithDefault("30s")
    Duration bodyTimeout();

    /** How long the brokers may take to store an event before the client gets a 503. */
    @WithDefault("5s")
    Duration produceTimeout();

    /** How long agent-service may take to answer a question before the client gets a 503. */
    @WithDefault("3s")
    Duration queryTimeout();

    /** The longest {@code ?wait=} that a client may ask for. */
    @WithDefault("120s")
    Duration maxWait();

    /** How many accepted tasks are remembered until agent-service knows them. */
    @WithDefault("10000")
    @Min(0)
    @Max(1_000_000)
    int recentTasks();

    /** Conversations. */
    Sessions sessions();

    /** Conversations. */
    interface Sessions {

        /** Whether the routes of sessions are there; without, they are 503. */
        @WithDefault("true")
        boolean enabled();

        /** Whether the first prompt to a session makes it; without, a prompt to one that nobody has made is a 404. */
        @WithDefault("false")
        boolean autoCreate();
    }

    /** Clients that speak OpenAI's API. */
    Openai openai();

    /** Clients that speak OpenAI's API. */
    interface Openai {

        /** How long a task may take before its client gets an error; it is cancelled then. */
        @WithDefault("10m")
        Duration timeout();

        /**
         * The largest request body that is read; images are in it. The event must fit the lanes' own limit of 1 MiB.
         */
        @WithDefault("2M")
        MemorySize maxBodySize();
    }

    /** Server-sent events. */
    Stream stream();

    /** Server-sent events. */
    interface Stream {

        /** After so much silence a comment is sent, so that proxies and clients know that the stream is alive. */
        @WithDefault("15s")
        Duration heartbeat();

        /** How far a client may lag behind, in bytes of memory, before its stream is ended. At least 64 KiB. */
        @WithDefault("4M")
        MemorySize buffer();

        /**
         * What may wait for all clients together, in bytes of memory; as much again may be under way to them. When it
         * is full, the streams are ended that lag most, and those that have taken nothing for 2 s. At least as much as
         * {@code buffer}.
         */
        @WithDefault("64M")
        MemorySize totalBuffer();

        /** How many streams may be open at the same time; one more is refused with 503 {@code too_many_streams}. */
        @WithDefault("2000")
        @Min(1)
        int max();

        /**
         * How many of them one client address may have; one more is refused with 429 {@code too_many_streams}. Behind a
         * proxy all have its address, unless {@code quarkus.http.proxy.proxy-address-forwarding} is on.
         */
        @WithDefault("1000")
        @Min(1)
        int maxPerClient();

        /** How long a client may take nothing, although there is something, before its stream is ended. */
        @WithDefault("30s")
        Duration patience();

        /** How many streams may read far back in the journal at the same time; the others wait. */
        @WithDefault("16")
        @Min(1)
        int backfills();
    }
}
