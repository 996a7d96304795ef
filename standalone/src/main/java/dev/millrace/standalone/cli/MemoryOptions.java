package dev.millrace.standalone.cli;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of every command about memory. */
final class MemoryOptions {

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            defaultValue = "default",
            description = "Whose memory (default: ${DEFAULT-VALUE}).")
    private String namespace = "default";

    String namespace() {
        return namespace;
    }

    GatewayClient client() {
        return gateway.client();
    }
}
