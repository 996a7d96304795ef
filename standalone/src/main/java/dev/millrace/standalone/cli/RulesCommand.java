package dev.millrace.standalone.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.millrace.api.RuleView;
import dev.millrace.client.Route;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code millrace rules}: what follows from events. Does nothing itself; its subcommands do. */
@Command(
        name = "rules",
        footerHeading = "%nExamples:%n",
        footer = {"  rules list", "  rules put rules/orders.yaml", "  rules delete orders"},
        synopsisSubcommandLabel = "COMMAND",
        description = "Shows, defines and removes rules: what follows from events of the outside world.",
        subcommands = {
            RulesCommand.ListAll.class,
            RulesCommand.Show.class,
            RulesCommand.Put.class,
            RulesCommand.Delete.class
        })
public final class RulesCommand implements Runnable {

    private static final String ROUTE = "/v1/rules";
    private static final String FIELD = "rules";

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    private static String route(String id) {
        return ROUTE + '/' + Route.encoded(id);
    }

    /** {@code millrace rules list}. */
    @Command(name = "list", description = "Lists the rules that are in force, the highest priority first.")
    static final class ListAll extends ClientCommand {

        @Override
        int run(GatewayClient client) {
            output().print(client.get(ROUTE).path(FIELD), RuleView.class, "No rules.", ListAll::table);
            return ExitCodes.DONE;
        }

        private static List<String> table(List<RuleView> rules) {
            Table table = new Table("RULE", "ON", "PRIORITY", "DOES", "SOURCE", "VERSION");
            for (RuleView rule : rules) {
                table.add(
                        rule.id(),
                        Progress.cut(String.join(", ", rule.on())),
                        Integer.toString(rule.priority()),
                        rule.enabled() ? rule.handler() : "nothing (disabled)",
                        rule.source(),
                        rule.version());
            }
            return table.lines();
        }
    }

    /** {@code millrace rules show}. */
    @Command(name = "show", description = "Shows one rule as it is written.")
    static final class Show extends ClientCommand {

        @Parameters(paramLabel = "ID", description = "The rule.")
        private String id = "";

        @Override
        int run(GatewayClient client) {
            JsonNode rule = client.get(route(id));
            if (output().json()) {
                output().print(rule);
                return ExitCodes.DONE;
            }
            Table table = new Table("RULE", rule.path("id").asText());
            table.add("source", rule.path("source").asText());
            table.add("version", rule.path("version").asText());
            rule.path("rule").properties().forEach(field -> {
                JsonNode value = field.getValue();
                table.add(field.getKey(), value.isTextual() ? value.asText() : Json.writeText(value));
            });
            table.lines().forEach(this::out);
            return ExitCodes.DONE;
        }
    }

    /** {@code millrace rules put}. */
    @Command(
            name = "put",
            description = {
                "Defines the rules of a file on every instance, or defines them anew. A definition stands above a rule"
                        + " of the same id that is one of a folder or built in.",
                "The file is like those of the folder of rules: YAML or JSON, with the rules by id under `rules`."
            })
    static final class Put extends ClientCommand {

        @Parameters(paramLabel = "FILE", description = "The file, such as rules/orders.yaml.")
        private Path file = Path.of("");

        @Override
        int run(GatewayClient client) {
            JsonNode rules = read(file).path(FIELD);
            if (!rules.isObject() || rules.isEmpty()) {
                throw new CommandException(ExitCodes.FAILED, file + ": expected rules by id under rules, found none");
            }
            rules.properties().forEach(rule -> {
                RuleView view =
                        Json.MAPPER.convertValue(client.putJson(route(rule.getKey()), rule.getValue()), RuleView.class);
                done(view, "Rule " + view.id() + " is defined, version " + view.version() + '.');
            });
            return ExitCodes.DONE;
        }

        private static JsonNode read(Path file) {
            try {
                return new ObjectMapper(new YAMLFactory()).readTree(Files.readString(file));
            } catch (JsonProcessingException e) {
                throw new CommandException(ExitCodes.FAILED, file + ": not YAML: " + e.getOriginalMessage());
            } catch (IOException e) {
                throw CommandException.unreadable(file, e);
            }
        }
    }

    /** {@code millrace rules delete}. */
    @Command(name = "delete", description = "Takes back the definition of a rule; what it covered is in force again.")
    static final class Delete extends ClientCommand {

        @Parameters(paramLabel = "ID", description = "The rule.")
        private String id = "";

        @Override
        int run(GatewayClient client) {
            JsonNode unused = client.delete(route(id), Map.of());
            done(Map.of("id", id, "deleted", true), "The definition of rule " + id + " is gone.");
            return ExitCodes.DONE;
        }
    }
}
