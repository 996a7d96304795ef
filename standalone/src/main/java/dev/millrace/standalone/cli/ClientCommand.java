package dev.millrace.standalone.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that asks a running Millrace. It stands, at whatever depth, below a {@link TopCommand}. */
abstract class ClientCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    @Override
    public final Integer call() throws IOException, InterruptedException {
        try (GatewayClient client = gateway.client()) {
            return run(client);
        }
    }

    /** Does what the command is for, and returns one of {@link ExitCodes}. */
    abstract int run(GatewayClient client) throws IOException, InterruptedException;

    final Terminal terminal() {
        return ((TopCommand) spec.root().userObject()).terminal();
    }

    /** Prints a line of the result. */
    final void out(String line) {
        terminal().out().println(line);
    }

    /** Prints a line beside the result. */
    final void err(String line) {
        terminal().err().println(line);
    }
}
