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

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Override
    public final Integer call() throws IOException, InterruptedException {
        return run(gateway.client());
    }

    /** Does what the command is for, and returns one of {@link ExitCodes}. */
    abstract int run(GatewayClient client) throws IOException, InterruptedException;

    final Terminal terminal() {
        return ((TopCommand) spec.root().userObject()).terminal();
    }

    /** How it shows its result. */
    final OutputOptions output() {
        return output;
    }

    /** Prints what was done: the answer for programs, or these words for people. */
    final void done(Object answer, String words) {
        output.done(answer, words);
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
