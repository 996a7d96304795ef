package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.ToolView;
import dev.millrace.client.Route;
import dev.millrace.schemas.Json;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace tools}: what tasks can do. */
@Command(
        name = "tools",
        footerHeading = "%nExamples:%n",
        footer = {"  tools", "  tools --agent careful --json"},
        description = "Lists the tools of a running Millrace.")
public final class ToolsCommand extends ClientCommand {

    @Option(
            names = "--agent",
            paramLabel = "NAME",
            description = "Only those that this agent may use, with its own rules for approval.")
    private @Nullable String agent;

    @Override
    int run(GatewayClient client) {
        JsonNode answer = client.get(new Route("/v1/tools").with("agent", agent).toString());
        output().print(answer.path("tools"), ToolView.class, "No tools.", ToolsCommand::table);
        return ExitCodes.DONE;
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
