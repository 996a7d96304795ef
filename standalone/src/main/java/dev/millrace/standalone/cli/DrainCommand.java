package dev.millrace.standalone.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code millrace drain}: admits no more tasks. */
@Command(
        name = "drain",
        description =
                "Admits no more tasks: those that run go on, new ones are taken and wait until `./millrace undrain`.")
public final class DrainCommand implements Callable<Integer> {

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    private final Terminal terminal;

    /** For picocli. */
    public DrainCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (GatewayClient client = gateway.client()) {
            client.post("/v1/system/drain", Map.of());
            terminal.out()
                    .println("No more tasks are admitted. Those that run go on; `" + client.hint("tasks")
                            + "` lists them.");
            return ExitCodes.DONE;
        }
    }
}
