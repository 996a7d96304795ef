package dev.millrace.standalone.cli;

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
        String forgetId =
                client.delete(query("").toString(), Map.of()).path("forgetId").asText();
        terminal().out().println("Session " + id + " is being deleted, as request " + forgetId + ".");
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
