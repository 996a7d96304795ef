package dev.millrace.standalone.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of every command about memory. */
final class MemoryOptions {

    private static final String DEFAULT_NAMESPACE = "default";

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            defaultValue = DEFAULT_NAMESPACE,
            description = "Whose memory (default: ${DEFAULT-VALUE}).")
    private String namespace = DEFAULT_NAMESPACE;

    String namespace() {
        return namespace;
    }

    GatewayClient client() {
        return gateway.client();
    }

    /** {@link Hint#of} with this subcommand of {@code memory}, for the same memory. */
    String hint(String... words) {
        List<String> all = new ArrayList<>(List.of("memory"));
        all.addAll(List.of(words));
        if (!namespace.equals(DEFAULT_NAMESPACE)) {
            all.addAll(List.of("--namespace", namespace));
        }
        return gateway.hint(all.toArray(String[]::new));
    }
}
