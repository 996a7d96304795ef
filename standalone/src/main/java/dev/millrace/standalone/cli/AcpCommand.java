package dev.millrace.standalone.cli;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code millrace acp}: agents in an editor that speaks the Agent Client Protocol. */
@Command(
        name = "acp",
        footerHeading = "%nExamples:%n",
        footer = {"  acp", "  acp --agent careful --url https://millrace.example.org"},
        description = {
            "Speaks the Agent Client Protocol on standard input and output, for Zed and other editors, which start it"
                    + " themselves. A conversation of the editor is a session, a prompt is a task; tool calls that need"
                    + " an approval are decided on in the editor. Ends when its input does; tasks go on without it."
        })
public final class AcpCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    @Option(
            names = "--agent",
            paramLabel = "NAME",
            description = "The agent that gets the prompts, until another one is chosen in the editor (default:"
                    + " general).")
    private @Nullable String agent;

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            defaultValue = MemoryClient.DEFAULT_NAMESPACE,
            description = "The tenant (default: ${DEFAULT-VALUE}).")
    private String namespace = MemoryClient.DEFAULT_NAMESPACE;

    @Option(
            names = "--as",
            paramLabel = "NAME",
            description = "What you are called: agents are shown it, and decisions on tool calls bear it (default: your"
                    + " login name, on decisions alone).")
    private @Nullable String sender;

    @Override
    public Integer call() throws InterruptedException {
        Terminal terminal = ((TopCommand) spec.root().userObject()).terminal();
        new AcpAgent(
                        gateway.client(namespace),
                        new AcpAgent.Options(agent, sender, version()),
                        terminal.out(),
                        terminal.err())
                .serve(new FileInputStream(FileDescriptor.in));
        return ExitCodes.DONE;
    }

    /** The second word of {@code --version}. */
    private String version() {
        String[] lines = spec.root().version();
        String[] words = lines.length == 0 ? new String[0] : lines[0].split(" ", -1);
        return words.length < 2 ? "?" : words[1];
    }
}
