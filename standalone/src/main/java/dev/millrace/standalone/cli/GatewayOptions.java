package dev.millrace.standalone.cli;

import java.net.URI;
import picocli.CommandLine.Option;

/** The options of every command that talks to a gateway. */
final class GatewayOptions {

    @Option(
            names = "--url",
            paramLabel = "URL",
            defaultValue = "${env:" + Hint.URL_VARIABLE + ":-http://localhost:8080}",
            description = "Where Millrace answers (default: $MILLRACE_URL, else http://localhost:8080).")
    private URI url = Hint.DEFAULT_URL;

    GatewayClient client() {
        if (url.getHost() == null || !("http".equals(url.getScheme()) || "https".equals(url.getScheme()))) {
            throw new CommandException(
                    ExitCodes.USAGE, "--url: expected something like http://localhost:8080, found " + url);
        }
        return new GatewayClient(url);
    }
}
