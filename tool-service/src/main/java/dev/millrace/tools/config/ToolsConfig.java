package dev.millrace.tools.config;

import io.quarkus.runtime.configuration.MemorySize;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What an operator may set for the tool service. Every value has a default that works in {@code standalone}. */
@ConfigMapping(prefix = "millrace.tools")
public interface ToolsConfig {

    /** The one folder that file tools may see. Made if it does not exist. */
    @WithDefault("workspace")
    Path workspace();

    /** Tool calls that may run at the same time in this instance. At least 1 (F-104). */
    @WithDefault("3")
    int maxConcurrent();

    /** How long running calls may go on when the service stops; what is left then goes back to the topic. */
    @WithDefault("10s")
    Duration shutdownGrace();

    /** How long a call of a worker that has gone silent stays with it before another one takes it over. */
    @WithDefault("5m")
    Duration staleAfter();

    /**
     * The largest result that is passed on, as JSON; of a larger one the beginning is passed on, and the whole is kept for
     * the tool {@code read_result}. 1000 to 900000 bytes.
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

        /** The file that names the servers, see docs/tools.md. Absent = {@code mcp.json} in the working folder, if it is there. */
        Optional<Path> config();

        /** How long one call may take, where the file says nothing else for its server. */
        @WithDefault("60s")
        Duration callTimeout();

        /** How long a server may take to start and to introduce itself; one that is downloaded first takes longer. */
        @WithDefault("60s")
        Duration startTimeout();
    }

    /** Tools on the network. */
    Http http();

    /** Tools on the network. */
    interface Http {

        /** Hosts that may be reached although they are private or local; {@code *} stands for any text. Absent = none. */
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
    }
}
