package dev.millrace.standalone.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code millrace sessions}: conversations. Does nothing itself; its subcommands do. */
@Command(
        name = "sessions",
        footerHeading = "%nExamples:%n",
        footer = {"  sessions list", "  sessions messages notes", "  sessions delete notes --yes"},
        synopsisSubcommandLabel = "COMMAND",
        description = "Lists conversations, shows what was said in them, and deletes them.",
        subcommands = {
            SessionListCommand.class,
            SessionShowCommand.class,
            SessionMessagesCommand.class,
            SessionDeleteCommand.class
        })
public final class SessionsCommand implements Runnable {

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
