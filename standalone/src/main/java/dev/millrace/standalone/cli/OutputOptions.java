package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** How a command shows what it lists: as a table for people, or as JSON for programs. */
final class OutputOptions {

    @Option(
            names = "--json",
            description = "Print JSON as the HTTP API gives it, one line for each that is listed, for jq and the like.")
    private boolean json;

    boolean json() {
        return json;
    }

    /**
     * Prints a list.
     *
     * @param listed an array, or anything else that has elements of this type
     * @param none is said on standard error if there is nothing
     * @param table the lines for people, the heading first; not asked for if there is nothing
     */
    <T> void print(
            Terminal terminal, JsonNode listed, Class<T> type, String none, Function<List<T>, List<String>> table) {
        print(terminal, listed, none, () -> table.apply(GatewayClient.all(listed, type)));
    }

    /** The same for elements that are read in a way of their own. */
    void print(Terminal terminal, JsonNode listed, String none, Supplier<List<String>> table) {
        if (listed.isEmpty()) {
            terminal.err().println(none);
        } else if (json) {
            listed.forEach(one -> print(terminal, one));
        } else {
            table.get().forEach(terminal.out()::println);
        }
    }

    /** Prints one thing as JSON. */
    static void print(Terminal terminal, JsonNode one) {
        terminal.out().println(Json.writeText(one));
    }
}
