package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.ToolView;
import dev.millrace.schemas.Json;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace tools}: what tasks can do. */
@Command(name = "tools", description = "Lists the tools of a running Millrace.")
public final class ToolsCommand implements Callable<Integer> {

    @Option(
            names = "--agent",
            paramLabel = "NAME",
            description = "Only those that this agent may use, with its own rules for approval.")
    private @Nullable String agent;

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    private final Terminal terminal;

    /** For picocli. */
    public ToolsCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (GatewayClient client = gateway.client()) {
            JsonNode tools = client.get("/v1/tools" + (agent == null ? "" : "?agent=" + GatewayClient.encoded(agent)))
                    .path("tools");
            output.print(terminal, tools, "No tools.", () -> table(GatewayClient.all(tools, ToolView.class)));
            return ExitCodes.DONE;
        }
    }

    private static List<String> table(List<ToolView> tools) {
        Table table = new Table("TOOL", "TOOLSET", "EFFECT", "TIME-OUT", "APPROVAL", "DESCRIPTION");
        for (ToolView tool : tools) {
            table.add(
                    tool.name(),
                    tool.toolset(),
                    tool.sideEffects().toLowerCase(Locale.ROOT),
                    tool.timeoutMs() / 1000.0 + " s",
                    tool.approval() instanceof String word ? word : Json.writeText(tool.approval()),
                    Progress.cut(tool.description()));
        }
        return table.lines();
    }
}
