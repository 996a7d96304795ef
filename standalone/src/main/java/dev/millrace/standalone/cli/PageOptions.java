package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;
import java.util.List;
import java.util.function.BiFunction;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of every command that lists one page of something. */
final class PageOptions {

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "20",
            description = "How many at most (default: ${DEFAULT-VALUE}).")
    private int limit = 20;

    /**
     * Asks for a page and prints it.
     *
     * @param field of the answer, which has what is listed
     * @param type what each is
     * @param none is said if there is nothing
     * @param table makes lines of what is listed, as of now
     * @return the exit code
     */
    <T> int print(
            Terminal terminal,
            Query query,
            String field,
            Class<T> type,
            String none,
            BiFunction<List<T>, Instant, List<String>> table) {
        try (GatewayClient client = gateway.client()) {
            JsonNode page = client.get(query.with("limit", limit).toString());
            JsonNode listed = page.path(field);
            output.print(terminal, listed, none, () -> table.apply(GatewayClient.all(listed, type), Instant.now()));
            if (page.hasNonNull("next")) {
                terminal.err().println("There are more; --limit shows them.");
            }
            return ExitCodes.DONE;
        }
    }
}
