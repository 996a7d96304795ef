package dev.millrace.tools.config;

import dev.millrace.http.guarded.GuardedHttp;
import io.quarkus.runtime.configuration.MemorySize;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** What an operator may set for the tool service. Every value has a default that works in {@code standalone}. */
@ConfigMapping(prefix = "millrace.tools")
public interface ToolsConfig {

    /** The one folder that file tools may see. Made if it does not exist. */
    @WithDefault("workspace")
    Path workspace();

    /**
     * Whether each namespace has a folder of its own there, called like it, which is all that its tasks see. Characters
     * other than small letters, digits, {@code -} and {@code _} stand in the name of the folder as {@code %} and two
     * hexadecimal digits for each byte.
     */
    @WithDefault("false")
    boolean workspacePerNamespace();

    /**
     * The folder of skills, {@code <name>/SKILL.md} each, which {@code use_skill} gives to models. It need not be
     * there.
     */
    @WithDefault("skills")
    Path skillsDir();

    /** Tool calls that may run at the same time in this instance. At least 1. */
    @WithDefault("3")
    int maxConcurrent();

    /**
     * Threads that may go on although their call's time is over and they were interrupted. When so many do, every call
     * fails with {@code tool_busy} and the service is not alive: only a restart is rid of them. At least 1.
     */
    @WithDefault("16")
    int maxStuck();

    /** How long running calls may go on when the service stops; what is left then goes back to the topic. */
    @WithDefault("10s")
    Duration shutdownGrace();

    /** How long a call of a worker that has gone silent stays with it before another one takes it over. */
    @WithDefault("5m")
    Duration staleAfter();

    /**
     * The largest result that is passed on, as JSON; of a larger one the beginning is passed on, and the whole is kept
     * for the tool {@code read_result}. 1000 to 900000 bytes.
     */
    @WithDefault("200000")
    MemorySize maxResultSize();

    /** Results that are too large to be passed on. */
    Content content();

    /** Results that are too large to be passed on. */
    interface Content {

        /** How much of one is kept, on the topic {@code content}. */
        @WithDefault("20M")
        MemorySize maxSize();
    }

    /** The largest file that is read, written or edited. */
    @WithDefault("400000")
    MemorySize maxFileSize();

    /** Where agent-service answers questions about tasks, for {@code task_list} and {@code task_replay}. */
    @WithDefault("http://localhost:8081")
    URI agentUrl();

    /** Environment variables. */
    Env env();

    /** Environment variables. */
    interface Env {

        /**
         * Those that {@code get_env} may read: names, or beginnings of names with {@code *} after them. Absent = none.
         */
        Optional<List<String>> allow();

        /**
         * How much memory the variables of all conversations may take; beyond it the tenant that has most loses those
         * of its conversations that have set none for the longest time. At least 2000000 bytes.
         */
        @WithDefault("64M")
        MemorySize maxSize();
    }

    /** The search engine of {@code web_search}. */
    WebSearch webSearch();

    /** The search engine of {@code web_search}. */
    interface WebSearch {

        /**
         * One whose answers are known: {@code searxng} or {@code brave}; what follows goes before it. Absent = none of
         * them.
         */
        Optional<Preset> preset();

        /**
         * Its URL with {@code {query}} and perhaps {@code {limit}} in it. Absent = the preset's; if that has none,
         * there is no search.
         */
        Optional<String> url();

        /** Request headers by name; {@code {{secret:NAME}}} in a value stands for a secret. */
        Map<String, String> headers();

        /**
         * Where in the answer the list of results is, as a JSON pointer. Absent = the preset's, or {@code /results}.
         */
        Optional<String> results();

        /** Where in a result its title is. Absent = the preset's, or {@code /title}. */
        Optional<String> title();

        /** Where in a result its URL is. Absent = the preset's, or {@code /url}. */
        Optional<String> link();

        /** Where in a result its snippet is. Absent = the preset's, or {@code /snippet}. */
        Optional<String> snippet();

        /** Engines whose answers are known. */
        enum Preset {
            SEARXNG,
            BRAVE
        }
    }

    /** HTTP APIs whose operations are tools, by name; see docs/tools.md. */
    Map<String, OpenApi> openapi();

    /** One HTTP API. */
    interface OpenApi {

        /** Its OpenAPI document: a URL, or a file. */
        String document();

        /** Where the API is. Absent = as the document says. */
        Optional<String> baseUrl();

        /** Request headers by name; {@code {{secret:NAME}}} in a value stands for a secret. */
        Map<String, String> headers();

        /** Which operations become tools, by id; {@code *} stands for any text. Absent = all. */
        Optional<List<String>> include();

        /**
         * Who has to agree before a call runs: {@code never}, {@code always} or {@code when:<condition>}. Absent =
         * nobody.
         */
        Optional<String> approval();
    }

    /** Files with definitions of tools that workers of others serve, or folders of such files. Absent = none. */
    Optional<List<Path>> definitions();

    /** Java methods as tools. */
    Java java();

    /** Java methods as tools. */
    interface Java {

        /** Jars with such methods, or folders of jars, beside what is built into the application. Absent = none. */
        Optional<List<Path>> jars();
    }

    /** Tools of MCP servers. */
    Mcp mcp();

    /** Tools of MCP servers. */
    interface Mcp {

        /**
         * The file that names the servers, see docs/tools.md. Absent = {@code mcp.json} in the working folder, if it is
         * there.
         */
        Optional<Path> config();

        /** How long one call may take, where the file says nothing else for its server. */
        @WithDefault("60s")
        Duration callTimeout();

        /** How long a server may take to start and to introduce itself; one that is downloaded first takes longer. */
        @WithDefault("60s")
        Duration startTimeout();
    }

    /** What is said about single tools, by name. */
    Map<String, PerTool> tool();

    /** What is said about one tool. */
    interface PerTool {

        /**
         * Who has to agree before a call runs: {@code never}, {@code always} or {@code when:<condition>}. Absent = as
         * it says itself.
         */
        Optional<String> approval();

        /** Calls at the same time in this instance; 0 = no limit. */
        @WithDefault("5")
        int maxConcurrent();

        /** Calls per minute in this instance; 0 = no limit. */
        @WithDefault("0")
        int maxPerMinute();

        /** How often one call is tried. Absent = as the tool says itself, or as all are. */
        OptionalInt maxAttempts();
    }

    /** Calls that fail for a passing reason. */
    Retry retry();

    /** Calls that fail for a passing reason. */
    interface Retry {

        /** How often one call is tried, inside its time-out. 1 to 20. */
        @WithDefault("4")
        int maxAttempts();

        /** The pause after the first failure; it doubles with each further one. */
        @WithDefault("1s")
        Duration delay();
    }

    /** Tools and MCP servers that fail again and again. */
    Circuit circuit();

    /** Tools and MCP servers that fail again and again. */
    interface Circuit {

        /** After so many failures in a row one is left alone. At least 1. */
        @WithDefault("5")
        int maxFailures();

        /** For how long; then one call is let through to see. */
        @WithDefault("30s")
        Duration rest();
    }

    /** Secrets that tools may use, by name; see docs/tools.md. */
    Map<String, Secret> secrets();

    /** One secret. */
    interface Secret {

        /** Its value; from the environment only. */
        Optional<String> value();

        /** A file that holds it, instead; blanks and line ends around it do not count. */
        Optional<Path> file();

        /**
         * Where it may be sent, by HTTPS: hosts, {@code *} stands for any text; with {@code http://} before it also
         * unencrypted.
         */
        List<String> hosts();

        /** What tools call it, where several namespaces have one of the same name. Absent = as this entry is called. */
        Optional<String> name();

        /** Whose calls may use it. Absent = all. */
        Optional<Set<String>> namespaces();
    }

    /** Telling owners of tasks at their callback URLs. */
    Webhook webhook();

    /** Telling owners of tasks at their callback URLs. */
    interface Webhook {

        /** Receivers that check signatures, by name; what is sent elsewhere is not signed. */
        Map<String, Receiver> receivers();

        /** Of secrets for every receiver, which are refused: each could pass on to the others what it was sent. */
        Optional<List<String>> secrets();

        /** The same. */
        Optional<Path> secretsFile();

        /** A receiver that checks signatures. */
        interface Receiver {

            /**
             * What its URLs begin with, such as {@code https://example.org/hooks}; of several receivers' the longest
             * counts.
             */
            List<URI> urls();

            /**
             * What is signed with for it alone ({@code whsec_} and base64, or any text); several while one is changed.
             */
            Optional<List<String>> secrets();

            /** A file of such secrets, one a line, read for each delivery. */
            Optional<Path> secretsFile();
        }

        /** How long one is tried; then it becomes a dead letter. */
        @WithDefault("5m")
        Duration budget();

        /** For one attempt, from the connection to the end of the answer. */
        @WithDefault("15s")
        Duration attemptTimeout();

        /** The pause after the first failure; it doubles with each further one. */
        @WithDefault("1s")
        Duration retryDelay();

        /** The longest such pause; the receiver's Retry-After may exceed it. */
        @WithDefault("1m")
        Duration maxRetryDelay();

        /** Deliveries at the same time in this instance, those that wait for their next attempt included. */
        @WithDefault("32")
        int maxConcurrent();
    }

    /** Tools on the network. */
    Http http();

    /** Tools on the network. */
    interface Http {

        /**
         * Hosts that may be reached although they are private or local; {@code *} stands for any text. Absent = none.
         */
        Optional<List<String>> allow();

        /** For a connection. */
        @WithDefault("5s")
        Duration connectTimeout();

        /** Between two pieces of a response. */
        @WithDefault("15s")
        Duration responseTimeout();

        /** The largest body that is read; what is beyond is left out, with a note. */
        @WithDefault("200000")
        MemorySize maxBodySize();

        /** The same for a client. */
        default GuardedHttp.Limits limits() {
            return limits(
                    allow().orElse(List.of()), Math.toIntExact(maxBodySize().asLongValue()));
        }

        /** The same for a client that may reach these hosts and read so many bytes. */
        default GuardedHttp.Limits limits(List<String> hosts, int maxBodyBytes) {
            return new GuardedHttp.Limits(
                    hosts,
                    Math.toIntExact(connectTimeout().toMillis()),
                    Math.toIntExact(responseTimeout().toMillis()),
                    maxBodyBytes);
        }
    }
}
