package dev.millrace.standalone.cli;

import java.io.IOException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** A command about one document of memory. */
abstract class DocumentCommand extends ClientCommand {

    @Parameters(
            paramLabel = "PATH",
            arity = "1",
            description = "Such as facts/user.md; `./millrace memory list` has them.")
    private String path = "";

    @Mixin
    private NamespaceOption namespace = new NamespaceOption();

    @Override
    final int run(GatewayClient client) throws IOException {
        return run(namespace.memory(client), path);
    }

    /** Does it to the document at this place. */
    abstract int run(MemoryClient memory, String path) throws IOException;
}
