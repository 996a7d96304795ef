package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.millrace.api.Replay;
import dev.millrace.client.Route;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace replay <task>}: what the state machine makes of a task's log today. */
@Command(
        name = "replay",
        description =
                "Plays a task again from its log: what the state machine decides today on what happened then, step by"
                        + " step, and whether that is what the log says. No model and no tool is called.",
        footerHeading = "%nExamples:%n",
        footer = {"  replay TASK", "  replay TASK --step 3"})
public final class ReplayCommand extends TaskCommand {

    private static final int ALL = 0;

    @Option(names = "--step", paramLabel = "N", description = "Only this step, with what was said in it.")
    private int step = ALL;

    @Override
    int run(GatewayClient client, String taskId) {
        ArrayNode steps = client.pages(new Route(path(taskId, "replay")).with("limit", 1_000), "after", "steps");
        if (step != ALL) {
            JsonNode one = steps.path(step - 1);
            if (one.isMissingNode()) {
                throw new CommandException(
                        ExitCodes.FAILED, "--step: expected 1 to " + steps.size() + ", found " + step + ".");
            }
            steps.removeAll();
            steps.add(one);
        }
        output().print(steps, "No steps.", () -> lines(GatewayClient.all(steps, Replay.Step.class)));
        boolean equal = GatewayClient.all(steps, Replay.Step.class).stream().allMatch(Replay.Step::equal);
        err(
                equal
                        ? "The machine decides today what the log says."
                        : "The machine decides today what the log does not say.");
        return equal ? ExitCodes.DONE : ExitCodes.FAILED;
    }

    private List<String> lines(List<Replay.Step> steps) {
        List<String> lines = new ArrayList<>();
        for (Replay.Step one : steps) {
            lines.add(one.number() + "  " + what(one.cause()) + "  " + one.fromState() + " → " + one.toState()
                    + (one.equal() ? "" : "  ✕"));
            for (Replay.Decision decision : one.decided()) {
                boolean same = decision.outcome().equals("same");
                lines.add("     " + decision.eventType() + (same ? "" : "  " + decision.outcome()));
                if (decision.differences() != null) {
                    decision.differences()
                            .forEach((field, difference) -> lines.add("       " + field + ": recorded "
                                    + difference.recorded() + ", decided " + difference.decided()));
                }
            }
            if (step != ALL) {
                one.said().forEach(said -> lines.add("     " + said.role() + ": " + said.text()));
            }
        }
        return lines;
    }

    private static String what(Replay.Cause cause) {
        return switch (cause.kind()) {
            case "admission" -> "its turn has come";
            case "time" -> "time has passed";
            default -> String.valueOf(cause.eventType()) + ("noted".equals(cause.kind()) ? " (changes nothing)" : "");
        };
    }
}
