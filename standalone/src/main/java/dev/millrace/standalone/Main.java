package dev.millrace.standalone;

import dev.millrace.standalone.cli.AcpCommand;
import dev.millrace.standalone.cli.AgentsCommand;
import dev.millrace.standalone.cli.ApprovalsCommand;
import dev.millrace.standalone.cli.ApproveCommand;
import dev.millrace.standalone.cli.AskCommand;
import dev.millrace.standalone.cli.BulkCommand;
import dev.millrace.standalone.cli.CancelCommand;
import dev.millrace.standalone.cli.Colours;
import dev.millrace.standalone.cli.CommandException;
import dev.millrace.standalone.cli.CompletionCommand;
import dev.millrace.standalone.cli.DeadLettersCommand;
import dev.millrace.standalone.cli.DiscardCommand;
import dev.millrace.standalone.cli.DrainCommand;
import dev.millrace.standalone.cli.EmitCommand;
import dev.millrace.standalone.cli.EnqueueCommand;
import dev.millrace.standalone.cli.EventsCommand;
import dev.millrace.standalone.cli.ExitCodes;
import dev.millrace.standalone.cli.ForgetCommand;
import dev.millrace.standalone.cli.ForkCommand;
import dev.millrace.standalone.cli.Hint;
import dev.millrace.standalone.cli.KnowledgeCommand;
import dev.millrace.standalone.cli.MemoryCommand;
import dev.millrace.standalone.cli.NotificationsCommand;
import dev.millrace.standalone.cli.QueueCommand;
import dev.millrace.standalone.cli.RedriveCommand;
import dev.millrace.standalone.cli.RejectCommand;
import dev.millrace.standalone.cli.ReplayCommand;
import dev.millrace.standalone.cli.ResumeCommand;
import dev.millrace.standalone.cli.RetryCommand;
import dev.millrace.standalone.cli.RulesCommand;
import dev.millrace.standalone.cli.SchedulesCommand;
import dev.millrace.standalone.cli.SessionsCommand;
import dev.millrace.standalone.cli.SuspendCommand;
import dev.millrace.standalone.cli.TasksCommand;
import dev.millrace.standalone.cli.Terminal;
import dev.millrace.standalone.cli.ToolsCommand;
import dev.millrace.standalone.cli.TopCommand;
import dev.millrace.standalone.cli.UndrainCommand;
import dev.millrace.standalone.cli.UsageCommand;
import dev.millrace.standalone.cli.WatchCommand;
import io.quarkus.runtime.annotations.QuarkusMain;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;

/** The entrance: reads the command line before anything of Quarkus is started. */
@QuarkusMain
public final class Main {

    private Main() {}

    public static void main(String[] args) {
        System.exit(run(Terminal.ofProcess(), args));
    }

    /** Runs one command and returns what to tell the shell. */
    static int run(Terminal terminal, String... args) {
        return commandLine(terminal, wanted(commands(terminal), args)).execute(args);
    }

    /** With all commands that there are. */
    static CommandLine commandLine(Terminal terminal) {
        return commandLine(terminal, commands(terminal));
    }

    private static List<Object> commands(Terminal terminal) {
        return List.of(
                new UpCommand(terminal),
                AskCommand.class,
                AcpCommand.class,
                TasksCommand.class,
                EventsCommand.class,
                ReplayCommand.class,
                ForkCommand.class,
                SessionsCommand.class,
                ApprovalsCommand.class,
                ApproveCommand.class,
                RejectCommand.class,
                SuspendCommand.class,
                ResumeCommand.class,
                CancelCommand.class,
                BulkCommand.class,
                NotificationsCommand.class,
                DeadLettersCommand.class,
                RedriveCommand.class,
                DiscardCommand.class,
                QueueCommand.class,
                EnqueueCommand.class,
                RetryCommand.class,
                DrainCommand.class,
                UndrainCommand.class,
                AgentsCommand.class,
                ToolsCommand.class,
                UsageCommand.class,
                ForgetCommand.class,
                MemoryCommand.class,
                KnowledgeCommand.class,
                SchedulesCommand.class,
                RulesCommand.class,
                EmitCommand.class,
                WatchCommand.class,
                KeysCommand.class,
                ExportCommand.class,
                ImportCommand.class,
                new CompletionCommand(() -> commandLine(terminal)),
                new BrokerCommand(terminal),
                new TrainCommand(terminal),
                new HelpCommand());
    }

    /** The one that the first argument names, or else all: to read the annotations of all takes a fifth of a second. */
    private static List<Object> wanted(List<Object> commands, String... args) {
        List<Object> named = commands.stream()
                .filter(command -> args.length > 0 && args[0].equals(name(command)))
                .filter(command -> !(command instanceof HelpCommand)) // which is about the others
                .toList();
        return named.isEmpty() ? commands : named;
    }

    private static String name(Object command) {
        Class<?> type = command instanceof Class<?> itself ? itself : command.getClass();
        return type.getAnnotation(Command.class).name();
    }

    private static CommandLine commandLine(Terminal terminal, List<Object> commands) {
        CommandLine line = new CommandLine(new Top(terminal));
        commands.forEach(line::addSubcommand);
        return line.setCommandName(Hint.local())
                .setColorScheme(CommandLine.Help.defaultColorScheme(
                        Colours.of(terminal).on() ? CommandLine.Help.Ansi.ON : CommandLine.Help.Ansi.OFF))
                // of emit, @FILE is what the event brings
                .setExpandAtFiles(false)
                .setOut(new PrintWriter(terminal.out(), true, StandardCharsets.UTF_8))
                .setErr(new PrintWriter(terminal.err(), true, StandardCharsets.UTF_8))
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    if (failure instanceof CommandException expected) {
                        terminal.err().println("millrace: " + expected.getMessage());
                        return expected.exitCode();
                    }
                    // whoever reports this needs the whole story
                    failure.printStackTrace(terminal.err());
                    return ExitCodes.FAILED;
                });
    }

    /** What stands before the name of a command. */
    @Command(
            name = "millrace",
            scope = CommandLine.ScopeType.INHERIT,
            mixinStandardHelpOptions = true,
            synopsisSubcommandLabel = "COMMAND",
            versionProvider = Version.class,
            description = "Millrace: an event-driven runtime for AI agents on Apache Kafka.",
            exitCodeListHeading = "%nExit codes:%n",
            exitCodeList = {
                "0:done; of ask: the task completed",
                "1:not done; of ask: the task failed, was cancelled or was refused",
                "2:the command line makes no sense",
                "3:nobody answers at the URL",
                "4:it did not end in time, and goes on",
                "5:of ask: the task waits for an answer, or to be resumed; standard error has the command",
                "6:of ask: the task waits for a decision on a tool call; standard error has the commands",
            })
    static final class Top implements Runnable, TopCommand {

        private final Terminal terminal;

        @CommandLine.Spec
        private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

        Top(Terminal terminal) {
            this.terminal = terminal;
        }

        @Override
        public Terminal terminal() {
            return terminal;
        }

        @Override
        public void run() {
            spec.commandLine().usage(spec.commandLine().getOut());
        }
    }
}
