package dev.millrace.standalone.cli;

import picocli.CommandLine.Command;

/** {@code millrace sessions show <session>}: one conversation, as the HTTP API gives it. */
@Command(name = "show", description = "Shows a conversation, as JSON.")
final class SessionShowCommand extends SessionCommand {

    @Override
    int run(GatewayClient client, String id) {
        output().print(client.get(query("").toString()));
        return ExitCodes.DONE;
    }
}
