package dev.millrace.standalone.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code millrace memory}: what agents remember, for people. Does nothing itself; its subcommands do. */
@Command(
        name = "memory",
        footerHeading = "%nExamples:%n",
        footer = {"  memory list", "  memory edit facts/ada.md", "  memory undo facts/ada.md"},
        synopsisSubcommandLabel = "COMMAND",
        description = "Shows what agents remember, sets it right, and takes it out and in as files.",
        subcommands = {
            MemoryListCommand.class,
            MemoryShowCommand.class,
            MemoryEditCommand.class,
            MemoryHistoryCommand.class,
            MemoryUndoCommand.class,
            MemoryRemoveCommand.class,
            MemoryExportCommand.class,
            MemoryImportCommand.class
        })
public final class MemoryCommand implements Runnable {

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
