package dev.millrace.standalone.cli;

import dev.millrace.api.MemoryPage;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace memory undo <path>}: makes a document what it was. */
@Command(
        name = "undo",
        description =
                "Makes a document what it was before the last change, or in another version. That is a new version,"
                        + " so it can be undone, too.")
final class MemoryUndoCommand extends DocumentCommand {

    @Option(
            names = "--to",
            paramLabel = "N",
            description = "What it was in this version; `./millrace memory history` has them.")
    private @Nullable Long version;

    @Mixin
    private AuthorOption author = new AuthorOption();

    @Override
    int run(MemoryClient memory, String path) {
        List<MemoryPage.Version> versions = GatewayClient.all(memory.versions(path), MemoryPage.Version.class);
        MemoryPage.Version now = versions.getFirst();
        long target = version == null
                ? versions.stream()
                        .skip(1)
                        .filter(older -> !older.deleted())
                        .findFirst()
                        .orElseThrow(() -> new CommandException(
                                ExitCodes.FAILED,
                                "No older version of " + path + " is kept. `" + memory.hint("remove", path)
                                        + "` takes it away."))
                        .version()
                : version;
        MemoryPage.Version restored =
                memory.restore(path, target, now.deleted() ? MemoryClient.NOTHING : now.etag(), author.by());
        done(restored, path + " is as in version " + target + " again; that is version " + restored.version() + ".");
        return ExitCodes.DONE;
    }
}
