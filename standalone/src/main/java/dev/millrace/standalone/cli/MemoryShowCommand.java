package dev.millrace.standalone.cli;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace memory show <path>}: a document as it is, or was. */
@Command(name = "show", description = "Prints a document of memory.")
final class MemoryShowCommand extends DocumentCommand {

    @Option(
            names = "--at",
            paramLabel = "N",
            description = "As it was in this version; `./millrace memory history` has them.")
    private @Nullable Long version;

    @Override
    int run(MemoryClient memory, String path) {
        String content = version == null ? memory.read(path).text() : memory.read(path, version);
        if (output().json()) {
            done(Map.of("path", path, "content", content), "");
            return ExitCodes.DONE;
        }
        terminal().out().print(content.endsWith("\n") ? content : content + System.lineSeparator());
        return ExitCodes.DONE;
    }
}
