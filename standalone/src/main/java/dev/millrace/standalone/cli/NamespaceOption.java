package dev.millrace.standalone.cli;

import picocli.CommandLine.Option;

/** Whose memory it is. */
final class NamespaceOption {

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            defaultValue = MemoryClient.DEFAULT_NAMESPACE,
            description = "Whose memory (default: ${DEFAULT-VALUE}).")
    private String namespace = MemoryClient.DEFAULT_NAMESPACE;

    MemoryClient memory(GatewayClient client) {
        return new MemoryClient(client, namespace);
    }
}
