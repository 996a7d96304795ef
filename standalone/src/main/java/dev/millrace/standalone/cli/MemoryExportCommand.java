package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.MemoryPage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace memory export <dir>}: memory as files. */
@Command(
        name = "export",
        description =
                "Writes memory into a folder, as one file of markdown per document: <namespace>/<path>. A file that"
                        + " was changed there since the last time is kept.")
public final class MemoryExportCommand implements Callable<Integer> {

    @Parameters(paramLabel = "DIR", arity = "1", description = "The folder; it is made if it is not there.")
    private Path folder = Path.of("");

    @Option(names = "--all", description = "All namespaces.")
    private boolean all;

    @Option(names = "--force", description = "Also over files that were changed.")
    private boolean force;

    @Mixin
    private MemoryOptions options = new MemoryOptions();

    private final Terminal terminal;

    /** For picocli. */
    public MemoryExportCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() throws IOException {
        try (GatewayClient client = options.client()) {
            MemoryClient memory = new MemoryClient(client);
            MemoryFolder files = MemoryFolder.of(folder);
            List<String> namespaces = all ? memory.namespaces() : List.of(options.namespace());
            TreeSet<String> gone = new TreeSet<>(files.known());
            if (!all) {
                gone.removeIf(key -> !key.startsWith(options.namespace() + "/"));
            }
            int written = 0;
            int kept = 0;
            try {
                for (String namespace : namespaces) {
                    for (JsonNode one : memory.documents(namespace)) {
                        MemoryPage.Version document = MemoryClient.version(one);
                        String path = document.path();
                        gone.remove(MemoryFolder.key(namespace, path));
                        if (export(memory, files, namespace, document)) {
                            written++;
                        } else {
                            kept++;
                        }
                    }
                }
            } finally {
                files.save();
            }
            gone.forEach(key -> terminal.err().println("gone there: " + key + "; the file is left as it is"));
            terminal.err().println(written + " documents are in " + folder + ".");
            return kept == 0 ? ExitCodes.DONE : ExitCodes.FAILED;
        }
    }

    /** Whether the document is in its file now. */
    private boolean export(MemoryClient memory, MemoryFolder files, String namespace, MemoryPage.Version document)
            throws IOException {
        String path = document.path();
        Optional<GatewayClient.Text> there = memory.read(namespace, path);
        if (there.isEmpty()) {
            return true; // taken away a moment ago
        }
        String content = there.get().text();
        Optional<String> here = files.content(namespace, path);
        boolean changedHere = here.isPresent()
                && !here.get().equals(content)
                && !files.origin(namespace, path)
                        .map(origin -> origin.had(here.get()))
                        .orElse(false);
        if (changedHere && !force) {
            terminal.err()
                    .println("conflict: " + MemoryFolder.key(namespace, path)
                            + " was changed in the folder; the file is kept. --force replaces it.");
            return false;
        }
        if (!here.map(content::equals).orElse(false)) {
            files.write(namespace, path, content);
            terminal.out().println(MemoryFolder.key(namespace, path));
        }
        files.remember(namespace, path, content, there.get().etag());
        return true;
    }
}
