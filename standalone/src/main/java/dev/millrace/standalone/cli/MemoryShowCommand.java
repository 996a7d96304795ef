package dev.millrace.standalone.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace memory show <path>}: a document as it is, or was. */
@Command(name = "show", description = "Prints a document of memory.")
public final class MemoryShowCommand implements Callable<Integer> {

    @Parameters(
            paramLabel = "PATH",
            arity = "1",
            description = "Such as facts/user.md; `./millrace memory list` has them.")
    private String path = "";

    @Option(
            names = "--at",
            paramLabel = "N",
            description = "As it was in this version; `./millrace memory history` has them.")
    private @Nullable Long version;

    @Mixin
    private MemoryOptions options = new MemoryOptions();

    private final Terminal terminal;

    /** For picocli. */
    public MemoryShowCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (GatewayClient client = options.client()) {
            MemoryClient memory = new MemoryClient(client);
            String content = version == null
                    ? memory.read(options.namespace(), path)
                            .orElseThrow(() -> missing(options, path))
                            .text()
                    : memory.read(options.namespace(), path, version);
            terminal.out().print(content);
            if (!content.endsWith("\n")) {
                terminal.out().println();
            }
            return ExitCodes.DONE;
        }
    }

    static CommandException missing(MemoryOptions options, String path) {
        return new CommandException(
                ExitCodes.FAILED,
                "There is no document " + path + " in the memory of " + options.namespace() + ". `"
                        + options.hint("list") + "` has those that there are.");
    }
}
