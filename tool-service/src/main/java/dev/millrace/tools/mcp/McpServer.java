package dev.millrace.tools.mcp;

import dev.millrace.schemas.ToolDefinition.Approval;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One MCP server as the configuration describes it, with all variables filled in. */
public sealed interface McpServer {

    /** What its tools are prefixed with. */
    String name();

    /** What holds for all of its tools. */
    Terms terms();

    /**
     * What holds for all tools of a server.
     *
     * @param timeout how long one call may take; {@code null} = as for all servers
     * @param approval whether a person has to agree before a call runs
     */
    record Terms(@Nullable Duration timeout, Approval approval) {

        /** Nothing particular. */
        public static final Terms NONE = new Terms(null, new Approval.Never());
    }

    /**
     * A server that is a process of its own and talks over its standard input and output.
     *
     * @param name what its tools are prefixed with
     * @param command the program, and its arguments
     * @param environment what it gets beside the few variables that every program needs
     * @param folder where it runs; {@code null} = where this process runs
     * @param terms what holds for all of its tools
     */
    record Stdio(
            String name,
            List<String> command,
            Map<String, String> environment,
            @Nullable Path folder,
            Terms terms) implements McpServer {

        public Stdio(
                String name,
                List<String> command,
                Map<String, String> environment,
                @Nullable Path folder,
                Terms terms) {
            this.name = name;
            this.command = List.copyOf(command);
            this.environment = Map.copyOf(environment);
            this.folder = folder;
            this.terms = terms;
        }

        // the environment holds secrets
        @Override
        public String toString() {
            return "Stdio[name=" + name + ", command=" + command.getFirst() + "]";
        }
    }

    /**
     * A server that somebody else runs, reached over streamable HTTP.
     *
     * @param name what its tools are prefixed with
     * @param url its one endpoint
     * @param headers what is sent with every request
     * @param terms what holds for all of its tools
     */
    record Http(String name, URI url, Map<String, String> headers, Terms terms) implements McpServer {

        public Http {
            headers = Map.copyOf(headers);
        }

        // the headers hold secrets, and the URL may
        @Override
        public String toString() {
            return "Http[name=" + name + ", host=" + url.getHost() + "]";
        }
    }
}
