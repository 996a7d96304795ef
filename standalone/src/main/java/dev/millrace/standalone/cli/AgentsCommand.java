package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.AgentView;
import dev.millrace.client.Route;
import dev.millrace.schemas.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code millrace agents}: who takes tasks; with a name, one of them in full. */
@Command(
        name = "agents",
        footerHeading = "%nExamples:%n",
        footer = {"  agents", "  agents careful --json"},
        description =
                "Lists the agents of a running Millrace, and their files that are no good; with a NAME, shows one.")
public final class AgentsCommand extends ClientCommand {

    private static final Set<String> APART = Set.of("name", "prompt");

    @Parameters(paramLabel = "NAME", arity = "0..1", description = "One agent, with its prompt.")
    private @Nullable String name;

    @Override
    int run(GatewayClient client) {
        if (name == null) {
            list(client.get("/v1/agents"));
            return ExitCodes.DONE;
        }
        JsonNode agent = client.get("/v1/agents/" + Route.encoded(name));
        if (output().json()) {
            output().print(agent);
        } else {
            show(agent);
        }
        return ExitCodes.DONE;
    }

    private void list(JsonNode answer) {
        output().print(answer.path("agents"), AgentView.class, "No agents.", AgentsCommand::table);
        GatewayClient.all(answer.path("problems"), AgentView.Problem.class)
                .forEach(problem -> err("No good: " + problem.file() + ": " + problem.problem()));
    }

    private static List<String> table(List<AgentView> agents) {
        Table table = new Table("AGENT", "SOURCE", "VERSION", "TOOLS", "DESCRIPTION");
        for (AgentView agent : agents) {
            table.add(
                    agent.name(),
                    agent.source(),
                    agent.version(),
                    Integer.toString(agent.tools().size()),
                    Progress.cut(agent.description()));
        }
        return table.lines();
    }

    /** Every field that says something, also those that this command does not know. */
    private void show(JsonNode agent) {
        Table table = new Table("AGENT", agent.path("name").asText());
        agent.properties().forEach(field -> {
            JsonNode value = field.getValue();
            boolean said = !value.isNull() && !(value.isContainerNode() && value.isEmpty());
            if (said && !APART.contains(field.getKey())) {
                table.add(field.getKey(), words(value));
            }
        });
        table.lines().forEach(this::out);
        out("");
        out(agent.path("prompt").asText());
    }

    private static String words(JsonNode value) {
        if (value.isTextual()) {
            return value.asText();
        }
        if (!value.isArray() || !value.path(0).isTextual()) {
            return Json.writeText(value);
        }
        List<String> words = new ArrayList<>();
        value.forEach(word -> words.add(word.asText()));
        return String.join(", ", words);
    }
}
