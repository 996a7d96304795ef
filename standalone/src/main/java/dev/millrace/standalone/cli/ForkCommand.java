package dev.millrace.standalone.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.api.Fork;
import dev.millrace.api.Task;
import dev.millrace.schemas.Json;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace fork <task>}: goes on from an event of a task in another way. */
@Command(
        name = "fork",
        description = {
            "Goes on from an event of a task in another way, as a task of its own. Its model is shown what the origin's"
                    + " was shown up to there, with what is changed; from there on its calls are really made.",
            "The id of the new task is printed."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  fork TASK --text 'What does notes.txt say, in one sentence?'",
            "  fork TASK --from EVENT --result '{\"lines\": 4}'"
        })
public final class ForkCommand extends TaskCommand {

    @Option(
            names = "--from",
            paramLabel = "EVENT",
            description = "The id of an event of the task; `./millrace events TASK --verbose` shows them. Absent = the"
                    + " beginning.")
    private @Nullable String from;

    @Option(names = "--text", paramLabel = "TEXT", description = "In place of what was said last to the task by then.")
    private @Nullable String text;

    @Option(names = "--agent", paramLabel = "NAME", description = "The agent that goes on. Absent = the same.")
    private @Nullable String agent;

    @Option(names = "--model", paramLabel = "NAME", description = "The model that goes on. Absent = the same.")
    private @Nullable String model;

    @Option(
            names = "--result",
            paramLabel = "JSON",
            description = "In place of the result that the event of --from has brought.")
    private @Nullable String result;

    @Option(
            names = "--error",
            paramLabel = "TEXT",
            description = "In place of that result: that the call failed, and why.")
    private @Nullable String error;

    @Option(names = "--id", paramLabel = "ID", description = "Of the new task. Absent = one is drawn.")
    private @Nullable String id;

    @Override
    int run(GatewayClient client, String taskId) {
        Task.Accepted accepted = client.post(
                path(taskId, "fork"), new Fork(from, text, agent, model, json(), error, id), Task.Accepted.class);
        done(accepted, accepted.taskId());
        err("`" + client.hint("events", accepted.taskId()) + "` shows what becomes of it.");
        return ExitCodes.DONE;
    }

    private @Nullable Object json() {
        try {
            return result == null ? null : Json.MAPPER.readTree(result);
        } catch (JsonProcessingException e) {
            throw new CommandException(
                    ExitCodes.USAGE,
                    "--result: expected JSON, such as '{\"lines\": 4}' or '\"a text\"', found " + result);
        }
    }
}
