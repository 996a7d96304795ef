package dev.millrace.tools.config;

import dev.millrace.tools.mcp.McpConfiguration;
import dev.millrace.tools.mcp.McpTools;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.interceptor.Interceptor;
import java.nio.file.Files;
import java.nio.file.Path;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Starts the MCP servers with the service, and ends them with it. */
public class McpWiring {

    static final Path DEFAULT_FILE = Path.of("mcp.json");

    @Produces
    @Singleton
    McpTools mcp(
            ToolsConfig config,
            @ConfigProperty(name = "quarkus.application.version", defaultValue = "unknown") String version) {
        Path file = config.mcp().config().orElse(DEFAULT_FILE);
        boolean wanted = config.mcp().config().isPresent() || Files.exists(file);
        return new McpTools(
                wanted ? McpConfiguration.read(file, System::getenv) : McpConfiguration.NONE,
                config.mcp().callTimeout(),
                config.mcp().startTimeout(),
                version);
    }

    void closeMcp(@Disposes McpTools mcp) {
        mcp.close();
    }

    // ahead of the tools, which come when they come
    void start(@Observes @Priority(Interceptor.Priority.APPLICATION + 190) StartupEvent event, McpTools mcp) {
        mcp.start();
    }

    // after the tools, whose calls may still run
    void stop(@Observes @Priority(Interceptor.Priority.LIBRARY_AFTER) ShutdownEvent event, McpTools mcp) {
        mcp.close();
    }
}
