package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.client.Route;
import java.util.List;
import java.util.function.Function;
import picocli.CommandLine.Option;

/** The options of every command that lists one page of something. */
final class PageOptions {

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "20",
            description = "How many at most (default: ${DEFAULT-VALUE}).")
    private int limit = 20;

    /** A page and what is on it: a field of the answer has a list of these; {@code none} is said if it is empty. */
    record Listing<T>(Route query, String field, Class<T> type, String none) {}

    /**
     * Asks for a page and prints it.
     *
     * @param table makes lines of what is listed
     * @return the exit code
     */
    <T> int print(
            ClientCommand command, GatewayClient client, Listing<T> listing, Function<List<T>, List<String>> table) {
        JsonNode page = page(client, listing);
        command.output().print(page.path(listing.field()), listing.type(), listing.none(), table);
        if (page.hasNonNull("next")) {
            command.err("There are more; --limit shows them.");
        }
        return ExitCodes.DONE;
    }

    /** Asks for a page. */
    JsonNode page(GatewayClient client, Listing<?> listing) {
        return client.get(listing.query().with("limit", limit).toString());
    }
}
