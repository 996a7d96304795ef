package dev.millrace.standalone.cli;

import dev.millrace.api.MemoryPage;
import dev.millrace.client.GatewayHttp;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
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
final class MemoryExportCommand extends ClientCommand {

    @Parameters(paramLabel = "DIR", arity = "1", description = "The folder; it is made if it is not there.")
    private Path folder = Path.of("");

    @Option(names = "--all", description = "All namespaces.")
    private boolean all;

    @Option(names = "--force", description = "Also over files that were changed.")
    private boolean force;

    @Mixin
    private NamespaceOption namespace = new NamespaceOption();

    @Override
    int run(GatewayClient client) throws IOException {
        MemoryFolder files = MemoryFolder.of(folder);
        MemoryClient named = namespace.memory(client);
        TreeSet<String> gone = new TreeSet<>(files.known());
        if (!all) {
            gone.removeIf(key -> !key.startsWith(named.namespace() + "/"));
        }
        int written = 0;
        int kept = 0;
        try {
            for (MemoryClient memory : all ? MemoryClient.all(client) : List.of(named)) {
                for (MemoryPage.Version document : GatewayClient.all(memory.documents(), MemoryPage.Version.class)) {
                    gone.remove(MemoryFolder.key(memory.namespace(), document.path()));
                    if (export(memory, files, document.path())) {
                        written++;
                    } else {
                        kept++;
                    }
                }
            }
        } finally {
            files.save();
        }
        gone.forEach(key -> err("gone there: " + key + "; the file is left as it is"));
        err(written + " documents are in " + folder + ".");
        return kept == 0 ? ExitCodes.DONE : ExitCodes.FAILED;
    }

    /** Whether the document is in its file now. */
    private boolean export(MemoryClient memory, MemoryFolder files, String path) throws IOException {
        Optional<GatewayHttp.Text> there = memory.find(path);
        if (there.isEmpty()) {
            return true; // taken away a moment ago
        }
        String key = MemoryFolder.key(memory.namespace(), path);
        String content = there.get().text();
        Optional<String> here = files.content(memory.namespace(), path);
        boolean same = here.filter(content::equals).isPresent();
        boolean changedHere = !same
                && here.isPresent()
                && files.origin(key).filter(origin -> origin.had(here.get())).isEmpty();
        if (changedHere && !force) {
            err("conflict: " + key + " was changed in the folder; the file is kept. --force replaces it.");
            return false;
        }
        if (!same) {
            files.write(memory.namespace(), path, content);
            done(Map.of("document", key), key);
        }
        files.remember(key, content, there.get().etag());
        return true;
    }
}
