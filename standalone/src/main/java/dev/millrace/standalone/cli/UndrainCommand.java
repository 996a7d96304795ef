package dev.millrace.standalone.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code millrace undrain}: admits tasks again. */
@Command(name = "undrain", description = "Admits tasks again after `./millrace drain`.")
public final class UndrainCommand implements Callable<Integer> {

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    private final Terminal terminal;

    /** For picocli. */
    public UndrainCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (GatewayClient client = gateway.client()) {
            client.post("/v1/system/resume", Map.of());
            terminal.out().println("Tasks are admitted again.");
            return ExitCodes.DONE;
        }
    }
}
