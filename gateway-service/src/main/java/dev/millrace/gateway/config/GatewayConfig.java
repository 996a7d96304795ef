package dev.millrace.gateway.config;

import dev.millrace.gateway.access.AuthMode;
import dev.millrace.gateway.webhook.WebhookScheme;
import dev.millrace.schemas.Event;
import io.quarkus.runtime.configuration.MemorySize;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

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

    /**
     * How callers say who they are: {@code none}, {@code key} or {@code jwt}; with {@code jwt} API keys count as well
     * where there is a file of them. Absent = {@code none}, on this machine only: a gateway that listens for others
     * does not start until it is said.
     */
    Optional<AuthMode> auth();

    /** The file of API keys, as {@code ./millrace keys} writes it; looked at every second. */
    Optional<Path> authKeysFile();

    /** For {@code jwt}: where the issuer's public keys are, an https URL (or http of this machine). */
    Optional<URI> authJwks();

    /** For {@code jwt}: who has to have issued a token, as in its {@code iss}. */
    Optional<String> authIssuer();

    /** For {@code jwt}: whom a token has to be for, as in its {@code aud}. */
    Optional<String> authAudience();

    /** For {@code jwt}: the claim with the grants, a list of texts such as {@code acme:read}, or one with blanks. */
    @WithDefault("millrace")
    String authClaim();

    /**
     * What namespaces may start over HTTP, by their name; {@code "*"} = each that is not named itself. A task too many
     * is refused with 429 {@code quota_exceeded}.
     */
    Map<String, TenantQuota> quotas();

    /** What a namespace may start. What is absent is not limited. */
    interface TenantQuota {

        /** Tasks in a minute, and as many at once; of each instance of the gateway. At least 1. */
        Optional<@Min(1) Integer> tasksPerMinute();

        /**
         * Tokens that its models may read and write in a day (UTC) before no more tasks are started. Looked at every
         * few seconds; tasks under way go on.
         */
        Optional<@Min(0) Long> tokensPerDay();

        /** The same in millionths of a US dollar, as far as models have prices. */
        Optional<@Min(0) Long> costMicrosPerDay();

        /**
         * Streams that may be open for those who have logged in for it, of each instance of the gateway; one too many
         * is 429 {@code too_many_streams}. At least 1.
         */
        Optional<@Min(1) Integer> streams();
    }

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

    /** Systems that send webhooks, by their name in {@code /v1/webhooks/<name>}. */
    Map<String, Webhook> webhooks();

    /** A system that sends webhooks. */
    interface Webhook {

        /** How it signs: {@code standard, github, stripe, slack, hmac} or {@code none}. */
        WebhookScheme scheme();

        /** What it signs with; several while one is changed. For {@code none} there is none. */
        Optional<List<String>> secrets();

        /** A file of such secrets, one a line, read for each request. */
        Optional<Path> secretsFile();

        /** How far the time that was signed may be from now. */
        @WithDefault("5m")
        Duration tolerance();

        /** For {@code hmac}: the header with the signature. */
        @WithDefault("X-Signature-256")
        String signatureHeader();

        /** For {@code hmac}: what stands before the signature, such as {@code sha256=}. */
        Optional<String> signaturePrefix();

        /** For {@code hmac}: how the signature is written, {@code hex} or {@code base64}. */
        @WithDefault("hex")
        WebhookScheme.Encoding signatureEncoding();

        /**
         * The header that tells one delivery from another; the same one a second time does nothing. Absent = as the
         * scheme has it; for {@code hmac} and {@code none} every request counts.
         */
        Optional<String> idHeader();

        /** Names of events that are taken; absent = all. */
        Optional<List<String>> only();

        /** The type of the event that one becomes. {@code WEBHOOK_TRIGGERED} starts a task, and needs a template. */
        @WithDefault("webhook.received")
        String type();

        /** The tenant of the events. */
        @WithDefault(Event.DEFAULT_NAMESPACE)
        String namespace();

        /**
         * Template of the conversation, such as {@code {{body.repository.full_name}}}. Absent = each event is one of
         * its own.
         */
        Optional<String> session();

        /** Template of the text that a task begins with. */
        Optional<String> template();

        /** Who does the task. Absent = the default agent. */
        Optional<String> agent();

        /** The priority of the events, 100 or more. Absent = the type's. */
        OptionalInt priority();
    }

    /** Folders whose changes are events {@code file.changed}, by a name for people. On one gateway only. */
    Map<String, Watch> watch();

    /** A folder whose changes are events. */
    interface Watch {

        /** The folder; it has to be there. All folders in it are watched, too. */
        Path folder();

        /** The conversation of the events. */
        String session();

        /** The tenant of the events. */
        @WithDefault(Event.DEFAULT_NAMESPACE)
        String namespace();

        /** How long a file has to be left alone before it is told of. 1 ms or more. */
        @WithDefault("500ms")
        Duration debounce();

        /**
         * Patterns of what is passed over: one without {@code /} for each name on the way, such as {@code *.tmp}; one
         * with {@code /} for the path below the folder.
         */
        @WithDefault(".*,*~,*.tmp,*.swp,node_modules")
        List<String> ignore();

        /** How many files and folders are watched; others are passed over, and the log says so. At least 1. */
        @WithDefault("10000")
        int maxFiles();
    }

    /** The knowledge service, which is asked about documents. */
    KnowledgePlace knowledge();

    /** The knowledge service, which is asked about documents. */
    interface KnowledgePlace {

        /** Where it answers. It need not be there: then the routes of knowledge are 503. */
        @WithDefault("http://localhost:8084")
        URI url();

        /** How long it may take to answer; a document that is sent is answered when it is embedded. */
        @WithDefault("60s")
        Duration timeout();

        /** The largest document that may be sent; {@code millrace.gateway.bodies-in-flight} bounds it, too. */
        @WithDefault("10M")
        MemorySize maxUploadSize();
    }

    /** Clients that speak OpenAI's API. */
    Openai openai();

    /** Clients that speak OpenAI's API. */
    interface Openai {

        /**
         * How long a task of a chat completion, or of a response that is not in the background, may take before its
         * client gets an error; it is cancelled then.
         */
        @WithDefault("10m")
        Duration timeout();

        /**
         * The largest request body that is read; images are in it. The event must fit the lanes' own limit of 1 MiB.
         */
        @WithDefault("2M")
        MemorySize maxBodySize();
    }

    /** Clients of the Model Context Protocol. */
    Mcp mcp();

    /** Clients of the Model Context Protocol. */
    interface Mcp {

        /** How long the call of a tool may take before its client gets an error; its task is cancelled then. */
        @WithDefault("1h")
        Duration timeout();
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
