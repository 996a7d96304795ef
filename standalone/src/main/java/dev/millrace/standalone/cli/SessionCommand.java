package dev.millrace.standalone.cli;

import dev.millrace.client.Route;
import dev.millrace.standalone.cli.GatewayClient.RefusedException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A command about one conversation. */
abstract class SessionCommand extends ClientCommand {

    private static final int NOT_FOUND = 404;

    @Parameters(paramLabel = "SESSION", arity = "1", description = "Its id; `./millrace sessions list` lists them.")
    private String sessionId = "";

    @Option(names = "--namespace", paramLabel = "NAME", description = "Its tenant (default: default).")
    private @Nullable String namespace;

    @Override
    final int run(GatewayClient client) {
        try {
            return run(client, sessionId);
        } catch (RefusedException e) {
            throw e.is(NOT_FOUND)
                    ? new CommandException(
                            ExitCodes.FAILED,
                            "There is no session " + sessionId + ". `" + client.hint("sessions", "list")
                                    + "` lists those that there are.")
                    : e;
        }
    }

    /**
     * Where to ask about it.
     *
     * @param what empty = the session itself, else what of it, with a slash before it
     */
    final Route query(String what) {
        return new Route("/v1/sessions/" + Route.encoded(sessionId) + what).with("namespace", namespace);
    }

    /** Does it to this conversation. */
    abstract int run(GatewayClient client, String id);
}
