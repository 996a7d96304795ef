package dev.millrace.standalone.cli;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;

/** {@code millrace completion}: what a shell needs to complete commands and options. */
@Command(
        name = "completion",
        description = "Prints what bash or zsh needs to complete commands and options.",
        footerHeading = "%nExamples:%n",
        footer = {"  source <(./millrace completion bash)", "  ./millrace completion zsh >> ~/.zshrc"})
public final class CompletionCommand implements Callable<Integer> {

    private static final List<String> SHELLS = List.of("bash", "zsh");
    /** What the launcher script does itself. */
    private static final List<String> SCRIPTS_OWN = List.of("bench", "build", "images", "package", "test");

    private static final String NAME = "millrace";

    private final Supplier<CommandLine> commands;

    @Parameters(paramLabel = "SHELL", description = "bash or zsh.")
    private String shell = "";

    /** Completes these. */
    public CompletionCommand(Supplier<CommandLine> commands) {
        this.commands = commands;
    }

    @Override
    public Integer call() {
        if (!SHELLS.contains(shell)) {
            throw new CommandException(ExitCodes.USAGE, "completion: expected bash or zsh, found " + shell);
        }
        CommandLine all = commands.get();
        SCRIPTS_OWN.forEach(name -> all.addSubcommand(name, CommandSpec.create()));
        // the script for bash completes in zsh as well, by zsh's own means for that
        ((TopCommand) all.getCommand()).terminal().out().print(AutoComplete.bash(NAME, all));
        return ExitCodes.DONE;
    }
}
