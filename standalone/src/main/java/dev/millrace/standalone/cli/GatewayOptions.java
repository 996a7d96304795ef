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

    @Option(
            names = "--token",
            paramLabel = "KEY",
            defaultValue = "${env:MILLRACE_TOKEN:-}",
            description =
                    "The API key or token to call with, where one is asked for (default: $MILLRACE_TOKEN, which other"
                            + " users of the machine do not see; else, for a URL of this machine, that of up --token in"
                            + " ./data).")
    private String token = "";

    GatewayClient client() {
        return client(MemoryClient.DEFAULT_NAMESPACE);
    }

    /** The same for this tenant. */
    GatewayClient client(String namespace) {
        String said = token.strip();
        if (said.chars().anyMatch(character -> character <= ' ' || character > '~')) {
            throw new CommandException(ExitCodes.USAGE, "--token: expected a key without blanks, found another text");
        }
        if (url.getHost() == null || !("http".equals(url.getScheme()) || "https".equals(url.getScheme()))) {
            throw new CommandException(
                    ExitCodes.USAGE, "--url: expected something like http://localhost:8080, found " + url);
        }
        return new GatewayClient(url, said.isEmpty() ? LocalToken.of(url, LocalToken.DATA) : said, namespace);
    }
}
