package dev.millrace.standalone.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code millrace memory remove <path>}: takes a document away. */
@Command(
        name = "remove",
        description = "Takes a document away. Its versions are kept; `./millrace memory undo` brings it back.")
public final class MemoryRemoveCommand implements Callable<Integer> {

    @Parameters(paramLabel = "PATH", arity = "1", description = "Such as facts/user.md.")
    private String path = "";

    @Mixin
    private AuthorOption author = new AuthorOption();

    @Mixin
    private MemoryOptions options = new MemoryOptions();

    private final Terminal terminal;

    /** For picocli. */
    public MemoryRemoveCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (GatewayClient client = options.client()) {
            MemoryClient memory = new MemoryClient(client);
            GatewayClient.Text now =
                    memory.read(options.namespace(), path).orElseThrow(() -> MemoryShowCommand.missing(options, path));
            memory.remove(options.namespace(), path, now.etag(), author.by());
            terminal.out().println(path + " is gone. `" + options.hint("undo", path) + "` brings it back.");
            return ExitCodes.DONE;
        }
    }
}
