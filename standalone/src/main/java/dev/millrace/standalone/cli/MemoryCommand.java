package dev.millrace.standalone.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code millrace memory}: what agents remember, for people. Does nothing itself; its subcommands do. */
@Command(
        name = "memory",
        synopsisSubcommandLabel = "COMMAND",
        description = "Shows what agents remember, sets it right, and takes it out and in as files.")
public final class MemoryCommand implements Runnable {

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    private MemoryCommand() {}

    /** The command with everything beneath it. */
    public static CommandLine of(Terminal terminal) {
        return new CommandLine(new MemoryCommand())
                .addSubcommand(new MemoryListCommand(terminal))
                .addSubcommand(new MemoryShowCommand(terminal))
                .addSubcommand(new MemoryEditCommand(terminal))
                .addSubcommand(new MemoryHistoryCommand(terminal))
                .addSubcommand(new MemoryUndoCommand(terminal))
                .addSubcommand(new MemoryRemoveCommand(terminal))
                .addSubcommand(new MemoryExportCommand(terminal))
                .addSubcommand(new MemoryImportCommand(terminal));
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
