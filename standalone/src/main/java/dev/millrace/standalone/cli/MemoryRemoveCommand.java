package dev.millrace.standalone.cli;

import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code millrace memory remove <path>}: takes a document away. */
@Command(
        name = "remove",
        description = "Takes a document away. Its versions are kept; `./millrace memory undo` brings it back.")
final class MemoryRemoveCommand extends DocumentCommand {

    @Mixin
    private AuthorOption author = new AuthorOption();

    @Override
    int run(MemoryClient memory, String path) {
        memory.remove(path, memory.read(path).etag(), author.by());
        done(
                Map.of("path", path, "deleted", true),
                path + " is gone. `" + memory.hint("undo", path) + "` brings it back.");
        return ExitCodes.DONE;
    }
}
