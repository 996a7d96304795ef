package dev.millrace.standalone.cli;

import dev.millrace.api.MemoryPage;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace memory undo <path>}: makes a document what it was. */
@Command(
        name = "undo",
        description =
                "Makes a document what it was before the last change, or in another version. That is a new version,"
                        + " so it can be undone, too.")
public final class MemoryUndoCommand implements Callable<Integer> {

    @Parameters(paramLabel = "PATH", arity = "1", description = "Such as facts/user.md.")
    private String path = "";

    @Option(
            names = "--to",
            paramLabel = "N",
            description = "What it was in this version; `./millrace memory history` has them.")
    private @Nullable Long version;

    @Mixin
    private AuthorOption author = new AuthorOption();

    @Mixin
    private MemoryOptions options = new MemoryOptions();

    private final Terminal terminal;

    /** For picocli. */
    public MemoryUndoCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (GatewayClient client = options.client()) {
            MemoryClient memory = new MemoryClient(client);
            List<MemoryPage.Version> versions = memory.versions(options.namespace(), path).stream()
                    .map(MemoryClient::version)
                    .toList();
            MemoryPage.Version now = versions.getFirst();
            long target = version == null ? before(versions) : version;
            MemoryPage.Version restored = memory.restore(
                    options.namespace(), path, target, now.deleted() ? MemoryClient.NOTHING : now.etag(), author.by());
            terminal.out()
                    .println(path + " is as in version " + target + " again; that is version " + restored.version()
                            + ".");
            return ExitCodes.DONE;
        }
    }

    /** The newest version before the one that is now that has a content. */
    private long before(List<MemoryPage.Version> versions) {
        return versions.stream()
                .skip(1)
                .filter(one -> !one.deleted())
                .findFirst()
                .orElseThrow(() -> new CommandException(
                        ExitCodes.FAILED,
                        "No older version of " + path + " is kept. `" + options.hint("remove", path)
                                + "` takes it away."))
                .version();
    }
}
