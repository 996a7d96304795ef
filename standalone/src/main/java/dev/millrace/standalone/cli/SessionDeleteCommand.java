package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace sessions delete <session>}: forgets a conversation. */
@Command(
        name = "delete",
        description = "Deletes a conversation for good: cancels what runs and removes everything of it.")
final class SessionDeleteCommand extends SessionCommand {

    @Option(names = "--yes", description = "Do not ask.")
    private boolean yes;

    @Override
    int run(GatewayClient client, String id) {
        if (!yes && !isConfirmed(id)) {
            throw new CommandException(ExitCodes.FAILED, "Nothing was deleted.");
        }
        JsonNode answer = client.delete(query("").toString(), Map.of());
        done(
                answer,
                "Session " + id + " is being deleted, as request "
                        + answer.path("forgetId").asText() + ".");
        return ExitCodes.DONE;
    }

    /** Without a person nobody can say yes, so that it has to be said on the command line. */
    private boolean isConfirmed(String id) {
        if (terminal().person() == null) {
            throw new CommandException(
                    ExitCodes.USAGE, "Deleting cannot be undone, and there is nobody to ask: say --yes.");
        }
        Optional<String> said = terminal().ask("Delete the session " + id + "? This cannot be undone. Type its name: ");
        return said.filter(id::equals).isPresent();
    }
}
